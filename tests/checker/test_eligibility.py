"""Equation (2): labels, implicit labels, taints, capabilities, confinement."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.checker import check
from allocator.model.families import Family
from tests.builders import build, group, model, node, plan, workload


def verdict(where: str, node_fields: dict[str, Any], **placement: Any) -> set[Family]:
    instance = build(
        group("rack", "r0", node("plain"), node("n/0", kind="fast", **node_fields)),
        group("rack", "r1", node("plain")),
        workloads=[workload("a", 1, **placement)],
    )
    return {
        violation.family for violation in check(instance, model("placed"), plan(instance, {"a": [where]})).violations
    }


SPECIAL = "r0/n~10"
RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"labels": {"arch": "arm64"}}, {"require": {"arch": ("x86_64", "arm64")}}),
    ({}, {"require": {"kind": ("fast",)}}),
    ({}, {"require": {"name": ("n/0",)}}),
    ({}, {"require": {"path": (SPECIAL,)}}),
    ({"capabilities": frozenset({"mig", "nvlink"})}, {"capabilities": frozenset({"mig"})}),
    ({}, {"within": (SPECIAL, "r9")}),
]


@pytest.mark.parametrize(("fields", "placement"), RULES, ids=str)
def test_a_rule_admits_the_node_that_meets_it_and_no_other(fields: dict[str, Any], placement: dict[str, Any]) -> None:
    assert verdict(SPECIAL, fields, **placement) == set()
    assert verdict("r0/plain", fields, **placement) == {Family.ELIGIBILITY}


def test_within_a_domain_admits_all_its_nodes() -> None:
    assert verdict("r0/plain", {}, within=("r0",)) == set()
    assert verdict("r1/plain", {}, within=("r0",)) == {Family.ELIGIBILITY}


def test_every_taint_must_be_tolerated() -> None:
    tainted = {"taints": frozenset({"spot", "infer"})}
    assert verdict(SPECIAL, tainted, tolerations=frozenset({"spot", "infer", "other"})) == set()
    assert verdict(SPECIAL, tainted, tolerations=frozenset({"spot"})) == {Family.ELIGIBILITY}


def test_a_stated_label_wins_over_the_implicit_one() -> None:
    assert verdict(SPECIAL, {"labels": {"kind": "slow"}}, require={"kind": ("slow",)}) == set()
    assert verdict(SPECIAL, {"labels": {"kind": "slow"}}, require={"kind": ("fast",)}) == {Family.ELIGIBILITY}


def test_an_ignored_family_is_not_checked() -> None:
    instance = build(node("n"), workloads=[workload("a", 1, require={"zone": ("x",)})])
    broken = check(instance, model("placed"), plan(instance, {"a": ["n"]}))
    ignored = check(instance, model("placed", ignore=[Family.ELIGIBILITY]), plan(instance, {"a": ["n"]}))
    assert not broken.feasible
    assert ignored.feasible
