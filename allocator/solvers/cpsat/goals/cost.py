"""Goal ``cost`` (equation 19)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum of cost_g at the node over placed members."""
    compiled = symbols.compiled
    value = Linear()
    if compiled.cost is None:
        return value
    for (block, _, node), variable in symbols.n.items():
        value.add(variable, compiled.cost[compiled.blocks[block].workload, node])
    return value
