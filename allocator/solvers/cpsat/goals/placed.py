"""Goal ``placed`` (equation 15)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum of value_g over placed members."""
    value = Linear()
    workloads = symbols.compiled.instance.workloads
    for block in symbols.compiled.blocks:
        value.add_scaled(symbols.placed(block.index), workloads[block.workload].value)
    return value
