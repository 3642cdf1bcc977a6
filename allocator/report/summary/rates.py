"""Whether a result was asked for task rates at all; decides which columns and units mean something."""

from __future__ import annotations

from allocator.instance.entities import Instance
from allocator.model.families import GoalId
from allocator.plan.result import Result

__all__ = ["priced_goal", "rewards_rates", "tells_rates"]

_RATE_GOALS = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.P99})


def rewards_rates(result: Result) -> bool:
    """Whether a goal rewards task rates. Without one every flow is granted nothing (equation 7)."""
    return any(goal.id in _RATE_GOALS for goal in result.goals)


def tells_rates(result: Result, instance: Instance) -> bool:
    """Whether the tasks per second of classes say something about the plan.

    They do not where traffic limits them and no goal rewards them: every grant is then 0, and so is every rate.
    """
    evaluation = result.evaluation
    if evaluation is None or not any(outcome.offered for outcome in evaluation.classes):
        return False
    return rewards_rates(result) or not (instance.flows or instance.teams)


def priced_goal(result: Result) -> GoalId | None:
    """Goal whose value the prices of resources are in: that of the first level with one that rewards rates.

    None when there is no such level, or when it is a weighted sum, which has no unit.
    """
    for outcome in result.levels:
        goals = outcome.level.goals
        if any(goal.id in _RATE_GOALS for goal in goals):
            return goals[0].id if len(goals) == 1 and goals[0].weight == 1 else None
    return None
