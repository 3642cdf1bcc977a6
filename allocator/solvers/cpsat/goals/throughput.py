"""Goal ``throughput`` (equation 16)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum of weight_g q_i, tasks/s."""
    value = Linear()
    for rate in symbols.rates:
        value.add_scaled(rate.value, symbols.compiled.instance.workloads[rate.workload].weight)
    return value
