"""The method ``genetic``: a population of placements with grouping crossover; exact shares at the end; no bound."""

from __future__ import annotations

from allocator.compiled.entities import Compiled
from allocator.plan.result import TerminationReason
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.by_moves import ByMoves, nothing_to_move, without_bound
from allocator.solvers.heuristic.genetic.evolution import Evolution
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.recorder import Recorder

__all__ = ["GeneticMethod"]


class GeneticMethod(ByMoves):
    """Children take the contents of nodes from two parents."""

    name = "genetic"

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
        trivial = nothing_to_move(compiled)
        if trivial is not None:
            return trivial
        evolution = Evolution(compiled, budget, recorder, seed)
        evolution.run(start)
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
        return without_bound(compiled, found, values, reason, f"{evolution.children:,} children")
