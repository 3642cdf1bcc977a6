"""Goal ``fairness`` (equation 17)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import smallest
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Smallest completed part of a class's offered rate; 1 when none offers any."""
    parts = {
        workload.index: Linear()
        for workload in symbols.compiled.instance.workloads
        if workload.rate * workload.count > 0
    }
    for rate in symbols.rates:
        workload = symbols.compiled.instance.workloads[rate.workload]
        parts[workload.index].add_scaled(rate.value, 1 / (workload.rate * workload.count))
    return smallest(symbols.builder, list(parts.values()), "the goal fairness") if parts else Linear(1)
