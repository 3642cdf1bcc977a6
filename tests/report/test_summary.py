"""The summary fits its width, cuts long lists and counts what it cuts, and lets no escapes through."""

from __future__ import annotations

import pytest

from allocator.checker import check
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.families import GoalId
from allocator.plan.entities import PlacedGroup, Plan
from allocator.plan.result import Infeasibility, LevelOutcome, Result, Status, Termination, TerminationReason
from allocator.report.summary import summarize
from allocator.report.summary.section import cut
from tests.report.pair import DOCUMENT, model_of, no_plan, result_of


@pytest.fixture
def instance() -> Instance:
    return instance_from_dict(DOCUMENT)


def test_items_are_indented_when_they_wrap(instance: Instance) -> None:
    why = Infeasibility(reasons=("word " * 40,))
    lines = summarize(no_plan(Status.INFEASIBLE, TerminationReason.INFEASIBLE, why), instance).splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("  - word"))
    assert lines[first + 1].startswith("    word")


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
