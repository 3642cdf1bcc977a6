"""Claimed against recomputed: the result that a plan file carries. Trusts nothing in it, its shape included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, TypeGuard

from allocator.model.families import GoalId, Sense, sense_of
from allocator.plan.evaluation import Evaluation
from allocator.plan.numbers import shown

__all__ = ["check_claims"]

TOLERANCE = Fraction(1, 10**9)
"""Relative difference at which a claimed value still counts as the recomputed one; whole numbers must be equal."""

_UNITS = {
    GoalId.THROUGHPUT: " tasks/s",
    GoalId.P99: " s",
    GoalId.TRAFFIC: " bit/s x hops",
    GoalId.CONGESTION: " bit/s weighted",
    GoalId.POWER: " W",
}
_RATIOS = frozenset({GoalId.FAIRNESS, GoalId.PEAK})


def check_claims(evaluation: Evaluation, result_document: Mapping[str, Any]) -> list[str]:
    """Differences between a result document and the checker's word, a sentence each; empty when all is as claimed.

    Compares the value of every goal and level, whether the plan is feasible at all, and whether a claimed bound
    is one: the plan itself refutes a bound that is worse than its value.
    """
    return [
        *_goals(evaluation, result_document.get("goals")),
        *_levels(evaluation, result_document.get("levels")),
        *_status(evaluation, result_document),
    ]


def _goals(evaluation: Evaluation, claimed: object) -> Iterator[str]:
    if not _is_list_of_mappings(claimed):
        yield "goals: not a list of goals"
        return
    by_id = {str(entry.get("id")): entry for entry in claimed}
    if len(by_id) != len(claimed):
        yield "goals: a goal is claimed twice"
    for goal, value in evaluation.goals.items():
        entry = by_id.pop(goal.value, None)
        if entry is None:
            yield f"goals: no value of {goal.value} is claimed, it is {_told(value, goal)}"
        else:
            yield from _compare(f"goal {goal.value}", entry, value, sense_of(goal), goal)
    for name in by_id:
        yield f"goals: {name} is claimed and not a goal of the model"


def _levels(evaluation: Evaluation, claimed: object) -> Iterator[str]:
    if not _is_list_of_mappings(claimed):
        yield "levels: not a list of levels"
        return
    if len(claimed) != len(evaluation.levels):
        yield f"levels: {len(claimed)} are claimed, the model has {len(evaluation.levels)}"
        return
    for number, (entry, value) in enumerate(zip(claimed, evaluation.levels, strict=True), start=1):
        goals = entry.get("goals")
        yield from _compare(f"level {number}", entry, value, _sense(goals), _alone(goals))


def _status(evaluation: Evaluation, document: Mapping[str, Any]) -> Iterator[str]:
    status, violations = document.get("status"), document.get("violations")
    if status not in ("optimal", "feasible"):
        yield f"status: {status!r} is claimed of a plan; it must be optimal or feasible"
    if violations and evaluation.feasible:
        yield f"violations: {len(violations) if isinstance(violations, list) else violations!r} are claimed, none holds"


def _compare(
    what: str, entry: Mapping[str, Any], value: Fraction, sense: Sense | None, goal: GoalId | None
) -> Iterator[str]:
    """Differences of one claimed value and its bound; ``goal`` names their unit, None for weighted sums."""
    true = _told(value, goal)
    claimed = _number(entry.get("value"))
    if claimed is None:
        yield f"{what}: {entry.get('value')!r} is claimed, it is {true}"
        return
    if not _equal(claimed, value):
        yield f"{what}: {_told(claimed, goal)} is claimed, it is {true}"
    if entry.get("bound") is None or sense is None:
        return
    bound = _number(entry["bound"])
    if bound is None:
        yield f"{what}: bound {entry['bound']!r} is not a number"
    elif not _equal(bound, value) and (bound > value) == (sense == "min"):
        yield f"{what}: the bound {_told(bound, goal)} is refuted by the plan's own value {true}"


def _told(value: Fraction, goal: GoalId | None) -> str:
    """The value with the goal's unit, unrounded as far as a sentence allows: differences may be small."""
    if goal in _RATIOS:
        return f"{shown(value * 100)} %"
    return shown(value) + ("" if goal is None else _UNITS.get(goal, ""))


def _alone(goals: object) -> GoalId | None:
    """The goal of a claimed level that is that goal and nothing else, unweighted; else None."""
    if not isinstance(goals, Mapping) or len(goals) != 1:
        return None
    [(name, weight)] = goals.items()
    return GoalId(name) if weight == 1 and name in {goal.value for goal in GoalId} else None


def _equal(claimed: Fraction, value: Fraction) -> bool:
    if claimed.denominator == value.denominator == 1 and abs(value) < 2**53:
        return claimed == value
    return abs(claimed - value) <= TOLERANCE * max(abs(claimed), abs(value))


def _number(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction)):
        return None
    return Fraction(value) if isinstance(value, (int, Fraction)) or isfinite(value) else None


def _sense(goals: object) -> Sense | None:
    """Sense of a claimed level; None when its goals are not known."""
    if not isinstance(goals, Mapping) or not goals or not set(goals) <= {goal.value for goal in GoalId}:
        return None
    return sense_of(GoalId(next(iter(goals)))) if len(goals) == 1 else "min"


def _is_list_of_mappings(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)
