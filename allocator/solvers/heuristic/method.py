"""The method ``local-search``: compiled moves of members, level by level; exact shares at the end; no bound."""

from __future__ import annotations

from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.heuristic.kernels.build import refuse_rules
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.recorder import Recorder

__all__ = ["LocalSearchMethod"]


class LocalSearchMethod:
    """Walks that cool. Every family but what ``refuse_rules`` names; every goal but ``quality``."""

    name = "local-search"
    support = Support(
        frozenset(Family) - {Family.LINK_LOAD},
        frozenset(GoalId) - {GoalId.QUALITY},
        frozenset({"fair", "knee", "table"}),
    )

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome; some rare rules are not."""
        refuse_rules(compiled)

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """Search until the time or the moves are used up, or nothing can get better."""
        search = Search(compiled, budget, recorder, seed, threads)
        found = search.run(start)
        none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
        reason = TerminationReason.CONVERGED
        if budget.exhausted:
            reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
        elif budget.limits.iterations is not None and search.tried >= budget.limits.iterations:
            reason = TerminationReason.ITERATION_LIMIT
        if found is None:
            return Answer(Status.UNKNOWN, Termination(reason, "not everybody found a place"), None, none, none)
        detail = f"{search.tried:,} moves tried"
        return Answer(Status.FEASIBLE, Termination(reason, detail), found.assignment, found.values, none)
