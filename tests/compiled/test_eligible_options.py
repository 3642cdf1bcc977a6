"""Where an option may stand: placement rules, implicit labels, and single floors against every limit above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Demand, Mode
from allocator.model.families import Family
from tests.builders import Tree, build, group, model, node, workload

AVX = frozenset({"avx"})
GPU = frozenset({"gpu"})


def allowed(trees: Sequence[Tree], ignore: Sequence[Family] = (), **rules: Any) -> list[str]:
    """Names of the nodes where one class may stand."""
    instance = build(*trees, workloads=[workload("a", 1, rules.pop("requests", None), **rules)])
    compiled = compile_instance(instance, model("cost", ignore=ignore))
    return [n.path for n, yes in zip(instance.nodes, compiled.eligible[0], strict=True) if yes]


TREES = (
    group("rack", "r", node("n0", labels={"zone": "a"}), node("n1", labels={"zone": "b"}, taints=GPU)),
    node("n2", kind="big", labels={"kind": "k"}, capabilities=AVX),
)


@pytest.mark.parametrize(
    ("rules", "nodes"),
    [
        ({}, ["r/n0", "n2"]),
        ({"tolerations": GPU}, ["r/n0", "r/n1", "n2"]),
        ({"require": {"zone": ("a", "b")}, "tolerations": GPU}, ["r/n0", "r/n1"]),
        ({"require": {"zone": ("c",)}}, []),
        ({"capabilities": AVX}, ["n2"]),
        ({"within": ("r",)}, ["r/n0"]),
        ({"within": ("r/n1", "n2"), "tolerations": GPU}, ["r/n1", "n2"]),
        ({"require": {"name": ("n0",)}}, ["r/n0"]),
        ({"require": {"path": ("r/n0", "n2")}}, ["r/n0", "n2"]),
        ({"require": {"kind": ("k",)}}, ["r/n0", "n2"]),  # the stated label "kind" of n2 wins over its real kind
        ({"require": {"kind": ("big",)}}, []),
    ],
)
def test_rules_decide_who_stands_where(rules: dict[str, Any], nodes: list[str]) -> None:
    assert allowed(TREES, **rules) == nodes
    assert allowed(TREES, [Family.ELIGIBILITY], **rules) == ["r/n0", "r/n1", "n2"]


def test_two_classes_with_one_rule_and_one_without_are_told_apart() -> None:
    """Masks are shared by equal rules; a class with other rules must not get them."""
    near = {"require": {"zone": ("a",)}}
    instance = build(*TREES, workloads=[workload("a", **near), workload("b"), workload("c", **near)])
    compiled = compile_instance(instance, model("cost"))
    assert compiled.eligible.tolist() == [[True, False, False], [True, False, True], [True, False, False]]


@pytest.mark.parametrize(("rack", "pool", "fits"), [(8, None, False), (9, None, False), (9, 5, True), (8, 5, False)])
def test_one_member_must_fit_every_limit_above_its_node_the_pool_included(
    rack: int, pool: int | None, fits: bool
) -> None:
    tree = group(
        "rack", "r", node("n", capacity={"memory": 4}), capacity={"memory": rack}, pool={"memory": pool} if pool else {}
    )
    assert bool(allowed([tree], requests={"memory": 9})) == fits


def test_a_resource_that_no_domain_above_states_is_not_there_unless_capacity_is_ignored() -> None:
    trees = [group("rack", "r", node("n"), capacity={"gpu": 1}), node("m")]
    assert allowed(trees, requests={"gpu": 1}) == ["r/n"]
    assert allowed(trees, requests={"gpu": 0}) == ["r/n", "m"]
    assert allowed(trees, [Family.CAPACITY], requests={"gpu": 1}) == ["r/n", "m"]


def test_floors_and_ceilings_are_by_mode_and_kind_and_a_kind_stated_apart_inherits_nothing() -> None:
    slow = Mode("slow", Demand({"cpu": 4}, {"cpu": 6}), {"big": Demand({"memory": 5})})
    fast = Mode("fast", Demand({"cpu": 1}))
    instance = build(
        node("n", capacity={"cpu": 9, "memory": 9}),
        node("m", kind="big", capacity={"cpu": 9, "memory": 9}),
        workloads=[workload("other"), workload("a", modes=[slow, fast])],
    )
    compiled = compile_instance(instance, model("cost"))
    cpu, memory = compiled.resources.index("cpu"), compiled.resources.index("memory")
    assert compiled.first_option.tolist() == [0, 1, 3]
    assert compiled.option_workload.tolist() == [0, 1, 1]
    assert compiled.option_mode.tolist() == [0, 0, 1]
    k, big = compiled.kinds.index("k"), compiled.kinds.index("big")
    assert (compiled.floor[1, k, cpu], compiled.floor[1, k, memory]) == (4, 0)
    assert (compiled.floor[1, big, cpu], compiled.floor[1, big, memory]) == (0, 5)
    assert (compiled.ceiling[1, k, cpu], compiled.ceiling[1, big, cpu], compiled.ceiling[2, k, cpu]) == (6, -1, -1)
