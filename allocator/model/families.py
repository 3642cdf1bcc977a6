"""Ids of the constraint families and goals: one id, the same in model file, formulation, kernel, checker and report."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

__all__ = ["Family", "GoalId", "Sense", "sense_of"]

Sense = Literal["min", "max"]


class Family(StrEnum):
    """Constraint families (models/README.md, equations 1 to 14 and 29)."""

    ASSIGNMENT = "assignment"
    ELIGIBILITY = "eligibility"
    SHARES = "shares"
    CAPACITY = "capacity"
    POOL = "pool"
    RATES = "rates"
    FABRIC = "fabric"
    TRANSIENT = "transient"
    CONFLICT = "conflict"
    SPREAD = "spread"
    DEPENDENCY = "dependency"
    GANG = "gang"
    MOVE_LIMIT = "move_limit"
    RESERVE = "reserve"
    SLO = "slo"
    LINK_LOAD = "link_load"


class GoalId(StrEnum):
    """Goal families (models/README.md, equations 15 to 28)."""

    PLACED = "placed"
    THROUGHPUT = "throughput"
    FAIRNESS = "fairness"
    P99 = "p99"
    TRAFFIC = "traffic"
    COST = "cost"
    CONGESTION = "congestion"
    PEAK = "peak"
    OVERLOAD = "overload"
    BALANCE = "balance"
    MOVES = "moves"
    NODES = "nodes"
    POWER = "power"
    QUALITY = "quality"


_MAXIMISED = frozenset({GoalId.PLACED, GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.QUALITY})


def sense_of(goal: GoalId) -> Sense:
    """Whether the goal's value is maximised or minimised."""
    return "max" if goal in _MAXIMISED else "min"
