"""Conformance cases of families: without the family the same document has another optimum."""

from __future__ import annotations

from allocator.model.families import Family, GoalId
from tests.conformance.building import (
    BUSY,
    COST,
    DEAR,
    MODES,
    PAIR_TEAM,
    PLACED,
    THROUGHPUT,
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

__all__ = ["FAMILIES"]

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
