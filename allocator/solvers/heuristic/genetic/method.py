"""The method ``genetic``: a population of placements with grouping crossover; exact shares at the end; no bound."""

from __future__ import annotations

from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.genetic.evolution import Evolution
from allocator.solvers.heuristic.kernels.build import refuse_rules
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.recorder import Recorder

__all__ = ["GeneticMethod"]


class GeneticMethod:
    """Children take the contents of nodes from two parents. Supports what ``local-search`` supports."""

    name = "genetic"
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
        threads: int,  # noqa: ARG002 - one thread
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """Breed until time is up, or nothing better comes. An iteration is one child."""
        evolution = Evolution(compiled, budget, recorder, seed)
        evolution.run(start)
        none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
        reason = TerminationReason.CONVERGED
        if budget.interrupted:
            reason = TerminationReason.INTERRUPTED
        elif budget.limits.iterations is not None and evolution.children >= budget.limits.iterations:
            reason = TerminationReason.ITERATION_LIMIT
        elif budget.limits.seconds is not None and not evolution.converged:
            reason = TerminationReason.TIME_LIMIT
        found, values = evolution.best, evolution.values
        if found is not None and found is not start and not checked(compiled, found):
            found, values = start, () if start is None else level_values(compiled, start)
        if found is None:
            return Answer(Status.UNKNOWN, Termination(reason, "not everybody found a place"), None, none, none)
        detail = f"{evolution.children:,} children"
        return Answer(Status.FEASIBLE, Termination(reason, detail), found, values, none)
