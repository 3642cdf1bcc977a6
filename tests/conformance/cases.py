"""Conformance cases: for every family and every goal a hand-made instance in which exactly it changes the optimum.

Owns the table ``CASES``. A case is solved with and without its subject; both answers are known by brute force and must
differ. ``without`` says how the subject is taken away: the model ignores the family, the document loses what states it,
or the model loses its first level (the goal).
"""

from __future__ import annotations

from fractions import Fraction

from allocator.model.entities import Goal, Level, Slack
from allocator.model.families import Family, GoalId
from tests.conformance.bent_cases import BENT
from tests.conformance.building import (
    BUSY,
    COST,
    DEAR,
    MODES,
    PAIR_TEAM,
    PLACED,
    THROUGHPUT,
    TRAFFIC,
    Case,
    crossing_zones,
    document,
    drop,
    drop_cap,
    drop_of_class,
    node,
    of_work,
    only,
    rack,
    two_racks,
    workload,
)

__all__ = ["CASES", "REFUSED", "Case"]

REFUSED = (GoalId.QUALITY,)
"""Read and validated, refused by name by every method so far."""

FAMILIES = [
    Case(
        "team-whole-or-not-at-all",
        Family.ASSIGNMENT,
        document(
            [rack("r0", node("n0"), node("n1", {"cpu": 1, "memory": 8}))],
            [workload("c", 2, 2, value=3), workload("d", 2, 1, value=1)],
            teams=PAIR_TEAM,
        ),
        only(PLACED),
        drop("teams"),
    ),
    Case(
        "require-label",
        Family.ELIGIBILITY,
        document(
            [rack("r0", node("n0"), node("n1")), rack("r1", node("n2", labels={"zone": "b"}), node("n3"))],
            [workload("c", 1, cost=DEAR, placement={"require": {"zone": ["b"]}})],
        ),
        only(COST),
    ),
    Case(
        "taint-and-within",
        Family.ELIGIBILITY,
        document(
            [rack("r0", node("n0", taints=["x"]), node("n1")), rack("r1", node("n2"), node("n3"))],
            [
                workload("c", 1, cost=DEAR),
                workload("d", 1, cost=DEAR, placement={"within": ["r1"], "tolerations": ["x"]}),
            ],
        ),
        only(COST),
    ),
    Case(
        "ceiling-limits-rate",
        Family.SHARES,
        document([rack("r0", node("n0"))], [workload("c", 1, work=BUSY, limits={"cpu": "1.5"})]),
        only(THROUGHPUT),
        drop_of_class("limits"),
    ),
    Case(
        "node-capacity",
        Family.CAPACITY,
        document(two_racks(), [workload("c", 4, cost=DEAR)]),
        only(COST),
    ),
    Case(
        "capacity-with-modes-and-kinds",
        Family.CAPACITY,
        document(
            [rack("r0", node("n0"), node("n1", kind="b"))],
            [workload("c", 5, cost={"a": 1, "b": 4}, modes=MODES, by_kind={"b": {"requests": {"memory": 5}}})],
        ),
        only(COST, GoalId.PEAK),
    ),
    Case(
        "host-capacity-above-nodes",
        Family.CAPACITY,
        document(two_racks(capacity={"memory": 2}), [workload("c", 3, cost=DEAR)]),
        only(COST),
        drop_cap("memory"),
    ),
    Case(
        "power-cap",
        Family.CAPACITY,
        document(
            [
                rack("r0", node("n0", power={"idle": 10, "busy": 30}), node("n1"), capacity={"power": 25}),
                rack("r1", node("n2"), node("n3")),
            ],
            [workload("c", 2, cost=DEAR)],
        ),
        only(COST),
        drop_cap("power"),
    ),
    Case(
        "overfull-start",
        Family.CAPACITY,
        document(
            [rack("r0", node("n0", {"cpu": 1, "memory": 8}), node("n1"))],
            [workload("c", 2, cost={"r0/n1": 2}), workload("d", 1, cost={"r0/n1": 7})],
            current=[{"class": "c", "first": 0, "count": 2, "node": "r0/n0"}],
        ),
        only(GoalId.MOVES, COST),
    ),
    Case(
        "memory-pool",
        Family.POOL,
        document(
            [
                rack(
                    "r0", node("n0", {"cpu": 4, "memory": 2}), node("n1", {"cpu": 4, "memory": 2}), pool={"memory": 3}
                ),
            ],
            [workload("c", 4, 1, 2), workload("d", 1, 1, 3, value=5)],
        ),
        only(PLACED),
    ),
    Case(
        "parallel-work",
        Family.RATES,
        document([rack("r0", node("n0"))], [workload("c", 1, work={**BUSY, "parallel": 1})]),
        only(THROUGHPUT),
        of_work(parallel=4),
    ),
    Case(
        "memory-in-flight",
        Family.RATES,
        document(
            [rack("r0", node("n0", {"cpu": 4, "memory": 3}))],
            [workload("c", 2, work={**BUSY, "memory": 1, "residence": "1 s"})],
        ),
        only(THROUGHPUT),
        of_work(memory=None, residence=None),
    ),
    Case(
        "work-by-mode-and-kind",
        Family.RATES,
        document(
            [rack("r0", node("n0"), node("n1", kind="b"))],
            [
                workload(
                    "c",
                    2,
                    work=BUSY,
                    modes={"one": {"work": {"cpu": "2 s"}}, "two": {"requests": {"cpu": 2}, "work": {"cpu": "1.5 s"}}},
                    by_kind={"b": {"work": {"cpu": "4 s"}}},
                )
            ],
        ),
        only(THROUGHPUT),
        drop_of_class("modes", "by_kind"),
    ),
    Case(
        "team-over-uplink",
        Family.FABRIC,
        document(
            [
                rack(
                    "r0",
                    node("n0", uplink={"bandwidth": "3 bit/s"}),
                    node("n1", uplink={"bandwidth": "2 bit/s"}),
                )
            ],
            [workload("c", 2, 2, work=BUSY)],
            teams=PAIR_TEAM,
        ),
        only(THROUGHPUT),
    ),
    Case(
        "oversubscribed-rack",
        Family.FABRIC,
        document(
            [
                rack(
                    "r0",
                    node("n0", {"cpu": 1, "memory": 8}, uplink={"bandwidth": "4 bit/s"}),
                    uplink={"oversubscription": 4},
                ),
                rack("r1", node("n1", {"cpu": 1, "memory": 8})),
            ],
            [workload("c", 2, 1, work={**BUSY, "rate": "1/s"})],
            flows=[{"from": "c", "to": "c", "pattern": "ring", "rate": "2 bit/s"}],
        ),
        only(GoalId.FAIRNESS),
    ),
    Case(
        "internal-bandwidth",
        Family.FABRIC,
        document(
            [rack("r0", node("n0"), node("n1"), internal={"bandwidth": "1 bit/s"})],
            [workload("c", 2, 2, work=BUSY), workload("d", 1, 0, 1)],
            flows=[{"from": "c", "to": "d", "pattern": "spread", "rate": "2 bit/s"}],
        ),
        only(THROUGHPUT),
    ),
    Case(
        "link-not-filled",
        Family.LINK_LOAD,
        document(
            [rack("r0", node("n0"), uplink={"bandwidth": "4 bit/s"}), rack("r1", node("n1"), node("n2"))],
            [workload("c", 2, cost={"default": 3, "r0/n0": 1}), workload("d", 2, placement={"within": ["r1/n2"]})],
            flows=[{"from": "c", "to": "d", "pattern": "pair", "rate": "2 bit/s"}],
            link_load="0.8",
        ),
        only(COST),
        drop("link_load"),
    ),
    Case(
        "memory-held-during-the-change",
        Family.TRANSIENT,
        document(
            [rack("r0", node("n0", {"cpu": 4, "memory": 3}), node("n1", {"cpu": 4, "memory": 4}))],
            [workload("c", 1, 1, 3, cost={"r0/n0": 4}), workload("d", 1, 1, 3, cost={"r0/n1": 4})],
            resources={"memory": {"transient": True}},
            current=[{"class": "c", "node": "r0/n0"}, {"class": "d", "node": "r0/n1"}],
        ),
        only(COST),
    ),
    Case(
        "one-member-a-node",
        Family.CONFLICT,
        document(two_racks(), [workload("c", 2, cost=DEAR, placement={"conflict": {"level": "node", "at_most": 1}})]),
        only(COST),
    ),
    Case(
        "over-two-racks",
        Family.SPREAD,
        document(two_racks(), [workload("c", 3, cost=DEAR, placement={"spread": {"level": "rack", "at_least": 2}})]),
        only(COST),
    ),
    Case(
        "where-the-store-is",
        Family.DEPENDENCY,
        document(
            two_racks(),
            [
                workload("c", 1, cost=DEAR, placement={"depends_on": {"group": "store", "level": "rack"}}),
                workload("store", 1, cost={"r0/n0": 9, "r0/n1": 9}),
            ],
        ),
        only(COST),
    ),
    Case(
        "one-member-a-zone-across-racks",
        Family.CONFLICT,
        document(
            crossing_zones(),
            [workload("c", 2, cost=DEAR, placement={"conflict": {"level": "label:zone", "at_most": 1}})],
        ),
        only(COST),
    ),
    Case(
        "over-two-zones-across-racks",
        Family.SPREAD,
        document(
            crossing_zones(),
            [workload("c", 2, cost=DEAR, placement={"spread": {"level": "label:zone", "at_least": 2}})],
        ),
        only(COST),
    ),
    Case(
        "in-the-zone-of-the-store-across-racks",
        Family.DEPENDENCY,
        document(
            crossing_zones(),
            [
                workload("c", 1, cost=DEAR, placement={"depends_on": {"group": "store", "level": "label:zone"}}),
                workload("store", 1, cost={"r0/n0": 9, "r0/n1": 9, "r1/n3": 9}),
            ],
        ),
        only(COST),
    ),
    Case(
        "distinct-nodes-of-a-rack",
        Family.GANG,
        document(
            two_racks(), [workload("c", 2, cost=DEAR, modes=MODES, placement={"gang": {"size": 2, "level": "rack"}})]
        ),
        only(COST, GoalId.PEAK),
    ),
    Case(
        "one-move-at-most",
        Family.MOVE_LIMIT,
        document(
            two_racks(),
            [workload("c", 2, cost=DEAR)],
            current=[{"class": "c", "count": 2, "node": "r1/n3"}],
            moves={"limit": {"members": 1}},
        ),
        only(COST),
    ),
    Case(
        "bytes-that-may-move",
        Family.MOVE_LIMIT,
        document(
            two_racks(),
            [workload("c", 1, 1, 4, cost=DEAR), workload("d", 1, 1, 1, cost=DEAR)],
            current=[{"class": "c", "node": "r1/n3"}, {"class": "d", "node": "r1/n3"}],
            moves={"limit": {"bytes": 3}},
        ),
        only(COST),
    ),
    Case(
        "a-rack-can-be-lost",
        Family.RESERVE,
        document(
            [rack("r0", node("n0"), node("n1")), rack("r1", node("n2"))],
            [workload("c", 3, cost={"r0/n1": 3, "r1/n2": 1})],
            reserve={"level": "rack", "resources": ["cpu"]},
        ),
        only(PLACED, COST),
    ),
]

FLOW = [{"from": "c", "to": "d", "pattern": "pair", "rate": "3 bit/s"}]

GOALS = [
    Case(
        "placed-before-cost",
        PLACED,
        document([rack("r0", node("n0"))], [workload("c", 3, cost={"default": 2}), workload("d", 1, 2, value=5)]),
        (*only(PLACED), Level((Goal(COST), Goal(GoalId.NODES)))),
        lambda whole: [entry.update(value=0) for entry in whole["workloads"]][:0] or None,
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
