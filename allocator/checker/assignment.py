"""Equation (1), ``assignment``: who may stay unplaced, and that a team is placed whole or not at all.

That every member stands in one place is found while the plan is read (``standing``). The wholeness of gangs belongs
to the family ``gang``.
"""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.checker.standing import NOWHERE
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["assignment"]


def assignment(situation: Situation) -> Iterator[Violation]:
    """Unplaced members where the model has no goal ``placed``, and teams torn apart."""
    standing = situation.standing
    if not situation.model.may_leave_out:
        for workload in situation.instance.workloads:
            missing = workload.count - standing.num_placed(workload.index)
            if missing:
                message = f"{missing} of {workload.count} members are not placed; the model has no goal placed"
                yield Violation(Family.ASSIGNMENT, workload.name, message)
    for team in situation.flows.teams:
        missing = team.nodes(standing.nodes_of).count(NOWHERE)
        if 0 < missing < team.size:
            message = f"{team.size - missing} of {team.size} members of the team are placed: must be all or none"
            yield Violation(Family.ASSIGNMENT, team.key[0], message)
