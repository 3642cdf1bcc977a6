"""The largest P99 bound that no plan can stay below, by bisection over targets (models/README.md, equation 27, worst).

Owns the search; whether a value can be excluded is asked of the caller. A value that is excluded is a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.budget import Budget

__all__ = ["targets_of", "worst_bound"]

RATIO = Fraction(1002, 1000)  # of what is not excluded and what is, at which the search ends
LEAST = Fraction(1, 10**6)  # of where it starts
MOST = 10**9  # times where it starts


def targets_of(compiled: Compiled, worst: Fraction) -> dict[int, Fraction]:
    """Targets on P99 (s) by workload where no critical member's weighted P99 is above ``worst``."""
    return {
        workload.index: worst / workload.weight
        for workload in compiled.instance.workloads
        if workload.slo.critical and workload.weight > 0
    }


def worst_bound(
    compiled: Compiled, possible: Callable[[Fraction], bool], known: Fraction | None, budget: Budget
) -> Fraction | None:
    """A value near the largest that is excluded; None when none is.

    Parameters
    ----------
    possible : whether a value cannot be excluded; a larger value is never excluded where a smaller one is not.
    known : value of a plan.
    """
    if not targets_of(compiled, Fraction(1)):
        return None
    start = known if known is not None and known > 0 else Fraction(1)
    high = start
    low: Fraction | None = None
    if known is None:
        while not possible(high):
            low, high = high, high * 8
            if high > MOST or budget.exhausted:
                return low
    trial = high / (RATIO if known is not None else 2)
    while low is None:
        if trial < start * LEAST or budget.exhausted:
            return None
        if possible(trial):
            high, trial = trial, trial / 2
        else:
            low = trial
    while high > low * RATIO and not budget.exhausted:
        middle = _short((low + high) / 2)
        if possible(middle):
            high = middle
        else:
            low = middle
    return low


def _short(value: Fraction) -> Fraction:
    """A near fraction of few digits."""
    scale = Fraction(1)
    while value * scale < 10**6:
        scale *= 10
    return Fraction(round(value * scale)) / scale
