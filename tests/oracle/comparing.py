"""How answers of a method are compared with the truth. Owns the tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.model.entities import Model
from allocator.plan.result import Result, Status
from tests.oracle.brute_force import Truth

__all__ = ["SHARED", "bound_is_valid", "disagreement", "same"]

SHARED = 1e-6
"""Relative tolerance of values that depend on shares or granted rates; all others are exact."""


def same(found: Fraction | float | None, true: Fraction | float) -> bool:
    """Whether a value is the true one: exactly if that is exact, else within ``SHARED``."""
    if found is None:
        return False
    if isinstance(true, Fraction):
        return found == true
    return abs(float(found) - true) <= SHARED * max(1.0, abs(true))


def bound_is_valid(bound: Fraction | None, true: Fraction | float, sense: str) -> bool:
    """Whether a bound is on the right side of the truth, up to a float's error."""
    if bound is None:
        return True
    slack = SHARED * max(1.0, abs(float(true)))
    return float(bound) >= float(true) - slack if sense == "max" else float(bound) <= float(true) + slack


def disagreement(result: Result, truth: Truth, model: Model) -> str | None:
    """What an exact method's result and the truth differ in; None when they agree."""
    if not truth.feasible:
        return None if result.status is Status.INFEASIBLE else f"infeasible, but the method says {result.status}"
    if result.status is not Status.OPTIMAL:
        return f"feasible with {_shown(truth.values)}, but the method says {result.status}: {result.termination}"
    found = [level.value for level in result.levels]
    if len(found) != len(model.levels) or not all(map(same, found, truth.values)):
        return f"optimum {_shown(truth.values)}, the method found {_shown(found)}"
    for level, true in zip(result.levels, truth.values, strict=True):
        if not bound_is_valid(level.bound, true, level.level.sense):
            return f"optimum {_shown(truth.values)}, the method claims the bound {level.bound}"
    return None


def _shown(values: Sequence[Fraction | float | None]) -> str:
    return "(" + ", ".join(str(value) for value in values) + ")"
