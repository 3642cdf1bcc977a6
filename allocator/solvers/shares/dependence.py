"""Which goals of a level feel shares at a fixed placement, and what the others come to there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal, Level
from allocator.model.families import Family, GoalId, sense_of
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.goals import Evaluation

__all__ = ["RATE_GOALS", "SPARING_GOALS", "constant_part", "keeps", "kept_limit", "share_goals", "sign_of"]

RATE_GOALS = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS})
"""Never worse with more shares and grants, and all at their best together when everybody is as fast as can be."""

SPARING_GOALS = frozenset({GoalId.PEAK, GoalId.OVERLOAD, GoalId.POWER})
"""Never better with more shares."""

FELT = RATE_GOALS | SPARING_GOALS | {GoalId.P99, GoalId.BALANCE}
NOISE = Fraction(1, 10**9)  # relative: what floats and whole units may leave of an earlier level


def share_goals(compiled: Compiled, level: Level) -> list[Goal]:
    """Goals of the level whose value depends on shares or grants."""
    rates = Family.RATES not in compiled.model.ignore
    return [goal for goal in level.goals if goal.id in FELT and goal.weight and (rates or goal.id not in RATE_GOALS)]


def sign_of(level: Level, goal: Goal) -> int:
    """Sign with which a goal counts in the level's value."""
    return 1 if len(level.goals) == 1 or sense_of(goal.id) == "min" else -1


def constant_part(compiled: Compiled, plain: Assignment, level: Level) -> Fraction:
    """Part of the level's value that shares do not change."""
    evaluation = Evaluation(compiled, plain)
    felt = {goal.id for goal in share_goals(compiled, level)}
    return sum(
        (sign_of(level, g) * g.weight * evaluation.value(g) for g in level.goals if g.id not in felt and g.weight),
        Fraction(0),
    )


def kept_limit(level: Level, reached: Fraction) -> Fraction:
    """Worst value that keeps the level within its slack of the value reached."""
    allowed = level.slack.allowance(reached)
    return reached + allowed if level.sense == "min" else reached - allowed


def keeps(compiled: Compiled, values: Sequence[Fraction], reached: Sequence[Fraction], *, given: bool = True) -> bool:
    """Whether values keep the levels reached that feel shares, up to rounding; ``given``: within their slack."""
    for level, value, before in zip(compiled.model.levels, values, reached, strict=False):
        if not share_goals(compiled, level):
            continue
        limit = kept_limit(level, before) if given else before
        worse = value - limit if level.sense == "min" else limit - value
        if worse > NOISE * max(abs(limit), abs(before)):
            return False
    return True
