"""Whether a result was asked for task rates at all; decides which columns mean something."""

from __future__ import annotations

from allocator.model.families import GoalId
from allocator.plan.result import Result

__all__ = ["rewards_rates"]

_RATE_GOALS = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.P99})


def rewards_rates(result: Result) -> bool:
    """Whether a goal rewards task rates. Without one every flow is granted nothing (equation 7)."""
    return any(goal.id in _RATE_GOALS for goal in result.goals)
