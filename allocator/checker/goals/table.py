"""Which function values which goal. Goals missing here are refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from allocator.checker.goals.load import balance, overload, peak
from allocator.checker.goals.location import cost, moves, nodes, placed, power
from allocator.checker.goals.network import congestion, traffic
from allocator.checker.goals.rate import fairness, throughput
from allocator.checker.goals.response import p99
from allocator.checker.situation import Situation
from allocator.model.entities import Goal
from allocator.model.families import GoalId

__all__ = ["GOALS", "goal_value"]

GOALS: Mapping[GoalId, Callable[[Situation, Goal], Fraction]] = MappingProxyType(
    {
        GoalId.PLACED: placed,
        GoalId.THROUGHPUT: throughput,
        GoalId.FAIRNESS: fairness,
        GoalId.P99: p99,
        GoalId.TRAFFIC: traffic,
        GoalId.COST: cost,
        GoalId.CONGESTION: congestion,
        GoalId.PEAK: peak,
        GoalId.OVERLOAD: overload,
        GoalId.BALANCE: balance,
        GoalId.MOVES: moves,
        GoalId.NODES: nodes,
        GoalId.POWER: power,
    }
)


def goal_value(situation: Situation, goal: Goal) -> Fraction:
    """Exact value of a goal, its weight in the level left out."""
    return GOALS[goal.id](situation, goal)
