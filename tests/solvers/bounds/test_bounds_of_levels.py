"""Bounds of every goal: on the right side of brute force, near it, and more than totals say."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.instance.entities import BalanceTriple, Distances, Flow, Instance, Power, Slo, Uplink
from allocator.model.entities import Goal, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.bounds.combinatorial import level_bound
from allocator.solvers.bounds.levels import bounds
from allocator.solvers.budget import Limits
from tests.builders import build, group, model, node, team, workload
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import bound_is_valid
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import GOALS, random_case

F = Fraction


def found(
    instance: Instance, goals: Model, reached: tuple[Fraction | None, ...] = ()
) -> tuple[Fraction | int | None, ...]:
    return bounds(compile_instance(instance, goals), Limits(60.0).start(), reached)


def nodes(count: int, cpu: int, **fields: Any) -> list[Any]:
    return [node(f"n{i}", capacity={"cpu": cpu}, **fields) for i in range(count)]


def racks(*sizes: int, cpu: int, weight: int = 1) -> list[Any]:
    return [
        group(
            "rack",
            f"r{j}",
            *nodes(size, cpu, uplink=Uplink(weight=F(weight), bandwidth=F(4))),
            uplink=Uplink(bandwidth=F(8)),
        )
        for j, size in enumerate(sizes)
    ]


def served(name: str, count: int, floor: int, **fields: Any) -> Any:
    return workload(name, count, {"cpu": floor}, compute={"cpu": F(1)}, **{"rate": 2, "parallel": 4, **fields})


CASES: dict[str, tuple[Instance, Model]] = {
    # a needs a whole node of two resources, totals see one resource at a time
    "placed": (
        build(
            node("n", capacity={"cpu": 4, "memory": 4}),
            node("m", kind="big", capacity={"cpu": 4, "memory": 1}),
            workloads=[workload("a", 4, {"cpu": 1, "memory": 2}, value=3), workload("b", 9, {"cpu": 2, "memory": 1})],
        ),
        model("placed"),
    ),
    # 3 cores for 4 members of 1 core a task: 3 tasks/s of 8 offered
    "throughput": (build(*nodes(1, 3000), workloads=[served("a", 4, 100)]), model("throughput")),
    "fairness": (
        build(*nodes(2, 1500), workloads=[served("a", 2, 100), served("b", 2, 100, rate=1)]),
        model("fairness"),
    ),
    "p99": (
        build(
            *nodes(1, 6000),
            workloads=[
                served("a", 2, 100, rate=1, slo=Slo(critical=True)),
                served("b", 1, 500, rate=1, weight=3, slo=Slo(critical=True)),
            ],
        ),
        model("p99"),
    ),
    "worst p99": (
        build(*nodes(1, 5000), workloads=[served("a", 3, 100, rate=1, slo=Slo(critical=True))]),
        model(Goal(GoalId.P99, worst=True)),
    ),
    # three teams of 4, each node holds 5 members of the 8 that a rack holds
    "traffic": (
        build(*racks(2, 2, cpu=3), workloads=[workload("a", 8, {"cpu": 1})], teams=(team("t", 2, {"a": 4}, 1),)),
        model("traffic"),
    ),
    "congestion": (
        build(*racks(2, 2, cpu=2), workloads=[workload("a", 8, {"cpu": 1})], teams=(team("t", 2, {"a": 4}, 1),)),
        model("congestion"),
    ),
    "traffic of pairs": (
        build(
            *racks(3, cpu=2),
            workloads=[workload("a", 6, {"cpu": 1})],
            flows=(Flow("a", "a", "pairs", pairs=tuple((i, i + 1, F(3)) for i in range(5))),),
        ),
        model("traffic"),
    ),
    "traffic by a matrix": (
        replace(
            build(
                *nodes(3, 2),
                workloads=[workload("a", 5, {"cpu": 1})],
                flows=(Flow("a", "a", "pairs", pairs=tuple((i, i + 1, F(3)) for i in range(4))),),
            ),
            distances=Distances({(f"n{i}", f"n{j}"): F(2 * (i != j)) for i in range(3) for j in range(3)}),
        ),
        model("traffic"),
    ),
    "traffic of a broadcast": (
        build(
            *racks(3, cpu=4),
            workloads=[workload("a", 3, {"cpu": 3}), workload("b", 3, {"cpu": 1})],
            flows=(Flow("a", "b", "broadcast", rate=F(2)),),
        ),
        model("traffic"),
    ),
    # two of the three members fit the cheap node
    "cost": (
        build(
            *nodes(1, 5),
            node("dear", kind="dear", capacity={"cpu": 9}),
            workloads=[workload("a", 3, {"cpu": 2}, cost={"k": F(1), "dear": F(7)})],
        ),
        model("cost"),
    ),
    # amounts would do with two nodes, but a node holds one member
    "nodes": (build(*nodes(4, 5), workloads=[workload("a", 3, {"cpu": 3})]), model("nodes")),
    "power": (
        build(*nodes(4, 5, power=Power(F(10), F(20))), workloads=[workload("a", 3, {"cpu": 3})]),
        model("power"),
    ),
    "peak": (build(*nodes(2, 10), workloads=[workload("a", 3, {"cpu": 4})]), model("peak")),
    # the fast node takes neither member: what is safe there is no use
    "overload": (
        build(
            *nodes(1, 9, safety={"cpu": 2}),
            node("m", kind="other", capacity={"cpu": 9}, safety={"cpu": 9}),
            workloads=[workload("a", 2, {"cpu": 2}, require={"kind": ("k",)})],
        ),
        model("overload"),
    ),
    "balance": (
        build(
            node("n", capacity={"cpu": 8, "memory": 2}),
            node("m", kind="other", capacity={"cpu": 2, "memory": 90}),
            workloads=[workload("a", 2, {"cpu": 1, "memory": 1})],
            balance=(BalanceTriple("cpu", "memory", F(1000), F(1), "node"),),
        ),
        model("balance"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_near_the_optimum_and_not_trivial(name: str) -> None:
    instance, goals = CASES[name]
    (true,) = brute_force(instance, goals).values
    (bound,) = found(instance, goals)
    level = goals.levels[0]
    assert isinstance(bound, Fraction)
    assert bound_is_valid(bound, true, level.sense)
    assert abs(float(bound) - float(true)) <= 0.05 * abs(float(true))
    assert bound != 0
    # totals know nothing of response times, and as much of overload and balance here
    if level.goals[0].id not in {GoalId.P99, GoalId.OVERLOAD, GoalId.BALANCE}:
        simple = level_bound(compile_instance(instance, goals), level)
        assert (bound > simple) if level.sense == "min" else (bound < simple)


def test_moves_are_bounded_by_none() -> None:
    instance = build(*nodes(2, 4), workloads=[workload("a", 2, {"cpu": 3})], current={"a": ["n0", "n0"]})
    assert found(instance, model("moves")) == (0,)


def test_quality_has_no_bound() -> None:
    assert found(build(*nodes(1, 4)), model("quality")) == (None,)


def test_a_later_level_is_over_plans_that_keep_the_values_reached() -> None:
    """The cheap node holds two; whoever spends no more than the least cost overloads it."""
    instance = build(
        *nodes(1, 9, safety={"cpu": 3}),
        node("dear", kind="dear", capacity={"cpu": 9}, safety={"cpu": 9}),
        workloads=[workload("a", 3, {"cpu": 3}, cost={"k": F(1), "dear": F(2)})],
    )
    goals = model("cost", "overload")
    assert brute_force(instance, goals).values == (3, F(6, 1000))
    assert found(instance, goals) == (3, 0)
    assert found(instance, goals, (F(3), None)) == (3, F(6, 1000))
    assert found(instance, goals, (F(4), None)) == (3, F(3, 1000))


def test_whoever_keeps_everybody_placed_has_their_traffic() -> None:
    instance, _ = CASES["traffic"]
    goals = model("placed", "traffic")
    assert brute_force(instance, goals).values == (8, 24)
    assert found(instance, goals) == (8, 0)
    assert found(instance, goals, (F(8), None)) == (8, 24)


def test_a_target_kept_from_an_earlier_level_takes_compute() -> None:
    """The worst P99 of 2 ln 100 s takes 1.5 cores a member: a node of 2.1 cores has them for one."""
    critical = served("a", 2, 100, rate=1, slo=Slo(critical=True))
    instance = build(*nodes(3, 2100), workloads=[critical])
    goals = model(Goal(GoalId.P99, worst=True), "nodes")
    assert found(instance, goals)[1] == 1
    assert found(instance, goals, (F(93, 10), None))[1] == 2


def test_a_team_is_placed_as_a_whole_in_the_relaxation() -> None:
    """Ten a fit and two b: two teams of one each, or what stands alone."""
    instance = build(
        *nodes(1, 12),
        node("g", kind="gpu", capacity={"gpu": 2}),
        workloads=[workload("a", 9, {"cpu": 1}), workload("b", 9, {"gpu": 1})],
        teams=(team("t", 9, {"a": 1, "b": 1}, 1),),
    )
    assert found(instance, model("placed")) == (4,)
    assert brute_force(instance, model("placed")).values == (4,)


def test_an_exhausted_budget_leaves_what_totals_say() -> None:
    instance, goals = CASES["cost"]
    budget = Limits(60.0).start()
    budget.interrupt()
    compiled = compile_instance(instance, goals)
    assert bounds(compiled, budget) == (level_bound(compiled, goals.levels[0]),)


def test_instances_without_members_or_nodes_have_bounds() -> None:
    for instance in (build(), build(*nodes(1, 4)), build(workloads=[workload("a", 2)])):
        for goal in (*GOALS, GoalId.P99):
            assert found(instance, model(str(goal))) == ((1 if goal is GoalId.FAIRNESS else 0),), goal


IGNORABLE = [family for family in Family if family not in {Family.ASSIGNMENT, Family.SHARES, Family.CAPACITY}]


def checked(seeds: range, *, bent: bool) -> Counter[GoalId]:
    """Compare bounds with brute force, with and without the values reached; goals met."""
    met: Counter[GoalId] = Counter()
    for seed in seeds:
        case = random_case(seed, bent=bent)
        instance = instance_from_dict(case.document)
        left_out = rng.sample(IGNORABLE, 2) if (rng := random.Random(seed)).random() < 0.25 else []
        goals = replace(case.model, ignore=frozenset(left_out))
        try:
            truth = brute_force(instance, goals)
        except TooMany:
            continue
        if not truth.feasible:
            continue
        reached = tuple(
            value if isinstance(value, Fraction) else Fraction(value) * (1 + F(level.sense == "min" or -1, 10**6))
            for level, value in zip(case.model.levels, truth.values, strict=True)
        )
        for kept in ((), reached):
            answer = found(instance, goals, kept)
            for level, value, bound in zip(goals.levels, truth.values, answer, strict=True):
                assert bound is None or isinstance(bound, Fraction)
                if isinstance(value, Fraction) and bound is not None:
                    right = bound <= value if level.sense == "min" else bound >= value
                    assert right, f"seed {seed}, reached {kept}: {level} {value} {bound}"
                assert bound_is_valid(bound, value, level.sense), f"seed {seed}, reached {kept}: {level} {bound}"
        met.update(goal.id for level in case.model.levels for goal in level.goals)
    return met


@pytest.mark.parametrize("block", range(4))
def test_no_bound_is_better_than_the_optimum(block: int) -> None:
    assert set(checked(range(block, 320, 4), bent=False)) == set(GOALS)


@pytest.mark.parametrize("block", range(4))
def test_no_bound_is_better_than_the_optimum_where_functions_bend(block: int) -> None:
    assert GoalId.P99 in checked(range(block, 120, 4), bent=True)


@pytest.mark.bench
@pytest.mark.parametrize("block", range(8))
def test_no_bound_is_better_than_the_optimum_of_thousands(block: int) -> None:
    checked(range(1000 + block, 6000, 8), bent=False)
    checked(range(1000 + block, 2500, 8), bent=True)


@pytest.mark.parametrize("pattern", ["broadcast", "pairs"])
def test_rates_are_no_higher_than_uplinks_let_flows_through_that_have_no_choice(pattern: str) -> None:
    """Two askers of 3 tasks/s in a rack of their own; of 8 bit/s that answers take, the rack lets 2 through."""
    instance = build(
        group("rack", "r", *nodes(2, 9), uplink=Uplink(bandwidth=F(2))),
        node("g", kind="g", capacity={"cpu": 9}),
        workloads=[
            workload("ask", 2, {"cpu": 1}, require={"kind": ("k",)}, rate=3),
            workload("answer", 2, {"cpu": 1}, require={"kind": ("g",)}, rate=1),
        ],
        flows=(
            Flow("ask", "answer", "broadcast", rate=F(2))
            if pattern == "broadcast"
            else Flow("ask", "answer", "pairs", pairs=((0, 0, F(4)), (1, 1, F(4)))),
        ),
    )
    goals = model("throughput")
    (true,) = brute_force(instance, goals).values
    assert true == pytest.approx(2)
    assert found(instance, goals) == (2,)
    assert found(instance, replace(goals, ignore=frozenset({Family.FABRIC}))) == (8,)


def test_small_relaxations_are_there_when_the_time_is_up_but_not_when_interrupted() -> None:
    instance, goals = CASES["cost"]
    compiled = compile_instance(instance, goals)
    budget = Limits(1e-9).start()
    assert budget.exhausted
    assert bounds(compiled, budget) == found(instance, goals)
    budget.interrupt()
    assert bounds(compiled, budget) == (level_bound(compiled, goals.levels[0]),)
