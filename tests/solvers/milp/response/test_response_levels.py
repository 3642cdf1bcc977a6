"""Levels of response times in ``milp``: tolerance kept, worst by bisection, later levels keep what was reached."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Linearization, Model, Slack
from allocator.model.families import GoalId
from allocator.plan.result import Result, Status, TerminationReason
from tests.builders import model

P99, WORST = Goal(GoalId.P99), Goal(GoalId.P99, worst=True)


def cluster(classes: int, nodes: int, seed: int = 0, **slo: Any) -> Instance:
    """Critical classes of many members on nodes of two sizes, at 60 % load."""
    rng = random.Random(seed)
    leaves = [
        {"level": "node", "name": f"n{i}", "kind": "ab"[i % 2], "capacity": {"cpu": 32 << (i % 2)}}
        for i in range(nodes)
    ]
    total = sum(leaf["capacity"]["cpu"] for leaf in leaves)
    workloads = []
    for number in range(classes):
        rate, work = rng.choice([1, 2, 5]), rng.choice([50, 100, 200, 400])
        workloads.append(
            {
                "class": f"c{number}",
                "count": max(1, int(0.6 * total / classes / (rate * work / 1000))),
                "weight": rng.choice([1, 2, 5]),
                "requests": {"cpu": 0},
                "work": {"rate": f"{rate}/s", "cpu": f"{work} ms", "parallel": 8},
                "slo": {"critical": True, **slo},
            }
        )
    topology = [{"level": "rack", "name": "r", "children": leaves}]
    return instance_from_dict({"format": "allocator/v1", "name": "c", "topology": topology, "workloads": workloads})


def answer(instance: Instance, *levels: Level, tolerance: Fraction = Fraction(1, 100)) -> Result:
    asked = Model("m", "", levels, linearization=Linearization(tolerance))
    return solve(instance, asked, method="milp", time_limit=120.0, seed=0, threads=1)


def test_ten_classes_on_sixteen_nodes_are_within_one_percent_with_few_rows() -> None:
    result = answer(cluster(10, 16), Level((P99,)))
    assert result.status is Status.FEASIBLE
    assert result.termination.reason is TerminationReason.GAP
    (level,) = result.levels
    assert level.gap is not None
    assert 0 < level.gap <= Fraction(1, 100)
    assert result.linearization is not None
    assert 0 < result.linearization.measured <= result.linearization.max_relative_error <= Fraction(1, 100)
    assert result.size["constraints"] is not None
    assert result.size["constraints"] <= 2_000, "pooled by node, not a grid for every entry"


@pytest.mark.parametrize("goal", [P99, WORST], ids=["sum", "worst"])
def test_a_finer_tolerance_gives_a_better_bound_and_no_worse_plan_than_a_coarse_one_claims(goal: Goal) -> None:
    instance = cluster(3, 4)
    coarse = answer(instance, Level((goal,)), tolerance=Fraction(1, 10)).levels[0]
    fine = answer(instance, Level((goal,)), tolerance=Fraction(1, 1000)).levels[0]
    assert fine.gap is not None
    assert fine.gap <= Fraction(1, 1000)
    assert coarse.bound is not None
    assert fine.value is not None
    assert fine.bound is not None
    assert coarse.value is not None
    assert coarse.bound <= fine.value * (1 + Fraction(1, 10**9))
    assert fine.bound <= coarse.value * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("goal", [P99, WORST], ids=["sum", "worst"])
@pytest.mark.parametrize("slack", [Fraction(0), Fraction(1, 10)], ids=["none", "10 %"])
def test_a_later_level_keeps_what_was_truly_reached(goal: Goal, slack: Fraction) -> None:
    """Few nodes cost response times: the goal ``nodes`` may take its slack and no more."""
    instance = cluster(2, 3)
    alone = answer(instance, Level((goal,))).levels[0].value
    both = answer(instance, Level((goal,), Slack(slack, relative=True)), Level((Goal(GoalId.NODES),)))
    assert alone is not None
    kept = both.levels[0].value
    assert kept is not None
    assert both.levels[0].bound is not None
    assert kept <= max(alone, both.levels[0].bound * Fraction(101, 100)) * (1 + slack)


def test_the_worst_response_time_is_found_to_the_last_unit() -> None:
    """Two members on one node of 1 core: an even split, and the bound says that nothing is below."""
    whole = {
        "format": "allocator/v1",
        "name": "two",
        "topology": [{"level": "node", "name": "n", "capacity": {"cpu": 1}}],
        "workloads": [
            {
                "class": "c",
                "count": 2,
                "requests": {"cpu": "100m"},
                "work": {"rate": "1/s", "cpu": "200 ms"},
                "slo": {"critical": True},
            }
        ],
    }
    result = answer(instance_from_dict(whole), Level((WORST,)), tolerance=Fraction(1, 10**6))
    assert result.status is Status.OPTIMAL
    assert float(result.levels[0].value or 0) == pytest.approx(4.605170185988091 / (0.5 / 0.2 - 1), rel=1e-12)


def test_a_plan_that_totals_prove_needs_no_search() -> None:
    """Three members with a node each are as fast as they can be: value and bound are equal, exactly."""
    whole = {
        "format": "allocator/v1",
        "name": "loose",
        "topology": [{"level": "node", "name": f"n{i}", "capacity": {"cpu": 4}} for i in range(3)],
        "workloads": [
            {
                "class": "c",
                "count": 3,
                "requests": {"cpu": 1},
                "work": {"rate": "1/s", "cpu": "200 ms"},
                "slo": {"critical": True},
            }
        ],
    }
    result = solve(instance_from_dict(whole), model("placed", "p99"), method="auto", threads=1)
    assert result.status is Status.OPTIMAL
    assert result.levels[1].value == result.levels[1].bound
    assert float(result.levels[1].value or 0) == pytest.approx(3 * 4.605170185988091 / 4)
