"""Inputs that a search once failed at: spread beside filling, targets that no node meets, rates of nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.plan.result import Status
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.recorder import Recorder


def document(topology: list[dict[str, Any]], *workloads: dict[str, Any]) -> dict[str, Any]:
    return {"format": "allocator/v1", "topology": topology, "workloads": list(workloads)}


def searched(stated: dict[str, Any], model: str) -> Status:
    result = solve(
        instance_from_dict(stated), load_model(model), method="local-search", iterations=500, seed=0, threads=1
    )
    return result.status


def test_filling_leaves_out_who_would_break_a_spread() -> None:
    talker = {"class": "a0", "work": {"cpu": "3 s"}, "slo": {"p99": "100 ms"}}
    spread = {"class": "n", "count": 2, "placement": {"spread": {"level": "rack", "at_least": 2}}}
    assert searched(document([{"level": "rack", "name": "r0"}], talker, spread), "place-close") is Status.FEASIBLE


def test_a_target_that_asks_for_more_than_integers_hold() -> None:
    node = {"level": "rack", "name": "r0", "capacity": {"cpu": 8}}
    hurried = {"class": "a", "work": {"rate": 1, "cpu": "3 s"}, "slo": {"p99": "1 us"}}
    easy = {"class": "b", "requests": {"cpu": 1}}
    assert searched(document([node], hurried, easy), "place") is Status.FEASIBLE


def test_rates_of_a_class_without_members() -> None:
    node = {"level": "rack", "name": "r0", "capacity": {"cpu": 8}}
    nobody = {"class": "a", "count": 0, "work": {"rate": 5, "cpu": "10 ms"}}
    idle = {"class": "b", "requests": {"cpu": 1}}
    assert searched(document([node], nobody, idle), "throughput") in {Status.FEASIBLE, Status.OPTIMAL}


def test_better_places_are_offered_within_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allocator.solvers.heuristic.search.run.REPORT_SECONDS", 0.0)
    nodes = [{"level": "node", "name": f"n{k}", "capacity": {"cpu": 40}} for k in range(4)]
    costs = [
        {
            "class": f"c{k}",
            "requests": {"cpu": 3 + k % 5},
            "cost": {f"n{j}": (7 * k * j + 3 * j) % 11 for j in range(4)},
        }
        for k in range(20)
    ]
    compiled = compile_instance(instance_from_dict(document(nodes, *costs)), load_model("cost"))
    offered: list[Callable[[], Assignment | None]] = []
    budget = Limits(None, 4000).start()
    recorder = Recorder(budget.elapsed)
    recorder.keeper = offered.append
    search = Search(compiled, budget, recorder, 1, 1)
    found = search.run(None)
    assert found is not None
    plans = [plan for plan in (make() for make in offered) if plan is not None]
    assert len(plans) > 2, "the first placement, at least one better place, the end"
    assert plans[-1].counts == found.assignment.counts
