"""The facts a person needs are in the summary, in 80 columns, and nothing is claimed that is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.checker import check
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId, sense_of
from allocator.plan.entities import PlacedGroup, Plan, UnplacedGroup
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
from allocator.report.summary import summarize
from allocator.report.summary.section import cut

GIB = 2**30
DOCUMENT = {
    "format": "allocator/v1",
    "name": "pair",
    "topology": [
        {
            "level": "rack",
            "name": "rack",
            "count": 2,
            "uplink": {"bandwidth": "100 Mbit/s"},
            "capacity": {"power": "1 kW"},
            "children": [
                {
                    "level": "node",
                    "name": "node",
                    "count": 2,
                    "kind": "server",
                    "capacity": {"cpu": 4, "memory": "8 GiB"},
                    "uplink": {"bandwidth": "1 Gbit/s"},
                    "power": {"idle": "100 W", "busy": "300 W"},
                }
            ],
        }
    ],
    "workloads": [
        {
            "class": "web",
            "count": 4,
            "requests": {"cpu": 1, "memory": "1 GiB"},
            "work": {"rate": "2/s", "cpu": "500 ms"},
        },
        {"class": "store", "count": 2, "requests": {"cpu": 2, "memory": "2 GiB"}},
    ],
    "flows": [{"from": "web", "to": "store", "pattern": "spread", "rate": "100 Mbit/s"}],
    "current": [
        {"class": "web", "first": 0, "count": 4, "node": "rack1/node1"},
        {"class": "store", "first": 0, "count": 1, "node": "rack0/node1"},
    ],
}


@pytest.fixture
def instance() -> Instance:
    return instance_from_dict(DOCUMENT)


def model_of(*goals: GoalId) -> Model:
    return Model("test", "", tuple(Level((Goal(goal),)) for goal in goals))


def partial_plan(instance: Instance) -> Plan:
    """Three web members on rack0/node0, one left out; the stores in different racks."""
    floors = {workload.name: workload.modes[0].default.requests for workload in instance.workloads}
    return Plan(
        instance.name,
        instance.digest,
        (
            PlacedGroup("web", 0, 3, "default", ("rack0/node0",), floors["web"]),
            PlacedGroup("store", 0, 2, "default", ("rack0/node1", "rack1/node0"), floors["store"]),
        ),
        unplaced=(UnplacedGroup("web", 3, 1, "no node has room for it", {"memory": floors["web"]["memory"]}),),
    )


def result_of(
    instance: Instance,
    *goals: GoalId,
    status: Status = Status.FEASIBLE,
    reason: TerminationReason = TerminationReason.TIME_LIMIT,
    bounds: Sequence[Fraction | int | None] = (),
) -> Result:
    model = model_of(*goals)
    plan = partial_plan(instance)
    evaluation = check(instance, model, plan)
    assert evaluation.feasible
    given = [*bounds, *[None] * len(goals)]
    limits = [None if bound is None else Fraction(bound) for bound in given]
    return Result(
        status=status,
        termination=Termination(reason),
        levels=tuple(
            LevelOutcome(level, value, bound)
            for level, value, bound in zip(model.levels, evaluation.levels, limits, strict=False)
        ),
        goals=tuple(
            GoalOutcome(goal, sense_of(goal), value, bound)
            for (goal, value), bound in zip(evaluation.goals.items(), limits, strict=False)
        ),
        plan=plan,
        evaluation=evaluation,
        method="milp",
        model="test",
        seed=7,
        threads=2,
        seconds={"read": 0.1, "solve": 3.2, "total": 4.5},
    )


def no_plan(status: Status, reason: TerminationReason, why: Infeasibility | None = None) -> Result:
    termination = Termination(reason, "")
    return Result(status, termination, (), (), None, None, "milp", "test", 0, 1, {}, infeasibility=why)


def lines_with(text: str, *parts: str) -> list[str]:
    return [line for line in text.splitlines() if all(part in line for part in parts)]


def test_a_gap_is_said_with_the_level_it_belongs_to(instance: Instance) -> None:
    text = summarize(result_of(instance, GoalId.PLACED, GoalId.POWER, bounds=(6, None)), instance)
    verdict = " ".join(text.split("\n\n")[0].split())
    assert "feasible" in verdict
    assert "5 of 6 members are placed, 1 is not" in verdict
    assert "placed (level 1 of 2) is within 16.67 % of the best possible" in verdict
    assert "the time limit was reached" in verdict
    assert lines_with(text, "max placed", "5", "6", "16.67 %")
    assert lines_with(text, "min power", "650 W", "unknown")


def test_a_gap_of_a_minimised_goal_is_not_called_within_the_best(instance: Instance) -> None:
    """650 W over a bound of 130 W: the gap is 80 %, the plan up to 400 % above the best."""
    text = summarize(result_of(instance, GoalId.POWER, GoalId.PLACED, bounds=(130, None)), instance)
    verdict = " ".join(text.split("\n\n")[0].split())
    assert "the best possible for goal power (level 1 of 2) is at most 80 % lower" in verdict
    assert "within" not in verdict


def test_optimal_is_said_only_of_an_optimal_result(instance: Instance) -> None:
    proven = result_of(instance, GoalId.PLACED, status=Status.OPTIMAL, reason=TerminationReason.OPTIMAL, bounds=(5,))
    assert "proven optimal" in summarize(proven, instance)
    assert "no plan does better." in " ".join(summarize(proven, instance).split())
    assert "0, proven" in summarize(proven, instance)
    for other in (
        result_of(instance, GoalId.PLACED, bounds=(6,)),
        result_of(instance, GoalId.PLACED),
        no_plan(Status.UNKNOWN, TerminationReason.TIME_LIMIT),
        no_plan(Status.INFEASIBLE, TerminationReason.INFEASIBLE),
    ):
        assert "optimal" not in summarize(other, instance)


def test_a_missing_bound_is_not_a_gap_of_0(instance: Instance) -> None:
    text = " ".join(summarize(result_of(instance, GoalId.PLACED), instance).split())
    assert "no bound is known for goal placed" in text
    assert "how much better a plan could be is open" in text


def test_a_useless_bound_is_called_weak(instance: Instance) -> None:
    result = result_of(instance, GoalId.POWER, GoalId.PLACED, bounds=(0, None))
    text = " ".join(summarize(result, instance).split())
    assert "the bound for goal power (level 1 of 2) is too weak" in text
    assert "within" not in text.split("Goals")[0]


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


def test_later_goals_are_optimal_only_in_their_order(instance: Instance) -> None:
    proven = result_of(
        instance,
        GoalId.PLACED,
        GoalId.POWER,
        status=Status.OPTIMAL,
        reason=TerminationReason.OPTIMAL,
        bounds=(5, 650),
    )
    assert "no plan does better, the goals taken in their order." in " ".join(summarize(proven, instance).split())


def test_items_are_indented_when_they_wrap(instance: Instance) -> None:
    why = Infeasibility(reasons=("word " * 40,))
    lines = summarize(no_plan(Status.INFEASIBLE, TerminationReason.INFEASIBLE, why), instance).splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("  - word"))
    assert lines[first + 1].startswith("    word")


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


@pytest.mark.parametrize(("kind", "words"), [("bound", "At most 3.5 more copies"), ("found", "At least 3.5 more")])
def test_headroom_says_whether_it_is_a_bound(kind: str, words: str, instance: Instance) -> None:
    result = replace(result_of(instance, GoalId.PLACED), headroom=Headroom(Fraction(7, 2), kind, "memory"))
    text = " ".join(summarize(result, instance).split())
    assert words in text
    assert "memory runs out first" in text


def test_no_headroom_is_said_plainly(instance: Instance) -> None:
    result = replace(result_of(instance, GoalId.PLACED), headroom=Headroom(Fraction(0), "bound", "cpu"))
    assert "Not one more copy of this mix can fit (proven; cpu runs out first)." in summarize(result, instance)


def test_the_certificate_names_checker_error_and_run(instance: Instance) -> None:
    result = replace(
        result_of(instance, GoalId.PLACED),
        linearization=LinearizationCertificate(Fraction(1, 250), Fraction(1, 500), "loads from 0 to 1"),
        ignored=("pool",),
        warnings=("rack0 is overfull",),
        size={"variables": 1234},
        peak_memory_mib=512.4,
    )
    text = " ".join(summarize(result, instance).split())
    for fact in (
        "independent checker",
        "at most 0.40 % (proven over loads from 0 to 1), 0.20 % at this plan",
        "ignored by the model: pool",
        "rack0 is overfull",
        "method milp, model test, seed 7, 2 threads",
        "1,234 variables",
        "512 MiB",
        "4.5 s in all (read 100 ms, solve 3.2 s)",
    ):
        assert fact in text


def test_no_plan_is_explained(instance: Instance) -> None:
    why = Infeasibility(
        reasons=("web needs 5 cores, the largest node has 4",),
        conflict=({"message": "capacity of rack0/node0"}, {"family": "spread", "group": "web"}),
        relaxation=({"domain": "rack0/node0", "resource": "cpu", "add": 1, "unit": None},),
    )
    text = summarize(no_plan(Status.INFEASIBLE, TerminationReason.INFEASIBLE, why), instance)
    assert "no plan exists" in text
    assert "web needs 5 cores, the largest node has 4" in text
    assert "- capacity of rack0/node0" in text
    assert "- family spread, group web" in text
    assert "- domain rack0/node0, resource cpu, add 1" in text
    assert "checker" not in text


def test_running_out_of_time_is_not_infeasible(instance: Instance) -> None:
    text = " ".join(summarize(no_plan(Status.UNKNOWN, TerminationReason.TIME_LIMIT), instance).split())
    assert "no plan was found because the time limit was reached; whether one exists is not known" in text
    assert "no plan exists" not in text


@pytest.mark.parametrize("reason", list(TerminationReason))
def test_every_reason_has_words(reason: TerminationReason, instance: Instance) -> None:
    assert "because" in summarize(no_plan(Status.UNKNOWN, reason), instance)


def test_long_lists_are_cut_and_counted(instance: Instance) -> None:
    why = Infeasibility(reasons=tuple(f"reason {number}" for number in range(45)))
    text = summarize(no_plan(Status.INFEASIBLE, TerminationReason.INFEASIBLE, why), instance)
    assert "... and 37 more" in text
    assert cut(range(9)) == (tuple(range(9)), 0)
    assert cut(range(10)) == (tuple(range(8)), 2)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked(width: int) -> None:
    document = {**DOCUMENT, "name": "n" * 200}
    del document["current"]
    document["workloads"] = [{"class": f"class-{index}-{'x' * 50}", "count": 3} for index in range(30)]
    document["flows"] = []
    document["topology"] = [
        {
            "level": "rack",
            "name": "a-rather-long-rack-name",
            "count": 20,
            "children": [{"level": "node", "name": "node", "capacity": {"cpu": 1, "memory": "768 GiB"}}],
        }
    ]
    instance = instance_from_dict(document)
    placements = tuple(
        PlacedGroup(workload.name, 0, 3, "default", (instance.nodes[workload.index % 20].path,), {})
        for workload in instance.workloads
    )
    plan = Plan(instance.name, instance.digest, placements)
    model = model_of(GoalId.PLACED)
    evaluation = check(instance, model, plan)
    assert evaluation.feasible, evaluation.violations
    result = Result(
        Status.FEASIBLE,
        Termination(TerminationReason.CONVERGED),
        (LevelOutcome(model.levels[0], evaluation.levels[0], None),),
        (),
        plan,
        evaluation,
        "greedy",
        "test",
        0,
        1,
        {"total": 1.0},
    )
    text = summarize(result, instance, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "and 22 more" in text
    assert "18 others" in text or width == 60


def test_control_characters_in_names_do_not_reach_the_terminal() -> None:
    document = {**DOCUMENT, "name": "evil\x1b[31m\r\nname"}
    instance = instance_from_dict(document)
    text = summarize(no_plan(Status.UNKNOWN, TerminationReason.TIME_LIMIT), instance)
    assert "\x1b" not in text
    assert "\\x1b[31m" in text


def test_plain_text_has_no_escapes_and_colour_has(instance: Instance) -> None:
    result = result_of(instance, GoalId.PLACED)
    assert "\x1b" not in summarize(result, instance)
    assert "\x1b[1m" in summarize(result, instance, color=True)


def test_nothing_to_place() -> None:
    instance = instance_from_dict({"format": "allocator/v1", "name": "empty"})
    plan = Plan(instance.name, instance.digest, ())
    model = model_of(GoalId.PLACED)
    evaluation = check(instance, model, plan)
    levels = (LevelOutcome(model.levels[0], evaluation.levels[0], Fraction(0)),)
    termination = Termination(TerminationReason.OPTIMAL)
    result = Result(Status.OPTIMAL, termination, levels, (), plan, evaluation, "milp", "test", 0, 1, {})
    assert "There is nothing to place" in summarize(result, instance)


def test_what_is_far_from_its_limit_is_no_bottleneck(instance: Instance) -> None:
    far = Bottleneck("rack0/node0", "memory", Fraction(1, 2), None)
    text = summarize(replace(result_of(instance, GoalId.PLACED), bottlenecks=(far,)), instance)
    assert "Nothing is used beyond 80 %." in text
