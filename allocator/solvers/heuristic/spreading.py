"""Whether goals are better off with members spread over nodes. Knows goals alone."""

from __future__ import annotations

from collections.abc import Iterable

from allocator.model.families import GoalId

__all__ = ["spreads"]

SPREADING = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.PEAK, GoalId.BALANCE, GoalId.OVERLOAD, GoalId.P99})


def spreads(goals: Iterable[GoalId]) -> bool:
    """Whether one of the goals prefers empty nodes to full ones, all else equal."""
    return not SPREADING.isdisjoint(goals)
