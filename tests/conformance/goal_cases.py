"""Conformance cases of goals: the goal, first, pulls against the one after it."""

from __future__ import annotations

from typing import Any

from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from tests.conformance.building import (
    BUSY,
    COST,
    DEAR,
    PLACED,
    THROUGHPUT,
    TRAFFIC,
    Case,
    document,
    node,
    only,
    rack,
    two_racks,
    workload,
)

__all__ = ["GOALS"]

FLOW = [{"from": "c", "to": "d", "pattern": "pair", "rate": "3 bit/s"}]


def worthless(whole: dict[str, Any]) -> None:
    """Nobody's placement counts."""
    for entry in whole["workloads"]:
        entry["value"] = 0


GOALS = [
    Case(
        "placed-before-cost",
        PLACED,
        document([rack("r0", node("n0"))], [workload("c", 3, cost={"default": 2}), workload("d", 1, 2, value=5)]),
        (*only(PLACED), Level((Goal(COST), Goal(GoalId.NODES)))),
        worthless,
    ),
    Case(
        "throughput-before-cost",
        THROUGHPUT,
        document([rack("r0", node("n0"), node("n1"))], [workload("c", 2, cost={"r0/n1": 3}, work=BUSY)]),
        only(THROUGHPUT, COST),
    ),
    Case(
        "fairness-before-cost",
        GoalId.FAIRNESS,
        document(
            [rack("r0", node("n0", {"cpu": 3, "memory": 8}), node("n1"))],
            [workload("c", 1, cost={"r0/n1": 1}, work=BUSY), workload("d", 2, cost={"r0/n1": 3}, work=BUSY)],
        ),
        only(GoalId.FAIRNESS, COST),
    ),
    Case(
        "traffic-before-cost",
        TRAFFIC,
        document(
            two_racks(),
            [workload("c", 2, 2, cost=DEAR), workload("d", 2, 1, cost={"r0/n0": 1, "r0/n1": 1})],
            flows=[*FLOW, {"from": "c", "to": "c", "pattern": "ring", "rate": "2 bit/s"}],
        ),
        only(TRAFFIC, COST),
    ),
    Case(
        "traffic-by-matrix",
        TRAFFIC,
        document(
            [rack("r0", node("n0"), node("n1"), node("n2"))],
            [workload("c", 1, 2, cost={"r0/n0": 1}), workload("d", 1, 2, cost={"r0/n1": 1})],
            flows=FLOW,
            distances={
                "matrix": {
                    "r0/n0": {"r0/n0": 0, "r0/n1": 1, "r0/n2": 9},
                    "r0/n1": {"r0/n0": 2, "r0/n1": 0, "r0/n2": 5},
                    "r0/n2": {"r0/n0": 7, "r0/n1": 6, "r0/n2": 0},
                }
            },
        ),
        only(TRAFFIC, COST),
    ),
    Case(
        "cost-before-traffic",
        COST,
        document(
            two_racks(),
            [
                workload("c", 1, 2, cost=DEAR),
                workload("d", 1, 1, cost={"r0/n0": 5, "r0/n1": 4, "r1/n2": 1, "r1/n3": 2}),
            ],
            flows=FLOW,
        ),
        only(COST, TRAFFIC),
    ),
    Case(
        "congestion-before-cost",
        GoalId.CONGESTION,
        document(
            [
                rack(
                    "r0",
                    node("n0", uplink={"bandwidth": "2 bit/s"}),
                    node("n1", uplink={"bandwidth": "4 bit/s"}),
                    node("n2", uplink={"bandwidth": "8 bit/s"}),
                )
            ],
            [workload("c", 1, 2, cost={"r0/n2": 6}), workload("d", 1, 2, cost={"r0/n2": 5, "r0/n1": 1})],
            flows=FLOW,
        ),
        only(GoalId.CONGESTION, COST),
    ),
    Case(
        "peak-before-cost",
        GoalId.PEAK,
        document(
            [rack("r0", node("n0", {"cpu": 4, "memory": 8}), node("n1", {"cpu": 3, "memory": 8}))],
            [workload("c", 3, cost={"r0/n1": 2})],
        ),
        (Level((Goal(GoalId.PEAK, resources=("cpu",), at_level="node"),)), *only(COST)),
    ),
    Case(
        "overload-before-cost",
        GoalId.OVERLOAD,
        document(
            [rack("r0", node("n0", safety={"cpu": 1}), node("n1", safety={"cpu": 2, "memory": 1}))],
            [workload("c", 3, cost={"r0/n1": 2})],
            resources={"cpu": {"overload": 10}},
        ),
        only(GoalId.OVERLOAD, COST),
    ),
    Case(
        "balance-before-cost",
        GoalId.BALANCE,
        document(
            [rack("r0", node("n0", {"cpu": 4, "memory": 4}), node("n1", {"cpu": 4, "memory": 5}))],
            [workload("c", 3, 1, 2, cost={"r0/n1": 2}), workload("d", 1, 2, 1, cost={"r0/n0": 2})],
            balance={"resources": ["cpu", "memory"], "target": 1},
        ),
        only(GoalId.BALANCE, COST),
    ),
    Case(
        "moves-before-cost",
        GoalId.MOVES,
        document(
            two_racks(),
            [workload("c", 2, cost=DEAR, move_cost=2, placement={"within": ["r0"]}), workload("d", 1, 2, cost=DEAR)],
            current=[
                {"class": "c", "node": "r1/n2"},
                {"class": "c", "first": 1, "node": "r1/n3"},
                {"class": "d", "node": "r1/n2"},
            ],
            moves={
                "weights": {"process": 1, "service": 2, "machine": 1},
                "machine": {"r1/n2": {"r0/n0": 4, "r0/n1": 1, "r1/n3": 1}},
            },
        ),
        only(GoalId.MOVES, COST),
    ),
    Case(
        "nodes-before-cost",
        GoalId.NODES,
        document(
            [rack("r0", node("n0"), node("n1"), node("n2", {"cpu": 4, "memory": 8}, weight="1.5"))],
            [workload("c", 3, cost={"r0/n2": 1})],
        ),
        only(GoalId.NODES, COST),
    ),
    Case(
        "power-before-cost",
        GoalId.POWER,
        document(
            [
                rack(
                    "r0",
                    node("n0", power={"idle": 20, "busy": 50}),
                    node("n1", power={"idle": 10, "busy": 60}),
                    node("n2", {"cpu": 3, "memory": 8}, power={"idle": 12, "busy": 40}),
                )
            ],
            [
                workload(
                    "c", 3, cost={"r0/n2": 1, "r0/n1": "0.5"}, modes={"one": {}, "two": {"requests": {"cpu": "0.5"}}}
                )
            ],
        ),
        only(GoalId.POWER, COST),
    ),
]
