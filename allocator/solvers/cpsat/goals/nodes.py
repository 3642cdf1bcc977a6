"""Goal ``nodes`` (equation 25)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum of weight_h over nodes in use."""
    value = Linear()
    for index, node in enumerate(symbols.compiled.instance.nodes):
        in_use = symbols.in_use(index)
        if in_use is not None:
            value.add(in_use, node.weight)
    return value
