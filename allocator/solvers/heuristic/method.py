"""The method ``local-search``: compiled moves of members, level by level; exact shares at the end; no bound."""

from __future__ import annotations

from allocator.compiled.entities import Compiled
from allocator.plan.result import TerminationReason
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.heuristic.by_moves import ByMoves, nothing_to_move, without_bound
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.recorder import Recorder

__all__ = ["LocalSearchMethod"]


class LocalSearchMethod(ByMoves):
    """Walks that cool."""

    name = "local-search"

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
        trivial = nothing_to_move(compiled)
        if trivial is not None:
            return trivial
        search = Search(compiled, budget, recorder, seed, threads)
        found = search.run(start)
        reason = TerminationReason.CONVERGED
        if budget.exhausted:
            reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
        elif budget.limits.iterations is not None and search.tried >= budget.limits.iterations:
            reason = TerminationReason.ITERATION_LIMIT
        assignment, values = (None, ()) if found is None else (found.assignment, found.values)
        return without_bound(compiled, assignment, values, reason, f"{search.tried:,} moves tried")
