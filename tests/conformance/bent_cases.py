"""Conformance cases about what is not linear: goodput curves (14), targets (13) and the goal ``p99`` (27)."""

from __future__ import annotations

from typing import Any

from allocator.model.entities import Goal, Level
from allocator.model.families import Family, GoalId
from tests.conformance.building import (
    BUSY,
    COST,
    PLACED,
    THROUGHPUT,
    Case,
    Document,
    document,
    drop_of_class,
    drop_of_uplinks,
    node,
    only,
    rack,
    workload,
)

__all__ = ["BENT", "COLLAPSE", "phantom"]

P99 = GoalId.P99
DEAR = {"default": 1, "r0/n1": 3}
KNEE = {"curve": "knee", "p": 1}
COLLAPSE = {"curve": "table", "points": [[0, 0], ["0.8", "0.8"], ["0.9", "0.2"], [4, "0.6"]]}
"""Falls at 0.8 and rises again slowly: above it lies its hull, by up to a factor of 3.8."""

QUICK = {"rate": "1/s", "cpu": "200 ms", "parallel": 4}


def phantom(*, beside: bool) -> Document:
    """A pair of 4 bit/s over a knee of 4 bit/s; ``beside`` it a pair of 40 bit/s that must share one node."""
    classes = [
        workload("c", 1, 2, work=BUSY, placement={"within": ["r0/n0"]}),
        workload("d", 1, 2, work=BUSY, placement={"within": ["r0/n1"]}),
    ]
    flows = [{"from": "c", "to": "d", "pattern": "pair", "rate": "4 bit/s"}]
    if beside:
        follow = {"depends_on": {"group": "f", "level": "node"}}
        classes += [workload("e", 1, placement=follow), workload("f", 1)]
        flows.append({"from": "e", "to": "f", "pattern": "pair", "rate": "40 bit/s"})
    uplink = {"bandwidth": "4 bit/s", "goodput": KNEE}
    nodes = [node(f"n{i}", {"cpu": 4, "memory": 8}, uplink=uplink) for i in range(2)]
    return document([rack("r0", *nodes)], classes, flows=flows)


def _collapsing() -> Document:
    """Each c on r0 sends 2 bit/s to r1 over 4 bit/s; at home in r1 it works eight times as slowly."""
    slow = {"b": {"work": {"cpu": "8 s"}}}
    here = node("n0", {"cpu": 12, "memory": 8})
    there = [node("n1", {"cpu": 12, "memory": 8}, kind="b"), node("n2", {"cpu": 3, "memory": 0}, kind="c")]
    return document(
        [rack("r0", here, uplink={"bandwidth": "4 bit/s", "goodput": COLLAPSE}), rack("r1", *there)],
        [
            workload("c", 3, 2, 1, work=BUSY, by_kind=slow, limits={"cpu": 2}),
            workload("d", 3, 1, 0, placement={"within": ["r1/n2"]}),
        ],
        flows=[{"from": "c", "to": "d", "pattern": "pair", "rate": "2 bit/s"}],
    )


def _far(**slo: Any) -> Document:
    """One c whose cheap node is a slow path away from d."""
    return document(
        [
            rack("r0", node("n0"), uplink={"latency": "400 ms"}),
            rack("r1", node("n1"), node("n2", {"cpu": 1, "memory": 8})),
        ],
        [
            workload("c", 1, "0.5", cost={"r1/n1": 3, "r1/n2": 9}, work=QUICK, slo=slo),
            workload("d", 1, "0.5", placement={"within": ["r1/n1"]}),
        ],
        flows=[{"from": "c", "to": "d", "pattern": "spread", "rate": "1 bit/s"}],
    )


def _messages(**slo: Any) -> Document:
    """One c whose cheap node is a link away from d: there a message may take 0.92 s, 0.4 bits over 2 bit/s to spare."""
    return document(
        [rack("r0", node("n0"), uplink={"bandwidth": "10 bit/s"}), rack("r1", node("n1"), node("n2"))],
        [
            workload("c", 1, "0.5", cost={"default": 3, "r0/n0": 1}, work=QUICK, slo=slo),
            workload("d", 1, "0.5", placement={"within": ["r1/n1"]}),
        ],
        flows=[{"from": "c", "to": "d", "pattern": "spread", "rate": "1 bit/s", "message": "0.05 B"}],
        link_load="0.8",
    )


