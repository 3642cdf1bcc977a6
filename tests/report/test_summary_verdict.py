"""The summary says what is proven, how far the plan may be from the best, and why there is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.checker import check
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.families import GoalId
from allocator.plan.entities import Plan
from allocator.plan.result import (
    Infeasibility,
    LevelOutcome,
    LinearizationCertificate,
    Result,
    Status,
    Termination,
    TerminationReason,
)
from allocator.report.summary import summarize
from tests.report.pair import DOCUMENT, lines_with, model_of, no_plan, result_of


@pytest.fixture
def instance() -> Instance:
    return instance_from_dict(DOCUMENT)


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


def test_a_missing_bound_is_not_a_gap_of_0(instance: Instance) -> None:
    text = " ".join(summarize(result_of(instance, GoalId.PLACED), instance).split())
    assert "no bound is known for goal placed" in text
    assert "how much better a plan could be is open" in text


def test_a_useless_bound_is_called_weak(instance: Instance) -> None:
    result = result_of(instance, GoalId.POWER, GoalId.PLACED, bounds=(0, None))
    text = " ".join(summarize(result, instance).split())
    assert "the bound for goal power (level 1 of 2) is too weak" in text
    assert "within" not in text.split("Goals")[0]


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


def test_nothing_to_place() -> None:
    instance = instance_from_dict({"format": "allocator/v1", "name": "empty"})
    plan = Plan(instance.name, instance.digest, ())
    model = model_of(GoalId.PLACED)
    evaluation = check(instance, model, plan)
    levels = (LevelOutcome(model.levels[0], evaluation.levels[0], Fraction(0)),)
    termination = Termination(TerminationReason.OPTIMAL)
    result = Result(Status.OPTIMAL, termination, levels, (), plan, evaluation, "milp", "test", 0, 1, {})
    assert "There is nothing to place" in summarize(result, instance)


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
