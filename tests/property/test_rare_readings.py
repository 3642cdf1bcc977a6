"""Readings of the page on the mathematics that random instances seldom meet: each method against brute force."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import disagreement

EXACT = ("milp", "cpsat", "auto")


def document(topology: list[dict[str, Any]], *workloads: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": "allocator/v1", "name": "rare", "topology": topology, "workloads": list(workloads), **more}


def node(name: str, **capacity: int) -> dict[str, Any]:
    return {"level": "node", "name": name, "kind": "a", "capacity": capacity}


def members(count: int, placement: dict[str, Any] | None = None, **requests: int) -> dict[str, Any]:
    return {"class": "c", "count": count, "requests": {"cpu": 1, **requests}, "placement": placement or {}}


def model(*goals: Goal | GoalId, ignore: frozenset[Family] = frozenset()) -> Model:
    stated = [goal if isinstance(goal, Goal) else Goal(goal, Fraction(1)) for goal in goals]
    return Model("rare", "", tuple(Level((goal,)) for goal in stated), ignore)


def overfull_power(request: int, count: int) -> dict[str, Any]:
    """Two nodes; the first is given less power than its members draw now."""
    return document(
        [node("n0", cpu=8, power=100), node("n1", cpu=8, power=1000)],
        members(count, power=request),
        current=[{"class": "c", "node": "n0", "count": count}],
    )


def exchange_of_power() -> dict[str, Any]:
    """Two members would gladly change places; what they leave does not let them."""
    return document(
        [node("n0", cpu=8, power=100), node("n1", cpu=8, power=100)],
        {**members(1, power=60), "cost": {"n0": 5, "n1": 0}},
        {**members(1, power=60), "class": "e", "cost": {"n0": 0, "n1": 5}},
        resources={"power": {"transient": True}},
        current=[{"class": "c", "node": "n0", "count": 1}, {"class": "e", "node": "n1", "count": 1}],
    )


def dead_uplink() -> dict[str, Any]:
    """Two members that talk: crossing the uplink of bandwidth 0 costs the most, though a second rack is slow."""
    racks = [
        {"level": "rack", "name": f"r{i}", "uplink": {"bandwidth": bandwidth}, "children": [node(f"n{i}", cpu=1)]}
        for i, bandwidth in enumerate((0, "10G", "1G"))
    ]
    flow = {"from": "c", "to": "c", "pattern": "broadcast", "rate": "500M"}
    return document(racks, members(2), flows=[flow])


def racks_in_racks(count: int, placement: dict[str, Any]) -> dict[str, Any]:
    inner = {"level": "rack", "name": "q", "children": [node("n0", cpu=2), node("n1", cpu=2)]}
    outer = {"level": "rack", "name": "r0", "children": [inner, node("n3", cpu=1)]}
    other = {"level": "rack", "name": "r1", "children": [node("n2", cpu=1)]}
    return document([outer, other], members(count, placement))


def pooled_memory() -> dict[str, Any]:
    """A node of no memory of its own: what it draws from the pool counts for no node's utilisation."""
    pool = {"level": "rack", "name": "r", "pool": {"memory": 10}}
    return document([{**pool, "children": [node("n0", cpu=8, memory=0), node("n1", cpu=8, memory=4)]}],
                    members(2, memory=4))  # fmt: skip


def pooled_power(idle: int) -> dict[str, Any]:
    """Nodes whose members draw on a pool of power, beside which the nodes' own draw does not count."""
    nodes = [{**node(f"n{i}", cpu=8, power=100), "power": {"idle": idle, "busy": 2 * idle}} for i in range(2)]
    return document([{"level": "rack", "name": "r", "pool": {"power": 50}, "children": nodes}], members(2, power=110))


def overfull_pool() -> dict[str, Any]:
    """More is drawn from a pool now than it has; the ceiling of a share is still the stated pool."""
    pool = {"level": "rack", "name": "r", "pool": {"memory": 5}}
    work = {"rate": "30/s", "cpu": "1 ms", "memory": 1, "residence": "1 s"}
    return document(
        [{**pool, "children": [node("n0", cpu=8, memory=10)]}, node("n1", cpu=8, memory=30)],
        {**members(2, memory=9), "work": work},
        current=[{"class": "c", "node": "r/n0", "count": 2}],
    )


