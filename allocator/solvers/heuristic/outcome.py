"""What heuristic methods share at their end: the better of two plans, whether rules hold, the wording of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares
from allocator.solvers.support import used_families

__all__ = ["ahead", "better", "checked", "heuristic_answer", "with_shares"]

JUDGED_AFTERWARDS = frozenset({Family.SPREAD, Family.DEPENDENCY, Family.SLO})


def ahead(compiled: Compiled, first: Sequence[Fraction], second: Sequence[Fraction]) -> bool:
    """Whether the first level values are lexicographically better, slacks left out."""
    for level, a, b in zip(compiled.model.levels, first, second, strict=True):
        if a != b:
            return a < b if level.sense == "min" else a > b
    return False


def better(compiled: Compiled, first: Assignment, second: Assignment) -> bool:
    """Whether the first assignment is lexicographically better."""
    return ahead(compiled, level_values(compiled, first), level_values(compiled, second))


def checked(compiled: Compiled, assignment: Assignment) -> bool:
    """Whether the independent checker finds the assignment feasible."""
    from allocator.checker import check
    from allocator.compiled.restore import plan_of

    plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
    return check(compiled.instance, compiled.model, plan).feasible


def with_shares(compiled: Compiled, counts: Mapping[tuple[int, int, int], int]) -> Assignment | None:
    """A placement with its best shares; None where it breaks a rule that was not looked at while placing."""
    plan = optimal_shares(compiled, dict(counts))
    if plan is None:
        return None
    judged = JUDGED_AFTERWARDS & used_families(compiled.instance, compiled.model)
    return None if judged and not checked(compiled, plan.assignment) else plan.assignment


def heuristic_answer(
    compiled: Compiled, assignment: Assignment, recorder: Recorder, reason: TerminationReason, detail: str
) -> Answer:
    """A feasible plan without a bound; its first level is recorded."""
    claims = level_values(compiled, assignment)
    for value in claims[:1]:
        recorder.incumbent(0, float(value))
    recorder.offer(lambda: assignment)
    none: tuple[Fraction | None, ...] = (None,) * len(claims)
    return Answer(Status.FEASIBLE, Termination(reason, detail), assignment, claims, none)
