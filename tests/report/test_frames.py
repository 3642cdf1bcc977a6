"""Frames hold every member, every use and every class of a result, in base units."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest

from allocator.checker import check
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import PlacedGroup, Plan, UnplacedGroup
from allocator.plan.result import LevelOutcome, Result, Status, Termination, TerminationReason
from allocator.report.frames import classes_frame, links_frame, placements_frame, utilization_frame

GIB = 2**30


@pytest.fixture
def instance() -> Instance:
    node = {"level": "node", "count": 2, "name": "n", "capacity": {"cpu": 2, "memory": "4 GiB"}}
    document = {
        "format": "allocator/v1",
        "name": "frames",
        "topology": [{**node, "uplink": {"bandwidth": "1 Gbit/s"}}],
        "workloads": [
            {"class": "b", "count": 3, "requests": {"cpu": "500m", "memory": "1 GiB"}},
            {"class": "a", "count": 2, "requests": {"cpu": 1}},
        ],
        "flows": [{"from": "a", "to": "a", "pattern": "broadcast", "rate": "100 Mbit/s"}],
    }
    return instance_from_dict(document)


@pytest.fixture
def result(instance: Instance) -> Result:
    floors = {workload.name: workload.modes[0].default.requests for workload in instance.workloads}
    plan = Plan(
        instance.name,
        instance.digest,
        (
            PlacedGroup("a", 0, 2, "default", ("n0", "n1"), floors["a"]),
            PlacedGroup("b", 0, 2, "default", ("n0",), floors["b"]),
        ),
        unplaced=(UnplacedGroup("b", 2, 1, "no room"),),
    )
    model = Model("test", "", (Level((Goal(GoalId.PLACED),)),))
    evaluation = check(instance, model, plan)
    assert evaluation.feasible
    levels = (LevelOutcome(model.levels[0], evaluation.levels[0], Fraction(5)),)
    termination = Termination(TerminationReason.TIME_LIMIT)
    return Result(Status.FEASIBLE, termination, levels, (), plan, evaluation, "greedy", "test", 0, 1, {})


def test_placements_have_a_row_a_member_in_the_instances_order(result: Result, instance: Instance) -> None:
    frame = placements_frame(result, instance)
    assert list(zip(frame["class"], frame["member"], strict=True)) == [("b", 0), ("b", 1), ("b", 2), ("a", 0), ("a", 1)]
    assert frame["node"].tolist()[:2] == ["n0", "n0"]
    assert frame["node"].tolist()[3:] == ["n0", "n1"]
    assert pd.isna(frame.loc[2, "node"])
    assert frame.loc[2, "reason"] == "no room"


def test_shares_are_in_base_units(result: Result, instance: Instance) -> None:
    frame = placements_frame(result, instance)
    assert frame["cpu"].tolist()[:2] == [0.5, 0.5]
    assert frame["memory"].tolist()[:2] == [GIB, GIB]
    assert pd.isna(frame.loc[2, "cpu"])
    assert "cpu" not in placements_frame(result).columns


def test_utilisation_links_and_classes(result: Result) -> None:
    use = utilization_frame(result).set_index(["domain", "resource"])
    assert use.loc[("n0", "cpu"), "utilization"] == 1.0
    assert use.loc[("n1", "memory"), "used"] == 0
    links = links_frame(result).set_index(["domain", "direction"])
    assert links.loc[("n0", "up"), "offered"] == 100e6
    assert links.loc[("n0", "up"), "load"] == 0.1
    classes = classes_frame(result).set_index("class")
    assert classes.loc["b", "placed"] == 2
    assert classes.loc["b", "count"] == 3
    assert classes["p99"].isna().all()
    assert classes["target"].isna().all()


def test_response_times_stand_beside_their_targets(result: Result) -> None:
    assert result.evaluation is not None
    first, *rest = result.evaluation.classes
    timed = replace(first, p99=Fraction(3, 2), target=Fraction(2))
    classes = classes_frame(replace(result, evaluation=replace(result.evaluation, classes=(timed, *rest))))
    assert classes.loc[0, ["p99", "target"]].tolist() == [1.5, 2.0]


def test_a_result_without_a_plan_has_no_frames() -> None:
    termination = Termination(TerminationReason.TIME_LIMIT)
    nothing = Result(Status.UNKNOWN, termination, (), (), None, None, "greedy", "test", 0, 1, {})
    for frame in (placements_frame, utilization_frame, links_frame, classes_frame):
        with pytest.raises(ValueError, match="no plan"):
            frame(nothing)
