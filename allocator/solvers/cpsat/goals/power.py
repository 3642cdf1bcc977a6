"""Goal ``power`` (equation 26)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.linear import Linear, total
from allocator.solvers.cpsat.power import draw
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Watts of all nodes."""
    return total(draw(symbols, node) for node in range(symbols.compiled.num_nodes))
