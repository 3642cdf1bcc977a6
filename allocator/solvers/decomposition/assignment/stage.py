"""The stage ``assignment``: least cost of members on nodes. A quick part before the exact model, a long one after it.

Easy instances are proven by the exact model in seconds, so the long search comes only when that did not prove.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.extract import (
    MemberAssignment,
    is_assignment_instance,
    member_assignment,
)
from allocator.solvers.decomposition.assignment.problem import Int64
from allocator.solvers.decomposition.assignment.relaxation import Relaxation
from allocator.solvers.decomposition.assignment.search import FEW_JOBS, Found, OnValue, quick, search
from allocator.solvers.decomposition.stage import StageAnswer
from allocator.solvers.recorder import Recorder

__all__ = ["AssignmentSearch"]

EXACT_SHARE = 0.5
EXACT_SHARE_FEW = 0.25  # with few jobs a node
MANY_PAIRS = 20_000  # from which the exact model proves nothing within minutes
QUICK_SECONDS = 2.0  # the first part takes that much on thousands of members only,
QUICK_SHARE = 0.4  # and then as much as this of its time: without it there may be no plan at all


class AssignmentSearch:
    """Generalised assignment, for a model whose first level is the cost alone (equation 19)."""

    name = "assignment"

    def __init__(self) -> None:
        self._relaxation: Relaxation | None = None  # of the first part

    def applies(self, compiled: Compiled) -> bool:
        """Whether nothing but the capacities of nodes limits who stands together."""
        return is_assignment_instance(compiled)

    def exact_share(self, compiled: Compiled) -> float:
        """Share of the time after the first part that the exact model deserves before the search.

        With few jobs a node, or very many pairs, it proves within that or hardly ever, and the search gains more.
        """
        jobs = sum(block.count for block in compiled.blocks)
        few = jobs <= FEW_JOBS * compiled.num_nodes
        return EXACT_SHARE_FEW if few or jobs * compiled.num_nodes > MANY_PAIRS else EXACT_SHARE

    def run(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,  # noqa: ARG002 - nothing here is random
        threads: int,
    ) -> StageAnswer:
        """The relaxation and a choice from it, in about a second. A better start is handed on in its place."""
        members = member_assignment(compiled)
        if members is None:
            return StageAnswer(start, None, optimal=False)
        recorder.phase("assigning by the relaxation", level=0)
        on_value, on_bound = _listeners(compiled, recorder, members)
        soon = budget.at_most(max(QUICK_SECONDS, budget.remaining() * QUICK_SHARE))
        found, self._relaxation = quick(members.problem, soon, threads=threads, on_value=on_value, on_bound=on_bound)
        choice = None if start is None else members.choice(start)
        if choice is not None and (found.value is None or members.problem.value(choice) < found.value):
            found.choice, found.value = choice, members.problem.value(choice)
        return _answer(compiled, members, found)

    def run_after(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        incumbent: Assignment | None,
        bound: Fraction | None,
        seed: int,
        threads: int,
    ) -> StageAnswer:
        """Search for the rest of the time from what is known; the answer is never worse than that."""
        members = member_assignment(compiled)
        if members is None:
            return StageAnswer(incumbent, bound, optimal=False)
        on_value, on_bound = _listeners(compiled, recorder, members)
        choice = None if incumbent is None else members.choice(incumbent)
        value = None if choice is None else members.problem.value(choice)
        known = None if bound is None else members.cost(bound)
        found = search(
            members.problem,
            Found(choice, value, known, solver_proof=known is not None),
            budget,
            relaxation=self._relaxation,
            threads=threads,
            seed=seed,
            on_value=on_value,
            on_bound=on_bound,
        )
        return _answer(compiled, members, found)


def _listeners(
    compiled: Compiled, recorder: Recorder, members: MemberAssignment
) -> tuple[OnValue, Callable[[int], None]]:
    def on_value(cost: int, choice: Int64) -> None:
        recorder.incumbent(0, float(members.value(cost)))
        recorder.offer(lambda: members.assignment(compiled, choice))

    return on_value, lambda cost: recorder.bound(0, float(members.value(cost)))


def _answer(compiled: Compiled, members: MemberAssignment, found: Found) -> StageAnswer:
    return StageAnswer(
        None if found.choice is None else members.assignment(compiled, found.choice),
        None if found.bound is None else members.value(found.bound),
        optimal=not found.is_open(),
        solver_proof=found.solver_proof,
    )
