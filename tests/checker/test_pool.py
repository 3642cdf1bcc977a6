"""Equation (5): nodes below a pool may exceed their own capacity as far as the pool reaches."""

from __future__ import annotations

from allocator.checker import check
from allocator.instance.entities import Instance
from allocator.model.families import Family
from tests.builders import build, group, model, node, plan, workload


def pooled(sizes: list[int], above: int | None = None, current: list[str | None] | None = None) -> Instance:
    """Nodes x and y of 64 below a pool of 40; one member for each size."""
    fields = {} if above is None else {"capacity": {"memory": above}}
    rack = group(
        "rack",
        "r",
        node("x", capacity={"memory": 64}),
        node("y", capacity={"memory": 64}),
        pool={"memory": 40},
        **fields,
    )
    classes = [workload(f"a{i}", 1, {"memory": size}) for i, size in enumerate(sizes)]
    start = None if current is None else {f"a{i}": [path] for i, path in enumerate(current)}
    return build(rack, workloads=classes, current=start)


def broken(instance: Instance, where: list[str | None], ignore: tuple[Family, ...] = ()) -> set[Family]:
    found = plan(instance, {f"a{i}": [path] for i, path in enumerate(where)})
    return {violation.family for violation in check(instance, model("placed", ignore=ignore), found).violations}


def test_the_pool_is_exact() -> None:
    """Node x draws 80 - 64 = 16 and y 88 - 64 = 24: 40 in all; one byte more is too much."""
    assert broken(pooled([80, 88]), ["r/x", "r/y"]) == set()
    assert broken(pooled([80, 89]), ["r/x", "r/y"]) == {Family.POOL}


def test_free_room_of_one_node_does_not_help_another() -> None:
    """Node y is empty, x draws 41."""
    assert broken(pooled([105]), ["r/x"]) == {Family.POOL}
    assert broken(pooled([104]), ["r/x"]) == set()


def test_domains_above_count_the_whole_use() -> None:
    assert broken(pooled([80, 80], above=160), ["r/x", "r/y"]) == set()
    assert broken(pooled([80, 80], above=159), ["r/x", "r/y"]) == {Family.CAPACITY}


def test_a_node_that_states_nothing_has_the_pool_alone() -> None:
    rack = group("rack", "r", node("x"), pool={"memory": 40})
    for size, fits in ((40, True), (41, False)):
        instance = build(rack, workloads=[workload("a0", 1, {"memory": size})])
        assert broken(instance, ["r/x"]) == (set() if fits else {Family.POOL})


def test_an_ignored_pool_is_not_there() -> None:
    """Then the node's own 64 count."""
    assert broken(pooled([65]), ["r/x"], ignore=(Family.POOL,)) == {Family.CAPACITY}
    assert broken(pooled([64]), ["r/x"], ignore=(Family.POOL,)) == set()


def test_an_overdrawn_pool_may_stay_so_and_nobody_enters() -> None:
    """The current placement draws 56 of 40."""
    instance = pooled([120, 1], current=["r/x", None])
    assert broken(instance, ["r/x", None]) == set()
    assert broken(instance, ["r/x", "r/y"]) == {Family.POOL}
    warnings = check(instance, model("placed"), plan(instance, {"a0": ["r/x"], "a1": [None]})).warnings
    assert "its pool is 40" in warnings[0]