CURVES = [
    Case(
        "knee-below-fair",
        Family.FABRIC,
        document(
            [
                rack("r0", node("n0"), uplink={"bandwidth": "4 bit/s", "goodput": {"curve": "knee", "p": 2}}),
                rack("r1", node("n1")),
            ],
            [workload("c", 2, 2, work=BUSY)],
            teams=[{"team": "t", "count": 1, "members": {"c": 2}, "traffic": {"rate": "3 bit/s"}}],
        ),
        only(THROUGHPUT),
        drop_of_uplinks("goodput"),
        bent=True,
    ),
    Case(
        "phantom-load-raises-no-knee",
        Family.FABRIC,
        phantom(beside=True),
        only(THROUGHPUT),
        drop_of_uplinks("goodput"),
        bent=True,
    ),
    Case("collapse-kept-below-its-peak", Family.FABRIC, _collapsing(), only(THROUGHPUT), bent=True),
    Case(
        "collapse-of-a-team",
        Family.FABRIC,
        document(
            [
                rack(
                    "r0",
                    *(node(f"n{i}", {"cpu": 1, "memory": 8}) for i in range(2)),
                    uplink={"bandwidth": "6 bit/s", "goodput": COLLAPSE},
                ),
                rack("r1", node("n2", {"cpu": 1, "memory": 8})),
            ],
            [workload("c", 3, "0.5", work={**BUSY, "rate": "1/s"})],
            teams=[{"team": "t", "count": 1, "members": {"c": 3}, "traffic": {"rate": "3 bit/s"}}],
        ),
        only(THROUGHPUT),
        drop_of_uplinks("goodput"),
        bent=True,
    ),
    Case(
        "collapse-of-an-oversubscribed-rack",
        Family.FABRIC,
        document(
            [
                rack(
                    "r0",
                    *(node(f"n{i}", {"cpu": 2, "memory": 8}, uplink={"bandwidth": "4 bit/s"}) for i in range(2)),
                    uplink={"oversubscription": 2, "goodput": COLLAPSE},
                ),
                rack("r1", node("n2", {"cpu": 3, "memory": 8})),
            ],
            [workload("c", 3, 1, work=BUSY), workload("d", 2, "0.5", 1, placement={"within": ["r1"]})],
            flows=[{"from": "c", "to": "d", "pattern": "spread", "rate": "2 bit/s"}],
        ),
        only(GoalId.FAIRNESS),
        drop_of_uplinks("goodput"),
        bent=True,
    ),
]

TARGETS = [
    Case(
        "target-above-the-floor",
        Family.SLO,
        document(
            [rack("r0", node("n0"), node("n1"))],
            [workload("c", 2, "0.5", cost=DEAR, work=QUICK, slo={"p99": "1 s"})],
        ),
        only(COST),
        bent=True,
    ),
    Case("target-of-messages", Family.LINK_LOAD, _messages(p99="900 ms"), only(COST), bent=True),
    Case("target-over-a-slow-path", Family.SLO, _far(p99="800 ms"), only(COST), bent=True),
    Case(
        "target-beyond-what-a-member-can-use",
        Family.SLO,
        document(
            [rack("r0", node("n0", kind="slow"), node("n1"))],
            [
                workload(
                    "c",
                    1,
                    "0.1",
                    cost=DEAR,
                    work={**QUICK, "parallel": 1},
                    by_kind={"slow": {"work": {"cpu": "300 ms"}}},
                    slo={"p99": "1500 ms"},
                )
            ],
        ),
        only(COST),
        bent=True,
    ),
    Case(
        "target-where-throughput-wants-the-compute",
        Family.SLO,
        document(
            [rack("r0", node("n0"))],
            [
                workload("c", 1, "0.1", work=QUICK, slo={"p99": "1 s"}),
                workload("d", 1, "0.1", work=BUSY),
            ],
        ),
        only(THROUGHPUT),
        bent=True,
    ),
]

RESPONSES = [
    Case(
        "p99-before-cost",
        P99,
        document(
            [rack("r0", node("n0"), node("n1"))],
            [
                workload("c", 2, "0.5", weight=3, cost=DEAR, work=QUICK, slo={"critical": True}),
                workload("d", 1, "0.5", cost=DEAR, work={**QUICK, "rate": "2/s"}, slo={"critical": True}),
            ],
        ),
        only(P99, COST),
        bent=True,
    ),
    Case("p99-of-messages", P99, _messages(critical=True), only(P99, COST), bent=True),
    Case("p99-over-a-slow-path", P99, _far(critical=True), only(P99, COST), bent=True),
    Case(
        "p99-of-those-placed",
        P99,
        document(
            [rack("r0", node("n0"), node("n1", {"cpu": 1, "memory": 8}))],
            [workload("c", 4, "0.7", cost=DEAR, work=QUICK, slo={"critical": True})],
        ),
        only(PLACED, P99, COST),
        lambda whole: whole["workloads"][0].pop("slo"),
        bent=True,
    ),
    Case(
        "worst-p99-before-cost",
        P99,
        document(
            [rack("r0", node("n0"), node("n1"))],
            [
                workload("c", 2, "0.2", weight=2, cost=DEAR, work=QUICK, slo={"critical": True}),
                workload("d", 1, "0.2", cost=DEAR, work={**QUICK, "cpu": "400 ms"}, slo={"critical": True}),
            ],
        ),
        (Level((Goal(P99, worst=True),)), *only(COST)),
        bent=True,
    ),
    Case(
        "p99-weighed-against-power",
        P99,
        document(
            [rack("r0", *(node(f"n{i}", power={"idle": 2 + i, "busy": 6}) for i in range(2)))],
            [workload("c", 2, "0.3", work=QUICK, slo={"critical": True, "p99": "5 s"})],
        ),
        (Level((Goal(P99), Goal(GoalId.POWER))), *only(COST)),
        drop_of_class("slo"),
        bent=True,
    ),
]

BENT = [*CURVES, *TARGETS, *RESPONSES]
