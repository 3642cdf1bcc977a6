"""The method ``lns``: from a start or a quick plan, parts are freed and solved again exactly until time is up.

Owns the start and the wording of the answer. Must not know how parts are chosen.
"""

from __future__ import annotations

from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Method, Support
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.stage import AssignmentSearch
from allocator.solvers.decomposition.lns.search import Search
from allocator.solvers.heuristic.current import as_it_runs
from allocator.solvers.heuristic.loosened import attempt
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import method_named
from allocator.solvers.support import require_support

__all__ = ["LnsMethod"]

START_SHARE = 0.3  # of the time, for each way to a first plan
LOCAL_MOVES = 200_000  # of a local search before the parts, where iterations count and not the clock
CPSAT_AFTER = 10.0  # s: in less, loading it costs more than it gains


class LnsMethod:
    """Large neighbourhood search by ``milp`` and ``cpsat``. Has no bound of its own."""

    name = "lns"
    support = Support(
        frozenset(Family),
        frozenset(GoalId) - {GoalId.QUALITY},
        frozenset({"fair", "knee", "table"}),
    )

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
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """Improve the start, or a first plan. An iteration is one part."""
        none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
        first = start or _first(compiled, budget, recorder, seed=seed, threads=threads)
        if first is None:
            reason = TerminationReason.CONVERGED
            if budget.exhausted:
                reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
            return Answer(Status.UNKNOWN, Termination(reason, "no plan to start from was found"), None, none, none)
        recorder.phase("freeing parts of the plan", level=0)
        search = Search(compiled, first, budget, recorder, seed, threads, _engines(compiled, budget))
        reason = search.run()
        detail = f"{search.gains} of {search.iterations} parts gained"
        return Answer(Status.FEASIBLE, Termination(reason, detail), search.best, search.values, none)


def _engines(compiled: Compiled, budget: Budget) -> dict[str, Method]:
    """``milp`` and ``cpsat`` where they support what is in use, the latter if there is time to load it."""
    engines: dict[str, Method] = {}
    for name in ("milp", "cpsat"):
        method = method_named(name)
        try:
            require_support(method, compiled.instance, compiled.model)
        except MethodRefused:
            continue
        if name != "cpsat" or budget.remaining() >= CPSAT_AFTER:
            engines[name] = method
    return engines


def _first(compiled: Compiled, budget: Budget, recorder: Recorder, *, seed: int, threads: int) -> Assignment | None:
    """A plan by the quick ways, or by the exact model where they fail; the checker agrees."""

    def by(name: str, moves: int | None = None) -> Assignment | None:
        share = budget.portion(START_SHARE).counting(moves)
        answer = attempt(
            method_named(name), compiled, budget=share, recorder=recorder, start=None, seed=seed, threads=threads
        )
        found = None if answer is None else answer.assignment
        return found if found is not None and checked(compiled, found) else None

    stage = AssignmentSearch()
    if stage.applies(compiled):
        share = budget.portion(START_SHARE)
        answer = stage.run(compiled, budget=share, recorder=recorder, start=None, seed=seed, threads=threads)
        if answer.assignment is not None:
            return answer.assignment
    moves = None if budget.limits.iterations is None else LOCAL_MOVES
    for name in ("local-search", "greedy", "adjust", "milp", "cpsat"):
        found = by(name, moves if name == "local-search" else None)
        if found is not None:
            return found
    standing = as_it_runs(compiled)
    if standing is None and stage.applies(compiled) and not budget.exhausted:
        return stage.run(compiled, budget=budget, recorder=recorder, start=None, seed=seed, threads=threads).assignment
    return standing
