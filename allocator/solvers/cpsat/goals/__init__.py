"""Goals of the formulation (equations 15 to 26): one module a goal, each an exact expression of its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from allocator.model.entities import Goal
from allocator.model.families import GoalId
from allocator.solvers.cpsat.goals import (
    balance,
    congestion,
    cost,
    fairness,
    moves,
    nodes,
    overload,
    peak,
    placed,
    power,
    throughput,
    traffic,
)
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["GOALS"]

GOALS: Mapping[GoalId, Callable[[Symbols, Goal], Linear]] = MappingProxyType(
    {
        GoalId.PLACED: placed.expression,
        GoalId.THROUGHPUT: throughput.expression,
        GoalId.FAIRNESS: fairness.expression,
        GoalId.TRAFFIC: traffic.expression,
        GoalId.COST: cost.expression,
        GoalId.CONGESTION: congestion.expression,
        GoalId.PEAK: peak.expression,
        GoalId.OVERLOAD: overload.expression,
        GoalId.BALANCE: balance.expression,
        GoalId.MOVES: moves.expression,
        GoalId.NODES: nodes.expression,
        GoalId.POWER: power.expression,
    }
)
