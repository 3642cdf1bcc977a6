"""The method ``auto``: a first plan, stages for special structure, the exact model where it is small; always a bound.

Owns the order of the stages. Must not know any family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Method, Support
from allocator.solvers.bounds.combinatorial import level_bound
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import method_named
from allocator.solvers.support import used_families

__all__ = ["AutoMethod", "choose"]


def choose(name: str) -> Method:
    """The named method, or the one that chooses for itself."""
    return AutoMethod() if name == "auto" else method_named(name)


class AutoMethod:
    """Greedy start, then stages that know the structure, then the exact model unless it is too large."""

    name = "auto"
    support = Support(frozenset(Family) - {Family.SLO}, frozenset(GoalId) - {GoalId.P99, GoalId.QUALITY})

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome."""

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
        gap: float,
    ) -> Answer:
        """See the class. The bound of each level is the best of what the stages and the totals prove."""
        if start is None:
            start = first_plan(compiled, budget, recorder, seed)
        exact = method_named("milp")
        try:
            exact.refuse(compiled)
        except MethodRefused as refusal:
            answer = _kept(compiled, start, budget, str(refusal))
        else:
            answer = exact.solve(
                compiled, budget=budget, recorder=recorder, start=start, seed=seed, threads=threads, gap=gap
            )
        return _with_bounds(compiled, answer)


def first_plan(compiled: Compiled, budget: Budget, recorder: Recorder, seed: int) -> Assignment | None:
    """A quick plan by ``greedy`` where it supports what is in use and the checker agrees; None otherwise."""
    from allocator.checker import check
    from allocator.compiled.restore import plan_of

    greedy = method_named("greedy")
    if not used_families(compiled.instance, compiled.model) <= greedy.support.families:
        return None
    answer = greedy.solve(
        compiled, budget=budget.portion(0.5), recorder=recorder, start=None, seed=seed, threads=1, gap=0.0
    )
    found = answer.assignment
    if found is None:
        return None
    plan = plan_of(compiled, found.counts, found.shares, found.theta)
    return found if check(compiled.instance, compiled.model, plan).feasible else None


def _kept(compiled: Compiled, start: Assignment | None, budget: Budget, why: str) -> Answer:
    """The first plan as the answer, when the exact model is out of reach."""
    none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
    status = Status.UNKNOWN if start is None else Status.FEASIBLE
    reason = TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED
    claims: Sequence[Fraction | None] = none if start is None else level_values(compiled, start)
    return Answer(status, Termination(reason, why), start, tuple(claims), none)


def _with_bounds(compiled: Compiled, answer: Answer) -> Answer:
    """Fill in, level by level, what totals alone prove; an equal value makes the level, and maybe the plan, optimal."""
    if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return answer
    bounds = list(answer.bounds)
    for index, level in enumerate(compiled.model.levels):
        simple = level_bound(compiled, level)
        known = bounds[index]
        tighter = max if level.sense == "min" else min
        bounds[index] = simple if known is None else tighter(simple, known)
    proven = answer.assignment is not None and all(
        value == bound for value, bound in zip(answer.claims, bounds, strict=True)
    )
    if proven:
        return replace(
            answer,
            status=Status.OPTIMAL,
            termination=Termination(TerminationReason.OPTIMAL, "the totals prove it"),
            bounds=tuple(bounds),
        )
    return replace(answer, bounds=tuple(bounds))
