"""Equation (3): floor <= share <= ceiling; above the floor only with work on the resource and a rate goal."""

from __future__ import annotations

from dataclasses import replace

from allocator.checker import check
from allocator.instance.entities import Demand, Instance, Mode
from allocator.model.families import Family
from tests.builders import build, group, model, node, plan, workload


def broken(instance: Instance, share: dict[str, int], goal: str = "throughput") -> set[Family]:
    found = plan(instance, {"a": ["r/n"]}, shares={("a", 0): share})
    return {violation.family for violation in check(instance, model(goal), found).violations}


def instance_with(limits: dict[str, int], **node_fields: int) -> Instance:
    """One member with floor 500 and work on ``cpu``; ``memory`` floor 10 without work."""
    member = workload("a", 1, {"cpu": 500, "memory": 10}, limits=limits, rate=1, compute={"cpu": 1})
    rack = group("rack", "r", node("n", capacity={"memory": 100, **node_fields}), capacity={"cpu": 9000})
    return build(rack, workloads=[member])


def test_the_stated_ceiling_is_exact() -> None:
    """Floor 500, ceiling 2000 millicores: both pass, one unit beyond fails."""
    instance = instance_with({"cpu": 2000}, cpu=4000)
    assert broken(instance, {"cpu": 500}) == set()
    assert broken(instance, {"cpu": 2000}) == set()
    assert broken(instance, {"cpu": 499}) == {Family.SHARES}
    assert broken(instance, {"cpu": 2001}) == {Family.SHARES}


def test_a_missing_ceiling_is_the_nearest_capacity() -> None:
    """Node 4000 wins over rack 9000; without the node's, the rack's counts."""
    assert broken(instance_with({}, cpu=4000), {"cpu": 4000}) == set()
    assert Family.SHARES in broken(instance_with({}, cpu=4000), {"cpu": 4001})
    assert broken(instance_with({}), {"cpu": 9000}) == set()
    assert Family.SHARES in broken(instance_with({}), {"cpu": 9001})


def test_without_a_rate_goal_the_share_is_the_floor() -> None:
    instance = instance_with({}, cpu=4000)
    assert broken(instance, {"cpu": 500}, "nodes") == set()
    assert broken(instance, {"cpu": 501}, "nodes") == {Family.SHARES}


def test_without_work_on_the_resource_the_share_is_the_floor() -> None:
    instance = instance_with({}, cpu=4000)
    assert broken(instance, {"memory": 11}) == {Family.SHARES}
    assert broken(instance, {"gpu": 1}) == {Family.SHARES, Family.CAPACITY}


def test_a_missing_share_is_zero() -> None:
    """The plan names no share of cpu: 0 is below the floor 500."""
    instance = instance_with({}, cpu=4000)
    found = plan(instance, {"a": ["r/n"]})
    bare = replace(found, placements=(replace(found.placements[0], shares={}),))
    assert {violation.family for violation in check(instance, model("nodes"), bare).violations} == {Family.SHARES}


def test_negative_shares_and_unknown_resources() -> None:
    instance = instance_with({}, cpu=4000)
    assert broken(instance, {"cpu": -1}) == {Family.SHARES}
    assert broken(instance, {"ghost": 1}) == {Family.SHARES}
    assert broken(instance, {"gpu": -1}) == {Family.SHARES}


def test_floors_and_ceilings_depend_on_mode_and_kind() -> None:
    """On kind ``arm`` the floor of mode ``big`` is 800, elsewhere 600; mode ``small`` asks for 100."""
    big = Mode("big", Demand({"cpu": 600}), {"arm": Demand({"cpu": 800})})
    instance = build(
        node("x", kind="amd", capacity={"cpu": 5000}),
        node("y", kind="arm", capacity={"cpu": 5000}),
        workloads=[workload("a", 1, modes=[Mode("small", Demand({"cpu": 100})), big])],
    )
    for mode, path, floor in (("small", "y", 100), ("big", "x", 600), ("big", "y", 800)):
        for share in (floor - 1, floor, floor + 1):
            found = plan(instance, {"a": [path]}, modes={("a", 0): mode}, shares={("a", 0): {"cpu": share}})
            assert check(instance, model("nodes"), found).feasible == (share == floor)


def test_a_ceiling_is_never_below_the_floor_and_counts_the_pool() -> None:
    """Floor 80 on a node of 64 with a pool of 32: the missing ceiling is 96."""
    member = workload("a", 1, {"memory": 80}, rate=1, memory={"memory": 1})
    instance = build(group("rack", "r", node("n", capacity={"memory": 64}), pool={"memory": 32}), workloads=[member])
    assert broken(instance, {"memory": 80}) == set()
    assert broken(instance, {"memory": 96}) == set()
    assert broken(instance, {"memory": 97}) == {Family.SHARES, Family.POOL}
