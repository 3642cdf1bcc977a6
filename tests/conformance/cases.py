"""Conformance cases: for every family and every goal a hand-made instance in which exactly it changes the optimum.

Owns the table ``CASES``. A case is solved with and without its subject; both answers are known by brute force and must
differ. ``without`` says how the subject is taken away: the model ignores the family, the document loses what states it,
or the model loses its first level (the goal).
"""

from __future__ import annotations

from fractions import Fraction

from allocator.model.entities import Goal, Level, Slack
from allocator.model.families import GoalId
from tests.conformance.bent_cases import BENT
from tests.conformance.building import (
    COST,
    DEAR,
    PAIR_TEAM,
    PLACED,
    TRAFFIC,
    Case,
    document,
    drop,
    node,
    only,
    rack,
    two_racks,
    workload,
)
from tests.conformance.family_cases import FAMILIES
from tests.conformance.goal_cases import GOALS

__all__ = ["CASES", "REFUSED", "Case"]

REFUSED = (GoalId.QUALITY,)
"""Read and validated, refused by name by every method so far."""

SLACK = [
    Case(
        "relative-slack-is-used",
        COST,
        document(
            [rack("r0", node("n0"), node("n1", uplink={"weight": 2})), rack("r1", node("n2"), node("n3"))],
            [workload("c", 2, 2, cost={"r0/n0": 10, "r0/n1": 12, "r1/n2": 11, "r1/n3": 30})],
            teams=PAIR_TEAM,
        ),
        (Level((Goal(COST),), Slack(Fraction(5, 100), True)), *only(TRAFFIC)),
    ),
    Case(
        "weighted-level",
        TRAFFIC,
        document(
            two_racks(),
            [workload("c", 3, 2, cost=DEAR, value=20)],
            flows=[{"from": "c", "to": "c", "pattern": "star", "rate": "1 bit/s"}],
        ),
        (
            Level((Goal(PLACED, Fraction(2)), Goal(TRAFFIC, Fraction(3, 2)), Goal(COST)), Slack(Fraction(1))),
            *only(GoalId.NODES),
        ),
        drop("flows"),
    ),
]

CASES = (*FAMILIES, *GOALS, *SLACK, *BENT)
