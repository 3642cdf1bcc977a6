"""The bound of ``balance`` from totals: within reach of brute force, and off where totals prove nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.bounds.balance import balance_bound
from allocator.solvers.bounds.combinatorial import level_bound
from tests.formats.test_roadef2012 import ASSIGNMENT, MODEL, instance_of
from tests.oracle.brute_force import brute_force


def document(**more: Any) -> dict[str, Any]:
    nodes = {"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 10, "disk": 10}}
    return {
        "format": "allocator/v1",
        "resources": {"disk": {"role": "other"}},
        "topology": [{"level": "rack", "name": "r", "count": 2, "children": [nodes]}],
        "workloads": [{"class": "c", "count": 8, "requests": {"cpu": 1, "disk": 3}}],
        "balance": {"resources": ["cpu", "disk"], "target": 2, "weight": 3},
        **more,
    }


def bound(stated: dict[str, Any], *goals: GoalId, level: str = "node") -> Fraction:
    stated["balance"]["level"] = level
    levels = tuple(Level((Goal(goal),)) for goal in goals or (GoalId.BALANCE,))
    return balance_bound(compile_instance(instance_from_dict(stated), Model("m", "", levels)))


def test_totals_give_the_optimum_where_members_divide_evenly() -> None:
    # free: 32 cpu and 16 disk, 2 * 32 - 16 = 48, weight 3
    assert bound(document()) == 144
    instance = instance_from_dict(document())
    truth = brute_force(instance, Model("m", "", (Level((Goal(GoalId.BALANCE),)),)))
    assert truth.values == (144,)


def test_no_bound_where_members_may_stay_out_or_shares_may_grow() -> None:
    assert bound(document(), GoalId.PLACED, GoalId.BALANCE) == 0
    working = document()
    working["workloads"][0]["work"] = {"rate": "1/s", "cpu": 2}
    assert bound(working) == 144
    assert bound(working, GoalId.THROUGHPUT, GoalId.BALANCE) == 0


def test_a_level_that_states_no_capacity_has_none_free() -> None:
    assert bound(document(), level="rack") == 3 * (2 * -8 + 24)


def test_no_bound_where_a_node_is_in_no_domain_of_the_level() -> None:
    apart = document()
    apart["topology"].append({"level": "node", "name": "alone", "capacity": {"cpu": 99, "disk": 99}})
    assert bound(apart, level="rack") == 0


def test_demand_that_depends_on_the_node_counts_at_its_extremes() -> None:
    mixed = document()
    mixed["topology"][0]["children"][0]["kind"] = "a"
    mixed["topology"].append({"level": "node", "name": "b", "kind": "b", "capacity": {"cpu": 10, "disk": 10}})
    mixed["workloads"][0]["by_kind"] = {"b": {"requests": {"cpu": 2, "disk": 1}}}
    # free: at least 50 - 16 cpu, at most 50 - 8 disk
    assert bound(mixed) == 3 * (2 * 34 - 42)


def test_the_tiny_reassignment_is_bounded_from_below() -> None:
    instance = instance_of(MODEL, ASSIGNMENT)
    rebalance = load_model("rebalance")
    found = level_bound(compile_instance(instance, rebalance), rebalance.levels[0])
    assert 0 < found <= 153
