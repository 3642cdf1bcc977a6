"""Bounds from totals: never beyond the optimum on random instances, and not trivial where totals say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId, sense_of
from allocator.solvers.bounds.combinatorial import goal_bound, level_bound
from tests.builders import build, group, model, node, workload
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import bound_is_valid
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import GOALS, random_case

F = Fraction
TRIVIAL = {GoalId.TRAFFIC, GoalId.CONGESTION, GoalId.MOVES, GoalId.POWER, GoalId.FAIRNESS}


def bound(instance: Instance, goal: Goal | str, *others: str) -> Fraction:
    """Bound of the first goal of a model of one goal a level."""
    goals = model(goal, *others)
    return goal_bound(compile_instance(instance, goals), goals.levels[0].goals[0])


@pytest.mark.parametrize("block", range(4))
def test_bounds_hold_for_every_level_of_random_instances(block: int) -> None:
    """A level's bound is over all plans, so it is one for the level's optimum whatever came before."""
    met: Counter[GoalId] = Counter()
    for seed in range(block, 400, 4):
        case = random_case(seed)
        instance = instance_from_dict(case.document)
        try:
            truth = brute_force(instance, case.model)
        except TooMany:
            continue
        if not truth.feasible:
            continue
        compiled = compile_instance(instance, case.model)
        for level, value in zip(case.model.levels, truth.values, strict=True):
            found = level_bound(compiled, level)
            if isinstance(value, Fraction):
                assert found <= value if level.sense == "min" else found >= value, f"seed {seed}: {level}"
            else:
                assert bound_is_valid(found, value, level.sense), f"seed {seed}: {level}"
            met.update(goal.id for goal in level.goals)
    assert set(met) == set(GOALS)


@pytest.mark.parametrize("together", [("cost", "nodes"), ("placed", "cost"), ("placed", "overload")])
def test_bounds_hold_for_weighted_sums(together: Sequence[str]) -> None:
    weights = (F(3, 2), F(2))
    level = Level(tuple(Goal(GoalId(name), weight) for name, weight in zip(together, weights, strict=True)))
    met = 0
    for seed in range(150):
        instance = instance_from_dict(random_case(seed).document)
        goals = Model("m", "", (level,))
        try:
            truth = brute_force(instance, goals)
        except TooMany:
            continue
        if truth.feasible:
            assert level_bound(compile_instance(instance, goals), level) <= truth.values[0], f"seed {seed}"
            met += 1
    assert met > 80


def two_nodes(*classes: Any, **fields: Any) -> Instance:
    return build(*(node(f"n{i}", capacity={"cpu": 10}, **fields) for i in range(2)), workloads=classes)


def test_placed_is_a_fractional_knapsack_by_value_of_what_can_stand_somewhere() -> None:
    """20 units: 3 members of 4 for 5 each, then 8/3 members of 3 for 2 each; the free one counts, the stuck one not."""
    instance = two_nodes(
        workload("dear", 3, {"cpu": 4}, value=5),
        workload("cheap", 9, {"cpu": 3}, value=2),
        workload("free", 1, value=7),
        workload("stuck", 5, {"gpu": 1}, value=100),
    )
    assert bound(instance, "placed") == 15 + F(8, 3) * 2 + 7
    assert brute_force(instance, model("placed")).values[0] == 15 + 4 + 7


def test_the_scarcest_resource_decides_and_an_inner_limit_is_a_total() -> None:
    tree = group(
        "rack", "r", *(node(f"n{i}", capacity={"cpu": 10, "memory": 9}) for i in range(2)), capacity={"memory": 5}
    )
    instance = build(tree, workloads=[workload("a", 20, {"cpu": 1, "memory": 1})])
    assert bound(instance, "placed") == 5


def test_a_pool_adds_to_the_total() -> None:
    nodes = (node("n", capacity={"memory": 2}), node("m"))
    instance = build(group("super", "s", *nodes, pool={"memory": 3}), workloads=[workload("a", 9, {"memory": 1})])
    assert bound(instance, "placed") == 5
    assert brute_force(instance, model("placed")).values[0] == 5


def test_nodes_need_enough_limits_in_whole_nodes_or_by_weight() -> None:
    """25 units on nodes of 10: three nodes; by weights 1/2, 1/2, 3, 3: the two light ones and half a heavy one."""
    instance = build(*(node(f"n{i}", capacity={"cpu": 10}) for i in range(4)), workloads=[workload("a", 5, {"cpu": 5})])
    assert bound(instance, "nodes") == 3
    weighted = build(
        *(node(f"n{i}", capacity={"cpu": 10}, weight=F(1, 2) if i < 2 else F(3)) for i in range(4)),
        workloads=[workload("a", 5, {"cpu": 5})],
    )
    assert bound(weighted, "nodes") == F(1, 2) + F(1, 2) + F(3, 2)
    assert bound(instance, "nodes", "placed") == 0, "nobody need be placed"


def test_peak_is_at_least_all_floors_over_all_capacity() -> None:
    instance = two_nodes(workload("a", 3, {"cpu": 5}))
    assert bound(instance, "peak") == F(15, 20)
    assert bound(instance, Goal(GoalId.PEAK, resources=("memory",))) == 0
    assert bound(instance, Goal(GoalId.PEAK, at_level="host")) == F(15, 20)
    assert bound(instance, Goal(GoalId.PEAK, at_level="rack")) == 0
    assert brute_force(instance, model("peak")).values[0] == 1


def test_peak_over_nested_domains_of_one_level_claims_nothing_for_nodes_outside() -> None:
    """Rack in rack covers one node twice, and the other node not at all."""
    inner = group("rack", "in", node("n", capacity={"cpu": 10}), capacity={"cpu": 10})
    outer = group("rack", "out", inner, capacity={"cpu": 10})
    instance = build(outer, node("m", capacity={"cpu": 90}), workloads=[workload("a", 6, {"cpu": 10})])
    goal = Goal(GoalId.PEAK, at_level="rack")
    assert bound(instance, goal) == 0
    assert brute_force(instance, model(goal)).values[0] == 0


def test_overload_is_at_least_what_all_safety_amounts_together_cannot_hold() -> None:
    instance = two_nodes(workload("a", 3, {"cpu": 5}), safety={"cpu": 6})
    assert bound(instance, "overload") == F(3, 1000)
    assert brute_force(instance, model("overload")).values[0] >= F(3, 1000)


def test_cost_is_everybody_at_the_cheapest_node_that_takes_it() -> None:
    instance = build(
        node("n", capacity={"cpu": 9}),
        node("m", kind="cheap", taints=frozenset({"t"}), capacity={"cpu": 9}),
        workloads=[
            workload("a", 3, {"cpu": 1}, cost={"k": F(5), "cheap": F(1)}),
            workload("b", 2, {"cpu": 1}, cost={"k": F(5), "cheap": F(1)}, tolerations=frozenset({"t"})),
        ],
    )
    assert bound(instance, "cost") == 3 * 5 + 2 * 1
    assert bound(instance, "cost", "placed") == 0


def test_costs_may_be_negative_and_then_nobody_can_gain_more_than_all() -> None:
    instance = two_nodes(workload("a", 3, {"cpu": 1}, cost={"default": F(-2)}))
    assert bound(instance, "cost") == bound(instance, "cost", "placed") == -6


def test_throughput_is_at_most_what_is_offered_by_who_can_stand_somewhere() -> None:
    instance = two_nodes(workload("a", 3, {"cpu": 1}, rate=2, weight=3), workload("stuck", 5, {"gpu": 1}, rate=9))
    assert bound(instance, "throughput", "placed") == 18
    assert bound(instance, "fairness") == 1


@pytest.mark.parametrize("goal", sorted(TRIVIAL - {GoalId.FAIRNESS}))
def test_what_totals_say_nothing_of_is_bounded_by_nothing(goal: GoalId) -> None:
    assert sense_of(goal) == "min"
    assert bound(two_nodes(workload("a", 3, {"cpu": 5})), str(goal)) == 0


def test_an_instance_without_members_or_nodes_has_bounds_too() -> None:
    for instance in (build(), build(node("n", capacity={"cpu": 1})), build(workloads=[workload("a", 2)])):
        for goal in GOALS:
            expected = 1 if goal is GoalId.FAIRNESS else 0
            assert bound(instance, str(goal)) == expected, goal
