"""Each section of the summary has its facts: who stands, what is full, what moves, what runs out first."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.instance import instance_from_dict
from allocator.instance.entities import Conflict, Instance
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from allocator.plan.result import Bottleneck, Headroom, LevelOutcome
from allocator.report.summary import summarize
from tests.report.pair import DOCUMENT, GIB, lines_with, result_of


@pytest.fixture
def instance() -> Instance:
    return instance_from_dict(DOCUMENT)


def test_classes_are_placed_and_served(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED), instance)
    assert lines_with(text, "web", "3", "4")
    assert lines_with(text, "all", "5", "6")
    assert "tasks/s" not in text  # without a rate goal every flow is granted nothing: 0 tasks/s would mislead

    quiet = replace(instance, flows=())
    text = summarize(result_of(quiet, GoalId.PLACED, GoalId.THROUGHPUT), quiet)
    assert lines_with(text, "web", "3", "4", "6", "8", "75 %")
    assert lines_with(text, "store", "2", "2", "-")


def test_unplaced_members_have_a_reason_and_what_is_short(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED), instance)
    assert lines_with(text, "web", "1", "no node has room for it (short: 1 GiB of memory)")


def test_what_is_short_is_said_once(instance: Instance) -> None:
    result = result_of(instance, GoalId.PLACED)
    assert result.plan is not None
    said = replace(result.plan.unplaced[0], reason="rack0/node1 is 1 GiB of memory short")
    result = replace(result, plan=replace(result.plan, unplaced=(said,)))
    assert "(short:" not in summarize(result, instance)


def test_utilisation_names_the_fullest_domain(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED), instance)
    assert lines_with(text, "node", "cpu", "7 cores", "16 cores", "43.8 %", "75 %", "rack0/node0")


def test_the_hottest_uplinks_come_first(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED), instance)
    hottest = text.split("Hottest uplinks\n")[1].splitlines()[1]
    assert hottest.split()[:2] == ["rack0", "up"]
    assert "150 %" in hottest
    assert "2 of 5 link directions are offered more than they carry" in text
    assert "granted" not in text
    assert "granted" in summarize(result_of(instance, GoalId.PLACED, GoalId.THROUGHPUT), instance)


def test_watts_stand_against_the_cap(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED, GoalId.POWER), instance)
    assert "650 W drawn by 3 of 4 nodes in use" in text
    assert lines_with(text, "rack0", "450 W", "1 kW", "45 %")


def test_changes_against_the_current_placement(instance: Instance) -> None:
    result = result_of(instance, GoalId.PLACED)
    text = summarize(result, instance)
    assert "3 members of 5 running move, 1 are evicted; they leave 4 GiB of memory behind" in text
    assert lines_with(text, "web", "0", "3", "1", "0")
    assert lines_with(text, "store", "1", "0", "0", "1")
    assert "current placement" not in summarize(result, replace(instance, current=None))


def test_members_by_class_and_rack(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED), instance)
    table = text.split("Members by class and rack\n")[1].splitlines()
    assert table[0].split() == ["class", "rack0", "rack1"]
    assert table[1].split() == ["web", "3", "."]
    assert table[2].split() == ["store", "1", "1"]


def test_bottlenecks_have_a_price_where_one_is_known(instance: Instance) -> None:
    result = replace(
        result_of(instance, GoalId.PLACED),
        bottlenecks=(
            Bottleneck("rack0/node0", "memory", Fraction(9, 10), 2 / GIB),
            Bottleneck("rack0", "bandwidth", Fraction(3, 2), None),
        ),
    )
    text = summarize(result, instance)
    assert lines_with(text, "rack0/node0", "memory", "90 %", "2 per GiB")
    assert lines_with(text, "rack0", "bandwidth", "150 %", "-")


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        (GoalId.THROUGHPUT, "2 tasks/s per GiB"),
        (GoalId.P99, "2 s per GiB"),
        (GoalId.FAIRNESS, "200 % per GiB"),
        (GoalId.PLACED, "2 per GiB"),
    ],
)
def test_a_price_has_the_unit_of_the_goal_that_feels_it(goal: GoalId, told: str, instance: Instance) -> None:
    """That is the first level with a goal that rewards rates, whatever stands before it."""
    priced = (Bottleneck("rack0/node0", "memory", Fraction(9, 10), 2 / GIB),)
    result = replace(result_of(instance, GoalId.PLACED), bottlenecks=priced)
    levels = (*result.levels, LevelOutcome(Level((Goal(goal),)), Fraction(0), None))
    assert lines_with(summarize(replace(result, levels=levels), instance), "rack0/node0", f" {told}")
    sum_of_goals = Level((Goal(goal), Goal(GoalId.MOVES)))
    levels = (*result.levels, LevelOutcome(sum_of_goals, Fraction(0), None))
    assert lines_with(summarize(replace(result, levels=levels), instance), "rack0/node0", " 2 per GiB")


def test_without_any_price_there_is_no_column_for_it(instance: Instance) -> None:
    full = (Bottleneck("rack0/node0", "memory", Fraction(9, 10), None),)
    text = summarize(replace(result_of(instance, GoalId.PLACED), bottlenecks=full), instance)
    assert lines_with(text, "rack0/node0", "memory", "90 %")
    assert "worth of one more" not in text


@pytest.mark.parametrize(("kind", "words"), [("bound", "At most 3.5 more copies"), ("found", "At least 3.5 more")])
def test_headroom_says_whether_it_is_a_bound(kind: str, words: str, instance: Instance) -> None:
    result = replace(result_of(instance, GoalId.PLACED), headroom=Headroom(Fraction(7, 2), kind, "memory"))
    text = " ".join(summarize(result, instance).split())
    assert words in text
    assert "memory runs out first" in text


def test_no_headroom_is_said_plainly(instance: Instance) -> None:
    result = replace(result_of(instance, GoalId.PLACED), headroom=Headroom(Fraction(0), "bound", "cpu"))
    assert "Not one more copy of this mix can fit (proven; cpu runs out first)." in summarize(result, instance)


def test_what_is_far_from_its_limit_is_no_bottleneck(instance: Instance) -> None:
    far = Bottleneck("rack0/node0", "memory", Fraction(1, 2), None)
    text = summarize(replace(result_of(instance, GoalId.PLACED), bottlenecks=(far,)), instance)
    assert "Nothing is used beyond 80 %." in text


def test_values_other_than_1_are_told_beside_the_goal_placed(instance: Instance) -> None:
    """5 members placed and a value of 8 would read like an error."""
    note = "placed adds up the values of members"
    assert note not in summarize(result_of(instance, GoalId.PLACED), instance)
    classes = [{**workload, "value": 2 if workload["class"] == "web" else 1} for workload in DOCUMENT["workloads"]]
    valued = instance_from_dict({**DOCUMENT, "workloads": classes})
    assert note in summarize(result_of(valued, GoalId.PLACED), valued)
    assert note not in summarize(replace(result_of(valued, GoalId.PLACED), goals=()), valued)


def test_weights_other_than_1_are_told_beside_the_goal_throughput(instance: Instance) -> None:
    """The goal is then not the sum of the column tasks/s; a weight of a class without work changes nothing."""
    note = "The goal throughput weighs the classes"
    for weights, told in (((1, 1), False), ((2, 1), True), ((1, 2), False)):
        classes = [
            {**workload, "weight": weight} for workload, weight in zip(DOCUMENT["workloads"], weights, strict=True)
        ]
        weighted = instance_from_dict({**DOCUMENT, "workloads": classes})
        assert (note in summarize(result_of(weighted, GoalId.PLACED, GoalId.THROUGHPUT), weighted)) == told
    assert note not in summarize(result_of(weighted, GoalId.PLACED), weighted)


def test_goals_stand_beside_their_values_where_things_run_now(instance: Instance) -> None:
    """Now 4 web on one node and a store on another draw 2 x 100 W + 200 W + 100 W; the plan 650 W on three nodes."""
    text = summarize(result_of(instance, GoalId.PLACED, GoalId.POWER, GoalId.MOVES), instance)
    table = text.split("Goals before and after\n")[1].split("\n\n")[0].splitlines()
    assert [line.split() for line in table] == [
        ["goal", "running", "now", "this", "plan"],
        ["placed", "5", "5"],
        ["power", "500", "W", "650", "W"],
    ]
    assert "before and after" not in summarize(result_of(instance, GoalId.PLACED), replace(instance, current=None))


def test_goals_of_shares_are_not_compared_where_rates_pay(instance: Instance) -> None:
    """The plan's shares are larger than the floors, with which the current placement would be judged."""
    text = summarize(result_of(instance, GoalId.PLACED, GoalId.POWER, GoalId.THROUGHPUT), instance)
    table = text.split("Goals before and after\n")[1].split("\n\n")[0]
    assert "placed" in table
    assert "power" not in table
    assert "throughput" not in table


def test_a_current_placement_that_breaks_rules_is_called_so(instance: Instance) -> None:
    crowded = replace(instance, conflicts=(Conflict("web", "node", 3),))
    text = summarize(result_of(crowded, GoalId.PLACED), crowded)
    assert "What runs now breaks 1 constraint." in text
