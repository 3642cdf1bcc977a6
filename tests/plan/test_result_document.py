"""The JSON document of a result: keys in the stated order, null for what is missing, no infinity anywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

from allocator.checker import check, check_claims
from allocator.instance.entities import Instance, Uplink
from allocator.model.entities import Level, Slack
from allocator.plan.document import result_document
from allocator.plan.entities import Plan
from allocator.plan.result import (
    Bottleneck,
    GoalOutcome,
    Headroom,
    Infeasibility,
    LevelOutcome,
    LinearizationCertificate,
    Result,
    Status,
    Termination,
    TerminationReason,
)
from tests.builders import build, model, node, plan, team, workload

F = Fraction
KEYS = [
    "status termination goals levels linearization violations ignored infeasibility method model seed threads seconds",
    "peak_memory_mib size utilization classes bottlenecks headroom plan",
]
MODEL = model("placed", "traffic")


def case() -> tuple[Instance, Plan]:
    instance = build(
        node("x", capacity={"cpu": 3000, "gpu": 0}, uplink=Uplink(bandwidth=F(40))),
        node("y", capacity={"cpu": 1000}, uplink=Uplink(bandwidth=F(80))),
        workloads=[workload("a", 3, {"cpu": 500}, rate=2)],
        teams=(team("t", 1, {"a": 2}, 10),),
    )
    return instance, plan(instance, {"a": ["x", "y", None]}, grants={"t/0": 1})


def solved() -> tuple[Instance, Result]:
    instance, found = case()
    evaluation = check(instance, MODEL, found)
    levels = tuple(
        LevelOutcome(level, value, bound)
        for level, value, bound in zip(MODEL.levels, evaluation.levels, (F(3), None), strict=True)
    )
    goals = tuple(
        GoalOutcome(level.goals[0].id, level.sense, value, None)
        for level, value in zip(MODEL.levels, evaluation.levels, strict=True)
    )
    return instance, Result(
        status=Status.FEASIBLE,
        termination=Termination(TerminationReason.TIME_LIMIT, "60 s"),
        levels=levels,
        goals=goals,
        plan=found,
        evaluation=evaluation,
        method="greedy",
        model="test",
        seed=0,
        threads=2,
        seconds={"solve": 1.5, "check": float("inf")},
        bottlenecks=(Bottleneck("x", "cpu", F(1, 6), None),),
        headroom=Headroom(F(3, 2), "bound", "cpu"),
        size={"variables": 7},
    )


def test_keys_stand_in_the_stated_order_and_missing_is_null() -> None:
    instance, result = solved()
    document = result_document(result, instance)
    assert list(document)[: len(" ".join(KEYS).split())] == " ".join(KEYS).split()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["plan"] is None
    assert document["linearization"] is None
    assert document["peak_memory_mib"] is None
    assert document["seconds"] == {
        "read": None,
        "compile": None,
        "build": None,
        "solve": 1.5,
        "check": None,
        "total": None,
    }
    assert document["size"] == {"members": 3, "nodes": 2, "variables": 7, "constraints": None}
    assert document["goals"][1] == {"id": "traffic", "value": 40, "bound": None, "gap": None, "sense": "min"}
    assert document["levels"][0] == {"goals": {"placed": 1}, "value": 2, "bound": 3, "gap": 1 / 3, "slack": 0}
    assert document["headroom"] == {"copies": 1.5, "kind": "bound", "resource": "cpu"}
    assert document["bottlenecks"] == [{"domain": "x", "resource": "cpu", "utilization": 1 / 6, "price": None}]
    assert document["infeasibility"] == {"conflict": [], "relaxation": [], "reasons": []}
    assert result_document(result, instance, "p.json")["plan"] == "p.json"


def test_a_result_prints_as_a_line() -> None:
    """However large plan and instance are, and whatever is known."""
    _, result = solved()
    assert repr(result) == (
        "<Result feasible (time_limit), greedy, model test, 2 placed, levels value of bound: 2 of 3, 40 of ?>"
    )
    nothing = Result(
        Status.UNKNOWN, Termination(TerminationReason.TIME_LIMIT), (), (), None, None, "milp", "m", 0, 1, {}
    )
    assert repr(nothing) == "<Result unknown (time_limit), milp, model m, no plan, levels value of bound: none>"


def test_utilisation_and_classes_by_hand() -> None:
    """Node x 0.5 of 3 cores, y 0.5 of 1: mean 1/4, highest 1/2 at y; the team's 10 each way on 40 and 80."""
    instance, result = solved()
    document = result_document(result, instance)
    by_name = {(entry["level"], entry["resource"]): entry for entry in document["utilization"]}
    assert by_name["host", "cpu"] == {
        "level": "host",
        "resource": "cpu",
        "used": 1,
        "capacity": 4,
        "mean": 0.25,
        "max": 0.5,
        "where": "y",
    }
    assert by_name["host", "gpu"]["mean"] is None
    assert by_name["host", "gpu"]["where"] is None
    assert by_name["host", "uplink up"]["max"] == 0.25
    assert by_name["host", "uplink down"]["mean"] == 20 / 120
    assert document["classes"] == [
        {
            "class": "a",
            "count": 3,
            "placed": 2,
            "unplaced": 1,
            "rate": 4,
            "offered": 6,
            "p99": None,
            "target": None,
            "moved": None,
        }
    ]


def test_the_document_of_an_honest_result_has_no_mismatch() -> None:
    instance, result = solved()
    assert result.evaluation is not None
    assert check_claims(result.evaluation, result_document(result, instance)) == []


def test_violations_are_listed() -> None:
    instance, found = case()
    broken = check(instance, model("traffic"), found)
    result = replace(solved()[1], evaluation=broken)
    (violation,) = result_document(result, instance)["violations"]
    assert violation["family"] == "assignment"
    assert violation["amount"] is None


def test_no_plan_has_null_values() -> None:
    instance, _ = case()
    result = Result(
        status=Status.INFEASIBLE,
        termination=Termination(TerminationReason.INFEASIBLE),
        levels=tuple(LevelOutcome(level, None, None) for level in MODEL.levels),
        goals=(),
        plan=None,
        evaluation=None,
        method="milp",
        model="test",
        seed=0,
        threads=1,
        seconds={},
        infeasibility=Infeasibility(("too big",), ({"family": "capacity", "short": F(1, 2)},), ()),
        linearization=LinearizationCertificate(F(1, 100), F(0), "0 to 1"),
    )
    document = result_document(result, instance)
    assert document["levels"][0]["value"] is None
    assert document["utilization"] == document["classes"] == []
    assert document["infeasibility"]["conflict"] == [{"family": "capacity", "short": 0.5}]
    assert document["linearization"] == {"max_relative_error": 0.01, "measured": 0, "proven_over": "0 to 1"}


def test_slack_is_a_number_or_a_percentage() -> None:
    instance, result = solved()
    for slack, written in ((Slack(F(1, 100), True), "1 %"), (Slack(F(3, 2)), 1.5), (Slack(), 0)):
        level = Level(MODEL.levels[0].goals, slack)
        changed = replace(result, levels=(LevelOutcome(level, F(2), None),))
        assert result_document(changed, instance)["levels"][0]["slack"] == written


def test_response_times_are_shown_beside_their_target() -> None:
    instance, result = solved()
    assert result.evaluation is not None
    (outcome,) = result.evaluation.classes
    timed = replace(outcome, p99=F(1, 4), target=F(2))
    shown = result_document(replace(result, evaluation=replace(result.evaluation, classes=(timed,))), instance)
    assert (shown["classes"][0]["p99"], shown["classes"][0]["target"]) == (0.25, 2)
