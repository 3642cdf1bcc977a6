"""What the methods by compiled moves share: whom they refuse, and how they answer. Knows no search."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.kernels.build import refuse_rules
from allocator.solvers.heuristic.outcome import checked

__all__ = ["ByMoves", "nothing_to_move", "without_bound"]


class ByMoves:
    """Every family but ``link_load`` and what ``refuse_rules`` names; every goal but ``quality``."""

    support = Support(
        frozenset(Family) - {Family.LINK_LOAD},
        frozenset(GoalId) - {GoalId.QUALITY},
        frozenset({"fair", "knee", "table"}),
    )

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome; some rare rules are not."""
        refuse_rules(compiled)


def nothing_to_move(compiled: Compiled) -> Answer | None:
    """The answer without any node or member: nobody stands, if that will do. None where there is something to move."""
    if compiled.num_nodes and compiled.instance.num_members:
        return None
    nobody = Assignment({})
    found = nobody if checked(compiled, nobody) else None
    return without_bound(
        compiled, found, level_values(compiled, nobody), TerminationReason.CONVERGED, "nothing to move"
    )


def without_bound(
    compiled: Compiled, found: Assignment | None, values: Sequence[Fraction], reason: TerminationReason, detail: str
) -> Answer:
    """A plan with its exact level values, or that none was found; no bound either way."""
    none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
    if found is None:
        return Answer(Status.UNKNOWN, Termination(reason, "not everybody found a place"), None, none, none)
    return Answer(Status.FEASIBLE, Termination(reason, detail), found, tuple(values), none)
