"""What keeps members from their offer: told by cause, and all causes together are what is missing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from allocator.checker import check
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId, sense_of
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup
from allocator.plan.result import GoalOutcome, LevelOutcome, Result, Status, Termination, TerminationReason
from allocator.report.inventory import describe, inventory_document
from allocator.report.loads import overload_warning
from allocator.report.offers import parallel_notes
from allocator.report.summary import summarize
from allocator.report.summary.shortfall import missing_tasks

MODEL = Model("test", "", (Level((Goal(GoalId.THROUGHPUT),)),))
PARALLEL = "parallel: at most 1 core of cpu at a time"
TRAFFIC = "bandwidth: links grant less than is offered"


def two_nodes(work: dict[str, Any], uplink: str = "1 Gbit/s", **more: Any) -> Instance:
    node = {"level": "node", "name": "node", "count": 2, "capacity": {"cpu": 8, "memory": "8 GiB"}}
    return instance_from_dict(
        {
            "format": "allocator/v1",
            "name": "two",
            "topology": [{**node, "uplink": {"bandwidth": uplink}}],
            "workloads": [{"class": "web", "count": 2, "requests": {"cpu": 1}, "work": work, **more}],
            "flows": [{"from": "web", "to": "web", "pattern": "spread", "rate": "2 Gbit/s"}],
        }
    )


def judged(instance: Instance, cores: Fraction | int, granted: Fraction = Fraction(1), placed: int = 2) -> Result:
    """``placed`` members on a node each with so many cores; the flow is granted so much."""
    exponent = instance.resources["cpu"].exponent
    shares = {**instance.workloads[0].modes[0].default.requests, "cpu": int(Fraction(cores) / Fraction(10) ** exponent)}
    group = PlacedGroup("web", 0, placed, "default", ("node0", "node1")[:placed], shares)
    left = (UnplacedGroup("web", placed, 2 - placed, "none"),) if placed < 2 else ()
    plan = Plan(instance.name, instance.digest, (group,), (FlowGrant("web", "web", granted),), left)
    evaluation = check(instance, MODEL, plan)
    goals = tuple(GoalOutcome(goal, sense_of(goal), value, None) for goal, value in evaluation.goals.items())
    levels = (LevelOutcome(MODEL.levels[0], evaluation.levels[0], None),)
    end = Termination(TerminationReason.TIME_LIMIT)
    return Result(Status.FEASIBLE, end, levels, goals, plan, evaluation, "milp", "test", 0, 1, {})


@pytest.mark.parametrize(
    ("work", "more", "plan", "missing"),
    [
        ({"rate": "4/s", "cpu": "500 ms"}, {}, (2,), {PARALLEL: 4}),
        ({"rate": "4/s", "cpu": "500 ms", "parallel": 2}, {}, (2,), {}),
        ({"rate": "4/s", "cpu": "500 ms", "parallel": 8}, {}, (1,), {"cpu: shares too small": 4}),
        (
            {"rate": "4/s", "cpu": "500 ms", "parallel": 8},
            {"limits": {"cpu": 1}},
            (1,),
            {"limits: at most 1 core of cpu": 4},
        ),
        ({"rate": "4/s", "cpu": "500 ms", "parallel": 2}, {}, (2, Fraction(1, 4)), {TRAFFIC: 6}),
        ({"rate": "4/s", "cpu": "500 ms"}, {}, (2, Fraction(1, 4)), {PARALLEL: 4, TRAFFIC: 2}),
        ({"rate": "4/s", "cpu": "500 ms"}, {}, (2, Fraction(1), 1), {PARALLEL: 2, "not placed": 4}),
        (
            {"rate": "4/s", "memory": "2 GiB", "residence": "1 s"},
            {"requests": {"memory": "4 GiB"}},
            (1,),
            {"memory: shares too small": 4},
        ),
    ],
)
def test_causes_add_up_to_what_is_missing(
    work: dict[str, Any], more: dict[str, Any], plan: tuple[Any, ...], missing: dict[str, int]
) -> None:
    instance = two_nodes(work, **more)
    result = judged(instance, *plan)
    assert result.evaluation is not None
    found = missing_tasks(result, instance)
    assert found == {("web", why): lost for why, lost in missing.items()}
    outcome = result.evaluation.classes[0]
    assert outcome.offered is not None
    assert sum(found.values()) == outcome.offered - (outcome.rate or 0)
    text = summarize(result, instance)
    assert all(f" {lost}  {why}" in text for why, lost in missing.items())
    assert ("Offered and not completed" in text) == bool(missing)


def test_what_rounding_of_shares_takes_is_not_told() -> None:
    instance = two_nodes({"rate": "3/s", "cpu": "300 ms", "parallel": 2})
    unit = Fraction(10) ** instance.resources["cpu"].exponent
    result = judged(instance, Fraction(9, 10) - unit)
    assert missing_tasks(result, instance)
    assert "Offered and not completed" not in summarize(result, instance)


def test_rates_that_say_nothing_are_not_explained() -> None:
    """A model that ignores rates completes all; without a rate goal nothing is granted, which is no fault of links."""
    instance = two_nodes({"rate": "4/s", "cpu": "500 ms"})
    result = judged(instance, 2)
    assert "Offered and not completed" not in summarize(replace(result, ignored=("rates",)), instance)
    assert "Offered and not completed" not in summarize(replace(result, goals=()), instance)


def test_a_class_that_parallel_holds_back_everywhere_is_noted() -> None:
    held = two_nodes({"rate": "4/s", "cpu": "500 ms"})
    (note,) = parallel_notes(held)
    assert note == (
        "web: a member uses at most 1 core of cpu at a time (parallel, 1 if not stated), which completes 2 of the "
        "4 tasks/s it is offered"
    )
    assert "To note" in describe(held)
    assert inventory_document(held)["notes"] == [note]
    for work in (
        {"rate": "4/s", "cpu": "500 ms", "parallel": 2},
        {"rate": "2/s", "cpu": "500 ms"},
        {"rate": "4/s", "memory": "1 GiB", "residence": "1 s"},
    ):
        assert parallel_notes(two_nodes(work)) == ()
        assert "To note" not in describe(two_nodes(work))


def test_a_kind_of_node_that_is_fast_enough_leaves_nothing_to_note() -> None:
    by_kind = {"node": {"work": {"cpu": "100 ms"}}}
    assert parallel_notes(two_nodes({"rate": "4/s", "cpu": "500 ms"}, by_kind=by_kind)) == ()


def test_links_over_their_bandwidth_are_warned_of() -> None:
    result = judged(two_nodes({"rate": "1/s", "cpu": "500 ms"}), 1, Fraction(1, 4))
    assert result.evaluation is not None
    said = overload_warning(result.evaluation)
    assert said is not None
    assert said.startswith("4 of 4 link directions are offered more than they carry, most of all node0 up (200 %)")
    assert said.endswith("tasks per second count what gets through")
    uncounted = overload_warning(replace(result.evaluation, goals={GoalId.PLACED: Fraction(2)}))
    assert uncounted is not None
    assert "no goal of this model counts" in uncounted
    wide = judged(two_nodes({"rate": "1/s", "cpu": "500 ms"}, uplink="2 Gbit/s"), 1)
    assert wide.evaluation is not None
    assert overload_warning(wide.evaluation) is None


def test_a_link_that_carries_nothing_is_the_worst() -> None:
    result = judged(two_nodes({"rate": "1/s", "cpu": "500 ms"}, uplink="0 bit/s"), 1, Fraction(0))
    assert result.evaluation is not None
    assert "(nothing can cross)" in str(overload_warning(result.evaluation))
