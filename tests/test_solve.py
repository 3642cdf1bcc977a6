"""The one call: arguments refused with a fix, warm starts judged, claims compared with the checker, empty instances."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from allocator import result_document, solve
from allocator.checker import check
from allocator.errors import ArgumentError, ClaimMismatch
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.plan.result import Result, Status, TerminationReason
from allocator.solvers.base import Answer
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.greedy import GreedyMethod
from allocator.solvers.recorder import Event
from tests.builders import build, model, node, plan, workload

METHODS = ["auto", "milp", "cpsat", "greedy"]
EXACT = ["auto", "milp", "cpsat"]
F = Fraction


def two_nodes(**fields: Any) -> Instance:
    """Three members on nodes of price 1 (room for two) and 2."""
    nodes = [node("n", capacity={"cpu": 2}), node("m", kind="dear", capacity={"cpu": 9})]
    return build(*nodes, workloads=[workload("a", 3, {"cpu": 1}, cost={"k": F(1), "dear": F(2)})], **fields)


def solved(instance: Instance, *goals: str, **arguments: Any) -> Result:
    return solve(instance, model(*goals), threads=1, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gap": -0.1}, r"gap = -0\.1: must be at least 0"),
        ({"gap": 1}, "gap = 1: must be at least 0 and less than 1"),
        ({"gap": math.nan}, "gap = nan"),
        ({"threads": 0}, "threads = 0: must be at least 1"),
        ({"time_limit": 0}, "time limit = 0: must be more than 0 seconds"),
        ({"time_limit": math.nan}, "time limit = nan"),
        ({"time_limit": "5s"}, "time limit = '5s': must be a number of seconds"),
        ({"iterations": -1}, "iterations = -1: must be a whole number of at least 0"),
        ({"iterations": 1.5}, r"iterations = 1\.5: must be a whole number"),
        ({"gap": "1 %"}, "gap = '1 %': must be a number"),
        ({"tolerance": "1 %"}, "tolerance = '1 %': must be a number"),
        ({"tolerance": 0}, "tolerance = 0: must lie between 0 and 1"),
        ({"tolerance": 1.5}, r"tolerance = 1\.5"),
        ({"method": "tabu"}, "method = tabu: unknown; the methods are auto"),
    ],
)
def test_a_wrong_argument_is_refused_with_its_value_and_what_would_be_right(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        solve(two_nodes(), model("cost"), **arguments)


@pytest.mark.parametrize("tolerance", [0.05, F(1, 20), np.float64(0.05), np.float32(0.05)])
def test_a_ratio_may_be_any_number(tolerance: Any) -> None:
    """Exact or of numpy: the decimal that it prints as counts."""
    result = solved(two_nodes(), "cost", tolerance=tolerance, gap=tolerance, time_limit=np.int64(60))
    assert result.levels[0].value == 4


def test_a_model_comes_from_the_call_or_the_instance_and_there_must_be_one() -> None:
    with pytest.raises(ArgumentError, match="no model"):
        solve(two_nodes())
    assert solve(two_nodes(model="cost"), threads=1).model == "cost"
    assert solve(two_nodes(model="cost"), model("nodes"), threads=1).model == "test"
    assert solve(two_nodes(), "cost", threads=1).levels[0].value == 4


@pytest.mark.parametrize("method", METHODS)
def test_a_result_is_whole_and_its_values_are_the_checkers(method: str) -> None:
    instance = two_nodes()
    result = solved(instance, "cost", "nodes", method=method)
    assert result.plan is not None
    assert result.evaluation == check(instance, model("cost", "nodes"), result.plan)
    assert tuple(level.value for level in result.levels) == result.evaluation.levels
    assert [goal.value for goal in result.goals] == list(result.evaluation.goals.values())
    assert result.method == method
    assert set(result.seconds) == {"read", "compile", "build", "solve", "check", "total"}
    assert all(seconds >= 0 for seconds in result.seconds.values())
    parts = sum(result.seconds[name] for name in ("compile", "build", "solve", "check"))
    assert parts <= result.seconds["total"] + 0.05
    assert result.size["members"] == 3
    assert result.size["nodes"] == 2
    if method in EXACT:
        assert result.status is Status.OPTIMAL
        assert [level.gap for level in result.levels] == [0, 0]


def test_a_bound_of_a_goal_is_that_of_its_level_over_its_weight() -> None:
    goals = model("cost", "nodes")
    heavy = replace(goals.levels[0].goals[0], weight=F(5, 2))
    levels = (replace(goals.levels[0], goals=(heavy,)), *goals.levels[1:])
    result = solve(two_nodes(), replace(goals, levels=levels), method="milp", threads=1)
    assert (result.levels[0].bound, result.goals[0].bound) == (10, 4)
    assert result.goals[0].value == 4


def test_a_feasible_warm_start_is_never_lost_and_an_infeasible_one_is_named_and_left() -> None:
    heard: list[Event] = []
    instance = two_nodes()
    good = plan(instance, {"a": ["n", "n", "m"]})
    kept = solved(instance, "cost", method="greedy", warm_start=good, listeners=[heard.append])
    assert kept.levels[0].value == 4
    assert "warm start accepted, first level 4" in [event.text for event in heard]
    bad = plan(instance, {"a": ["n", "n", "n"]})
    left = solved(instance, "cost", method="milp", warm_start=bad, listeners=[heard.append])
    assert left.status is Status.OPTIMAL
    assert any(event.text.startswith("warm start not used: cpu: 0.003 cores used") for event in heard)


class Liar(GreedyMethod):
    """A method whose answer a test spoils."""

    def __init__(self, **spoilt: Any) -> None:
        self.spoilt = spoilt

    def solve(self, *arguments: Any, **named: Any) -> Answer:
        return replace(super().solve(*arguments, **named), **self.spoilt)


def with_method(monkeypatch: pytest.MonkeyPatch, method: GreedyMethod) -> None:
    monkeypatch.setattr("allocator.solvers.auto.choose", lambda name: method)


class Watch(GreedyMethod):
    """Notes when its time ends."""

    ends: float | None = None

    def solve(self, *arguments: Any, **named: Any) -> Answer:
        self.ends = named["budget"].limits.seconds
        return super().solve(*arguments, **named)


def test_a_method_ends_before_the_limit_so_that_the_plan_can_be_checked() -> None:
    watch = Watch()
    solved(two_nodes(), "placed", method=watch, time_limit=30)
    assert watch.ends is not None
    assert 15 <= watch.ends < 30
    solved(two_nodes(), "placed", method=watch, time_limit=None)
    assert watch.ends is None


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ((F(3), F(2)), "claims 3 for level 1, the checker finds 4"),
        ((F(4), None), "claims nothing for level 2"),
        ((F(4) + F(1, 10**8), F(2)), "for level 1"),
    ],
)
def test_a_claim_that_the_checker_does_not_confirm_is_an_error(
    claims: Sequence[Fraction | None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_method(monkeypatch, Liar(claims=tuple(claims)))
    with pytest.raises(ClaimMismatch, match=message):
        solved(two_nodes(), "cost", "nodes")


def test_a_plan_that_breaks_a_constraint_is_an_error_and_never_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from allocator.solvers.base import Assignment

    with_method(monkeypatch, Liar(assignment=Assignment({(0, 0, 0): 3})))
    with pytest.raises(ClaimMismatch, match="breaks capacity at n: cpu"):
        solved(two_nodes(), "cost", "nodes")


@pytest.mark.parametrize("method", METHODS)
def test_a_running_budget_is_used_as_it_is_with_the_time_already_spent(method: str) -> None:
    budget = Limits(30.0).start(spent=7.0)
    result = solve(two_nodes(), model("cost"), method=method, threads=1, time_limit=0.001, budget=budget)
    assert result.seconds["total"] >= 7
    assert result.seconds["read"] >= 6.9
    assert result.plan is not None


NOWHERE = [{"level": "node", "name": "n", "kind": "k", "capacity": {"cpu": 1}}]
SOMEBODY = [{"class": "a", "count": 2, "requests": {"cpu": "1"}}]


def document(topology: list[Any], workloads: list[Any]) -> dict[str, Any]:
    return {"format": "allocator/v1", "name": "bare", "topology": topology, "workloads": workloads}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("goals", [("cost",), ("placed", "nodes"), ("throughput",), ("fairness",), ("peak", "moves")])
@pytest.mark.parametrize("topology", [[], NOWHERE], ids=["no nodes", "a node"])
def test_without_workloads_the_value_is_that_of_doing_nothing(
    topology: list[Any], goals: tuple[str, ...], method: str
) -> None:
    """Case 24: 0 for every goal but fairness, of which nobody lacks anything."""
    result = solved(instance_from_dict(document(topology, [])), *goals, method=method)
    assert [level.value for level in result.levels] == [1 if goal == "fairness" else 0 for goal in goals]
    assert result.plan is not None
    assert result.plan.placements == result.plan.unplaced == ()
    assert result.status is (Status.OPTIMAL if method in EXACT else Status.FEASIBLE)
    written = json.loads(json.dumps(result_document(result, instance_from_dict(document(topology, [])))))
    assert written["violations"] == []
    assert written["size"]["members"] == 0


@pytest.mark.parametrize("method", EXACT)
def test_members_without_a_node_are_infeasible_with_a_reason_or_left_out_where_that_is_allowed(method: str) -> None:
    instance = instance_from_dict(document([], SOMEBODY))
    stuck = solved(instance, "cost", method=method)
    assert stuck.status is Status.INFEASIBLE
    assert stuck.termination.reason is TerminationReason.INFEASIBLE
    assert stuck.infeasibility is not None
    assert stuck.infeasibility.reasons
    allowed = solved(instance, "placed", method=method)
    assert allowed.status is Status.OPTIMAL
    assert allowed.levels[0].value == 0
    assert allowed.plan is not None
    assert [(group.workload, group.count) for group in allowed.plan.unplaced] == [("a", 2)]


@pytest.mark.parametrize("method", METHODS)
def test_classes_of_no_members_are_like_no_classes(method: str) -> None:
    instance = instance_from_dict(document(NOWHERE, [{"class": "a", "count": 0, "requests": {"cpu": "1"}}]))
    result = solved(instance, "cost", "throughput", method=method)
    assert [level.value for level in result.levels] == [0, 0]


def test_the_same_call_gives_the_same_plan() -> None:
    first, second = (solved(two_nodes(), "cost", "nodes", method="milp", seed=3) for _ in range(2))
    assert first.plan == second.plan
    assert first.levels == second.levels
