"""Equations (9), (10), (11): conflict, spread, dependency, gang, move limit, reserve."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.checker import check
from allocator.instance.entities import Conflict, Demand, Dependency, Gang, Instance, Mode, MoveCosts, Reserve, Spread
from allocator.model.families import Family
from tests.builders import build, group, model, node, plan, workload


def racks(classes: list[Any], **rules: Any) -> Instance:
    """Racks r, s, t with nodes x and y; a lone node outside of every rack."""
    return build(
        *(group("rack", name, node("x"), node("y")) for name in "rst"), node("alone"), workloads=classes, **rules
    )


def broken(instance: Instance, where: dict[str, Any], ignore: tuple[Family, ...] = (), **fields: Any) -> set[Family]:
    found = plan(instance, where, **fields)
    return {violation.family for violation in check(instance, model("placed", ignore=ignore), found).violations}


def test_conflict_counts_members_of_the_group_in_one_domain() -> None:
    """Two of group g (classes a and b) may share a rack, three may not; outside of racks nothing counts."""
    classes = [workload("a", 2, group="g"), workload("b", 1, group="g"), workload("c", 1)]
    instance = racks(classes, conflicts=(Conflict("g", "rack", 2),))
    assert broken(instance, {"a": ["r/x", "r/x"], "b": ["s/x"], "c": ["r/x"]}) == set()
    assert broken(instance, {"a": ["r/x", "r/x"], "b": ["r/y"], "c": ["r/x"]}) == {Family.CONFLICT}
    assert broken(instance, {"a": ["alone", "alone"], "b": ["alone"], "c": ["r/x"]}) == set()
    assert broken(instance, {"a": ["r/x"] * 2, "b": ["r/y"], "c": ["r/x"]}, ignore=(Family.CONFLICT,)) == set()


def test_the_level_node_means_every_leaf() -> None:
    instance = racks([workload("a", 2)], conflicts=(Conflict("a", "node", 1),))
    assert broken(instance, {"a": ["alone", "r/x"]}) == set()
    assert broken(instance, {"a": ["alone", "alone"]}) == {Family.CONFLICT}


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        (["r/x", "s/x", "t/x", "t/x"], True),
        (["r/x", "s/x", "s/y", "r/y"], False),
        (["r/x", "s/x", None, None], True),
        (["r/x", "r/y", None, None], False),
        ([None] * 4, True),
        (["r/x", "s/x", "alone", "alone"], True),
        (["r/x", "r/y", "alone", None], False),
    ],
)
def test_spread_covers_the_smaller_of_s_and_the_placed(where: list[Any], holds: bool) -> None:
    """At least 3 racks for 4 members; whoever stands outside of every rack is not concerned."""
    instance = racks([workload("a", 4)], spreads=(Spread("a", "rack", 3),))
    assert broken(instance, {"a": where}) == (set() if holds else {Family.SPREAD})
    assert broken(instance, {"a": where}, ignore=(Family.SPREAD,)) == set()


def test_dependency_holds_domain_by_domain() -> None:
    """Group a needs b in its rack; outside of racks it needs nothing."""
    instance = racks([workload("a", 2), workload("b", 1)], dependencies=(Dependency("a", "b", "rack"),))
    assert broken(instance, {"a": ["r/x", "r/y"], "b": ["r/x"]}) == set()
    assert broken(instance, {"a": ["r/x", "s/y"], "b": ["r/x"]}) == {Family.DEPENDENCY}
    assert broken(instance, {"a": ["alone", "r/x"], "b": ["r/y"]}) == set()
    assert broken(instance, {"a": [None, None], "b": ["r/y"]}) == set()
    assert broken(instance, {"a": ["s/x", None], "b": ["r/y"]}, ignore=(Family.DEPENDENCY,)) == set()


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        (["r/x", "r/y", "r/y", "r/x"], True),
        (["r/x", "r/y", None, None], True),
        (["r/x", "r/x", "r/y", "r/y"], False),
        (["r/x", "s/y", None, None], False),
        (["r/x", None, None, None], False),
        ([None, "r/x", "r/y", None], False),
        (["r/x", "alone", None, None], False),
    ],
)
def test_a_gang_stands_on_distinct_nodes_of_one_domain(where: list[Any], holds: bool) -> None:
    """Gangs of two: members 0 and 1, members 2 and 3."""
    instance = racks([workload("a", 4, gang=Gang(2, "rack"))])
    assert broken(instance, {"a": where}) == (set() if holds else {Family.GANG})
    assert broken(instance, {"a": where}, ignore=(Family.GANG,)) == set()


def test_a_gang_runs_in_one_mode() -> None:
    modes = [Mode("p", Demand()), Mode("q", Demand())]
    instance = racks([workload("a", 2, gang=Gang(2, "rack"), modes=modes)])
    where = {"a": ["r/x", "r/y"]}
    assert broken(instance, where, modes={("a", 0): "q", ("a", 1): "q"}) == set()
    assert broken(instance, where, modes={("a", 0): "q"}) == {Family.GANG}


def test_members_that_fill_no_gang_stay_out() -> None:
    instance = racks([workload("a", 3, gang=Gang(2, "rack"))])
    assert broken(instance, {"a": ["r/x", "r/y", None]}) == set()
    assert broken(instance, {"a": ["r/x", "r/y", "s/x"]}) == {Family.GANG}


CURRENT = {"a": ["r/x", "r/x", "r/y", None]}


@pytest.mark.parametrize(
    ("where", "moved"),
    [
        (["r/x", "r/x", "r/y", "t/x"], 0),
        (["s/x", "r/x", "r/y", "t/x"], 1),
        (["s/x", None, "r/y", None], 2),
        ([None, None, "r/x", "t/x"], 3),
    ],
)
def test_move_limits_count_members_that_leave_their_node(where: list[Any], moved: int) -> None:
    """Evicted members move, new ones do not. Each holds 10 bytes now."""
    for limit in range(4):
        for costs in (MoveCosts(limit_members=limit), MoveCosts(limit_bytes=10 * limit)):
            instance = build(
                *(group("rack", name, *(node(n, capacity={"memory": 99}) for n in "xy")) for name in "rst"),
                workloads=[workload("a", 4, {"memory": 10})],
                current=CURRENT,
                moves=costs,
            )
            assert broken(instance, {"a": where}) == (set() if moved <= limit else {Family.MOVE_LIMIT})
            assert broken(instance, {"a": where}, ignore=(Family.MOVE_LIMIT,)) == set()
    assert check(instance, model("placed"), plan(instance, {"a": where})).classes[0].moved == moved


def test_bytes_moved_are_exact() -> None:
    instance = build(
        node("x", capacity={"memory": 99}),
        node("y", capacity={"memory": 99}),
        workloads=[workload("a", 1, {"memory": 10})],
        current={"a": ["x"]},
        moves=MoveCosts(limit_bytes=9),
    )
    assert broken(instance, {"a": ["y"]}) == {Family.MOVE_LIMIT}


def test_a_change_of_mode_on_the_node_is_no_move() -> None:
    modes = [Mode("p", Demand()), Mode("q", Demand())]
    instance = racks([workload("a", 1, modes=modes)], current={"a": ["r/x"]}, moves=MoveCosts(limit_members=0))
    assert broken(instance, {"a": ["r/x"]}, modes={("a", 0): "q"}) == set()
    assert broken(instance, {"a": ["r/y"]}) == {Family.MOVE_LIMIT}


def reserve(sizes: list[int], kinds: str = "kkk") -> Instance:
    """Three racks of one node with 100 each, of the given kinds; one member for each size."""
    nodes = [
        group("rack", name, node("x", kind=kind, capacity={"cpu": 100}))
        for name, kind in zip("rst", kinds, strict=True)
    ]
    return build(
        *nodes,
        workloads=[workload(f"a{i}", 1, {"cpu": size}) for i, size in enumerate(sizes)],
        reserves=(Reserve("rack", ("cpu",)),),
    )


def test_reserve_needs_room_elsewhere_on_the_same_kind() -> None:
    """80 in r, 60 in s, 60 in t: 40 + 40 are free outside of r, just enough; with 61 they are not."""
    where = {"a0": ["r/x"], "a1": ["s/x"], "a2": ["t/x"]}
    assert broken(reserve([80, 60, 60]), where) == set()
    assert broken(reserve([80, 61, 60]), where) == {Family.RESERVE}
    assert broken(reserve([80, 60, 60], "kkj"), where) == {Family.RESERVE}
    assert broken(reserve([80, 61, 60]), where, ignore=(Family.RESERVE,)) == set()


def test_reserve_takes_every_resource_of_nodes_by_default() -> None:
    nodes = [group("rack", name, node("x", capacity={"memory": 100, "cpu": 100})) for name in "rs"]
    member = workload("a", 2, {"memory": 60})
    instance = build(*nodes, workloads=[member], reserves=(Reserve("rack", ()),))
    assert broken(instance, {"a": ["r/x", "s/x"]}) == {Family.RESERVE}
    assert broken(instance, {"a": ["r/x", None]}) == set()
