"""How answers of a method are compared with the truth. Owns the tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.model.entities import Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.result import Result, Status, TerminationReason
from allocator.solvers.base import Support
from tests.oracle.brute_force import Truth

__all__ = [
    "REFUSED_WITH_RATE_GOALS",
    "SHARED",
    "bound_is_valid",
    "disagreement",
    "left_open",
    "same",
    "wrongly_refused",
]

REFUSED_WITH_RATE_GOALS = {"cpsat": {Family.FABRIC, Family.RATES, Family.SHARES}}
"""Families that a method supports in general and may refuse where rates are no whole numbers."""

CURVES = "fabric (goodput curve "
SHARED = 1e-6
"""Relative tolerance of values that depend on shares or granted rates; all others are exact."""
STEEP = 1e-5
"""The same of a gap where response times count: near stability they magnify what floats leave of shares."""


def same(found: Fraction | float | None, true: Fraction | float) -> bool:
    """Whether a value is the true one: exactly if that is exact, else within ``SHARED``."""
    if found is None:
        return False
    if isinstance(true, Fraction):
        return found == true
    return abs(float(found) - true) <= SHARED * max(1.0, abs(true))


def reached(level: Level, found: Fraction | None, true: Fraction | float) -> bool:
    """Whether a plan's value of a level is the level's optimum, up to the slack that later levels may use."""
    if found is None or same(found, true):
        return found is not None
    worse = Fraction(found) - Fraction(true) if level.sense == "min" else Fraction(true) - Fraction(found)
    allowed = level.slack.allowance(Fraction(true))
    return 0 <= worse <= allowed + (0 if isinstance(true, Fraction) else Fraction(SHARED))


def bound_is_valid(bound: Fraction | None, true: Fraction | float, sense: str) -> bool:
    """Whether a bound is on the right side of the truth, up to a float's error."""
    if bound is None:
        return True
    slack = SHARED * max(1.0, abs(float(true)))
    return float(bound) >= float(true) - slack if sense == "max" else float(bound) <= float(true) + slack


def wrongly_refused(method: str, refused: Sequence[str], support: Support, model: Model) -> set[str]:
    """Families, goals and goodput curves that a method refuses though it claims to support them."""
    known: set[Family | GoalId] = {*support.families, *support.goals}
    if model.has_rate_goals:
        known -= REFUSED_WITH_RATE_GOALS.get(method, set())
    curves = {
        curve
        for name in refused
        if str(name).startswith(CURVES)
        for curve in str(name)[len(CURVES) :].rstrip(")").split(", ")
    }
    wrong = curves if curves and curves <= support.curves else set()
    return wrong | {name for name in refused if name in known}


def disagreement(result: Result, truth: Truth, model: Model) -> str | None:
    """What an exact method's result and the truth differ in; None when they agree."""
    if not truth.feasible:
        return None if result.status is Status.INFEASIBLE else f"infeasible, but the method says {result.status}"
    if result.status is not Status.OPTIMAL and not _proven_but_for_floats(result, model):
        return f"feasible with {_shown(truth.values)}, but the method says {result.status}: {result.termination}"
    found = [level.value for level in result.levels]
    if len(found) != len(model.levels) or not _values_agree(result, truth, model):
        return f"optimum {_shown(truth.values)}, the method found {_shown(found)}"
    for level, true in zip(result.levels, truth.values, strict=True):
        if not bound_is_valid(level.bound, true, level.level.sense):
            return f"optimum {_shown(truth.values)}, the method claims the bound {level.bound}"
    return None


def left_open(result: Result, truth: Truth) -> bool:
    """Whether a result claims no more than is true: a plan that is no better than the truth, and valid bounds."""
    if not truth.feasible or result.status is not Status.FEASIBLE or len(result.levels) != len(truth.values):
        return False
    for level, true in zip(result.levels, truth.values, strict=True):
        if not bound_is_valid(level.bound, true, level.level.sense):
            return False
        if not same(level.value, true):  # what follows keeps what was reached, not what is best
            return bound_is_valid(level.value, true, "min" if level.level.sense == "max" else "max")
    return True


def _proven_but_for_floats(result: Result, model: Model) -> bool:
    """Whether a plan with continuous shares misses its bounds by a float's error only, slack given away aside."""
    if result.status is not Status.FEASIBLE or result.termination.reason is not TerminationReason.GAP:
        return False
    if not model.has_rate_goals:  # large numbers cancel in a goal
        return {GoalId.BALANCE, GoalId.OVERLOAD} & set(model.goal_ids) != set()
    near = STEEP if GoalId.P99 in model.goal_ids else SHARED
    binding = [level for level in result.levels if level.level.slack.value == 0 or level is result.levels[-1]]
    return all(
        level.value is not None
        and level.bound is not None
        and abs(level.value - level.bound) <= near * max(1, abs(level.value))
        for level in binding
    )


def _values_agree(result: Result, truth: Truth, model: Model) -> bool:
    """Whether the values are the true ones, level by level, up to slack, to 1e-9, or to what was said to be open."""
    for level, outcome, true in zip(model.levels, result.levels, truth.values, strict=True):
        value = outcome.value
        if same(value, true) or (level is not model.levels[-1] and _within_slack(level, value, true)):
            continue
        if value is None:
            return False
        worse = value - Fraction(true) if level.sense == "min" else Fraction(true) - value
        if abs(worse) <= Fraction(1, 10**9) * max(abs(value), abs(Fraction(true))):
            continue
        # "as near as floating point can tell" claims no more than its bound; what follows is tied to this level
        return result.status is Status.FEASIBLE and worse > 0
    return True


def _within_slack(level: Level, value: Fraction | None, true: Fraction | float) -> bool:
    """Whether a value is worse than the truth by no more than its slack gives away to later levels."""
    if value is None:
        return False
    worse = float(value) - float(true) if level.sense == "min" else float(true) - float(value)
    allowed = float(level.slack.value) * (abs(float(true)) if level.slack.relative else 1.0)
    error = 0.0 if isinstance(true, Fraction) else SHARED * max(1.0, abs(true))
    return -error <= worse <= allowed + max(error, 1e-12)


def _shown(values: Sequence[Fraction | float | None]) -> str:
    return "(" + ", ".join(str(value) for value in values) + ")"
