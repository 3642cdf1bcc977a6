"""Every method where there is nothing to place, or nowhere to: an answer, never a fault."""

from __future__ import annotations

from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.model.entities import Model
from allocator.plan.result import Result, Status, TerminationReason
from allocator.solvers.registry import METHODS
from tests.builders import model

NODE = {"level": "node", "name": "n", "capacity": {"cpu": 4}}
CLASS = {"class": "a", "count": 3, "requests": {"cpu": 1}}
NOBODY: dict[str, tuple[list[Any], list[Any]]] = {
    "neither": ([], []),
    "no classes": ([NODE], []),
    "a class without members": ([NODE], [{**CLASS, "count": 0}]),
}
NOWHERE: dict[str, tuple[list[Any], list[Any]]] = {
    "no nodes": ([], [CLASS]),
    "a rack without nodes": ([{"level": "rack", "name": "r", "children": []}], [CLASS]),
}
ALL = ("auto", *METHODS)
TALKER = {
    "class": "a",
    "count": 2,
    "requests": {"cpu": 1},
    "work": {"rate": "1/s", "cpu": "200 ms"},
    "slo": {"p99": "2 s"},
}
TALK = {"teams": [{"team": "t", "members": {"a": 2}, "traffic": {"pattern": "all-to-all", "rate": "1 Mbit/s"}}]}
PAIRS = {"flows": [{"from": "a", "to": "a", "pattern": "ring", "rate": "1 Mbit/s"}]}
EMPTY = {"level": "rack", "name": "empty", "children": [], "uplink": {"bandwidth": "1 Gbit/s", "latency": "1 ms"}}


def run(topology: list[Any], workloads: list[Any], goals: Model, method: str, **more: Any) -> Result:
    tree = {"format": "allocator/v1", "name": "nothing", "topology": topology, "workloads": workloads, **more}
    iterations = 5 if method == "lns" else None
    return solve(instance_from_dict(tree), goals, method=method, time_limit=20, iterations=iterations, threads=1)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("case", NOBODY)
@pytest.mark.parametrize("goal", ["placed", "cost"])
def test_nobody_to_place(goal: str, case: str, method: str) -> None:
    result = run(*NOBODY[case], model(goal), method)
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert result.termination.reason is not TerminationReason.TIME_LIMIT
    assert result.levels[0].value == 0


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("case", NOWHERE)
def test_nowhere_to_place_who_may_be_left_out(case: str, method: str) -> None:
    result = run(*NOWHERE[case], model("placed"), method)
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert result.levels[0].value == 0
    assert result.plan is not None
    assert sum(group.count for group in result.plan.unplaced) == 3


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("case", NOWHERE)
def test_nowhere_to_place_who_must_stand(case: str, method: str) -> None:
    result = run(*NOWHERE[case], model("cost"), method)
    assert result.plan is None
    assert result.status in (Status.INFEASIBLE, Status.UNKNOWN)


@pytest.mark.parametrize("method", ["auto", "milp", "lns"])
@pytest.mark.parametrize("traffic", [TALK, PAIRS])
@pytest.mark.parametrize("goal", ["traffic", "throughput"])
def test_nowhere_to_talk(goal: str, traffic: dict[str, Any], method: str) -> None:
    result = run([EMPTY], [TALKER], model(goal), method, **traffic)
    assert result.plan is None
    assert result.status in (Status.INFEASIBLE, Status.UNKNOWN)


@pytest.mark.parametrize("method", ["auto", "milp", "lns"])
@pytest.mark.parametrize("traffic", [TALK, PAIRS])
@pytest.mark.parametrize("reachable", [True, False])
def test_talking_beside_a_rack_without_nodes(reachable: bool, traffic: dict[str, Any], method: str) -> None:
    talker = TALKER if reachable else {**TALKER, "placement": {"require": {"kind": "none"}}}
    node = {**NODE, "uplink": {"bandwidth": "1 Gbit/s"}}
    result = run([node, EMPTY], [talker], model("throughput"), method, **traffic)
    assert (result.plan is not None) is reachable
    if reachable:
        assert result.levels[0].value == 2