def capped_power() -> dict[str, Any]:
    """A cap of power under which a node can give 8/3 of its cores: shares have to be rounded down."""
    nodes = [
        {**node("n0", cpu=4, power=50), "power": {"idle": 30, "busy": 60}},
        {**node("n1", cpu=4), "power": {"idle": 10, "busy": 90}},
    ]
    return document(nodes, {**members(4), "work": {"rate": "2/s", "cpu": "1 s", "parallel": 2}})


MEMORY_PEAK = Goal(GoalId.PEAK, Fraction(1), ("memory",))
CPU_PEAK = Goal(GoalId.PEAK, Fraction(1), ("cpu",))
NESTED = {
    "conflict": (4, {"conflict": {"level": "rack", "at_most": 3}}),
    "gang": (4, {"gang": {"level": "rack", "size": 2}}),
    "spread": (4, {"spread": {"level": "rack", "at_least": 2}}),
    "spread wide": (4, {"spread": {"level": "rack", "at_least": 3}}),
    "spread of one": (1, {"spread": {"level": "rack", "at_least": 3}}),
}
CASES: dict[str, tuple[dict[str, Any], Model]] = {
    "more power than stated stays": (overfull_power(120, 1), model(GoalId.MOVES)),
    "two of more power than stated stay": (overfull_power(60, 2), model(GoalId.MOVES)),
    "power held by who leaves": (exchange_of_power(), model(GoalId.COST)),
    "congestion of an uplink of bandwidth 0": (dead_uplink(), model(GoalId.CONGESTION)),
    "a cap of power between whole shares": (capped_power(), model(GoalId.THROUGHPUT, GoalId.POWER)),
    "a pool of power": (pooled_power(0), model(GoalId.NODES)),
    "a pool of power and idle nodes": (pooled_power(30), model(GoalId.NODES)),
    "a pool that is drawn on too much": (overfull_pool(), model(GoalId.THROUGHPUT)),
    "peak beside a pool": (pooled_memory(), model(MEMORY_PEAK)),
    "peak without capacity": (
        document([node("n0", cpu=0), node("n1", cpu=4)], members(2)),
        model(CPU_PEAK, ignore=frozenset({Family.CAPACITY})),
    ),
    **{f"nested {name}": (racks_in_racks(*stated), model(GoalId.NODES)) for name, stated in NESTED.items()},
    **{
        f"nested {name}, some left out": (racks_in_racks(*stated), model(GoalId.PLACED, GoalId.NODES))
        for name, stated in NESTED.items()
    },
}


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", CASES)
def test_exact_methods_agree_with_brute_force_on_rare_readings(name: str, method: str) -> None:
    stated, wanted = CASES[name]
    instance = instance_from_dict(stated)
    result = solve(instance, wanted, method=method, time_limit=30.0, seed=0, threads=1, gap=0.0)
    assert result.status is Status.OPTIMAL
    assert disagreement(result, brute_force(instance, wanted), wanted) is None


@pytest.mark.parametrize("name", ["conflict", "gang"])
def test_greedy_keeps_rules_of_a_level_whose_domains_nest(name: str) -> None:
    instance = instance_from_dict(racks_in_racks(*NESTED[name]))
    result = solve(instance, model(GoalId.PLACED), method="greedy", time_limit=30.0, seed=0, threads=1)
    assert result.status is Status.FEASIBLE  # the plan has passed the checker


def test_traffic_across_an_uplink_of_bandwidth_0_counts_at_the_steepest_slope() -> None:
    instance = instance_from_dict(dead_uplink())
    pinned = model(GoalId.CONGESTION)
    nowhere = instance_from_dict(document(dead_uplink()["topology"][:2], members(2), flows=dead_uplink()["flows"]))
    value = brute_force(nowhere, pinned).values[0]
    assert value == 2 * 5000 * 500 * 10**6 + 2 * 500 * 10**6
    assert value > brute_force(instance, pinned).values[0]
