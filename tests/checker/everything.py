"""One instance that uses every family and every goal, with a valid plan whose limits are tight. For mutation tests."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from allocator.instance.entities import (
    BalanceTriple,
    Conflict,
    CurrentPlacement,
    Dependency,
    Flow,
    Gang,
    Goodput,
    Instance,
    MoveCosts,
    Power,
    Reserve,
    Slo,
    Spread,
    Uplink,
)
from allocator.model.entities import Goal, Model
from allocator.model.families import GoalId
from allocator.plan.entities import Plan
from tests.builders import Tree, build, group, model, node, plan, team, workload

__all__ = ["everything"]

F = Fraction


COLLAPSE = Goodput("table", points=((F(0), F(0)), (F(4, 5), F(4, 5)), (F(1), F(19, 20)), (F(2), F(3, 10))))
"""Carries 38 of 40 when 40 are offered; more load, granted or not, makes that less."""


def _rack(number: int) -> Tree:
    """Four nodes: n0 has fast storage, n3 an accelerator."""
    nodes = [
        node(
            f"n{i}",
            capacity={"cpu": 8000, "memory": 100, "disk": 100, **({"gpu": 1} if i == 3 else {})},
            safety={"memory": 50},
            capabilities=frozenset({"ssd"} if i == 0 else ()),
            labels={"zone": f"z{number}"},
            uplink=Uplink(bandwidth=F(1000)),
            power=Power(F(100), F(200)),
        )
        for i in range(4)
    ]
    return group(
        "rack",
        f"r{number}",
        *nodes,
        pool={"memory": 50},
        capacity={"power": 800},
        uplink=Uplink(F(40), latency=F(1, 100), goodput=COLLAPSE, weight=F(2)),
    )


def _instance() -> Instance:
    classes = [
        workload(
            "web",
            6,
            {"cpu": 500, "memory": 20},
            limits={"cpu": 1500},
            rate=2,
            compute={"cpu": F(1, 4)},
            parallel=4,
            slo=Slo(F(2), critical=True),
        ),
        workload("store", 3, {"memory": 90, "disk": 60}, capabilities=frozenset({"ssd"})),
        workload("cache", 3, {"memory": 30}, value=2),
        workload("pin", 1, rate=1, require={"zone": ("z2",)}),
        workload("pair", 4, {"cpu": 5000}, gang=Gang(2, "rack")),
        workload("acc", 3, {"gpu": 1}, cost={"r0/n3": F(4), "k": F(1)}),
    ]
    current = [("store", i, f"r{i}/n0") for i in range(3)]
    current += [("cache", 0, "r0/n2"), ("cache", 1, "r1/n1"), ("cache", 2, "r2/n1")]
    return build(
        *(_rack(number) for number in range(3)),
        workloads=classes,
        teams=(team("t", 2, {"web": 2, "store": 1}, 10),),
        flows=(Flow("pin", "web", "pairs", pairs=((0, 0, F(8)),)),),
        conflicts=(Conflict("web", "node", 2),),
        spreads=(Spread("web", "rack", 3),),
        dependencies=(Dependency("web", "store", "rack"),),
        balance=(BalanceTriple("cpu", "memory", F(20), F(1), "node"),),
        reserves=(Reserve("rack", ("gpu",)),),
        moves=MoveCosts(F(1), F(1), F(1), {("r0/n2", "r0/n1"): F(3)}, limit_members=1),
        link_load=F(1),
        current=tuple(CurrentPlacement(name, member, 1, "default", path) for name, member, path in current),
    )


def everything() -> tuple[Instance, Model, Plan]:
    """Instance, model with every goal, and a plan that holds.

    Rack r1 carries 20 of team t/0 and 20 of t/1 at 9/10: the 38 of 40.
    Node n0 of each rack draws 30 of the pool of 50.
    Members of teams exchange over two racks: 20 ms one way.
    """
    instance = _instance()
    goals = [goal.value for goal in GoalId if goal not in (GoalId.QUALITY, GoalId.PEAK)]
    where: dict[str, list[str | None]] = {
        "web": ["r0/n0", "r1/n0", "r1/n0", "r2/n0", "r0/n0", "r2/n0"],
        "store": ["r0/n0", "r1/n0", "r2/n0"],
        "cache": ["r0/n1", "r1/n1", "r2/n1"],
        "pin": ["r2/n3"],
        "pair": ["r0/n2", "r0/n3", "r1/n2", "r1/n3"],
        "acc": ["r0/n3", "r1/n3", None],
    }
    shares = {("web", member): {"cpu": 1100} for member in range(6)}
    grants: dict[Any, Any] = {"t/0": 1, "t/1": F(9, 10), ("pin/0", "web/0"): 1}
    return (
        instance,
        model(*goals, Goal(GoalId.PEAK, resources=("cpu",))),
        plan(instance, where, shares=shares, grants=grants),
    )
