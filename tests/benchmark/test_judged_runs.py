"""The check has the last word: a plan that it refutes, cannot judge or does not get is recorded as wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allocator.benchmark import run_suite
from tests.benchmark.suite_of_two import Tampering, suite


def spoil_plan(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def spoil(answer: dict[str, Any]) -> None:
        plan = json.loads(answer["plan"])
        change(plan)
        answer["plan"] = json.dumps(plan)

    return spoil


def one_node(plan: dict[str, Any]) -> None:
    for group in plan["placements"]:
        group["nodes"] = plan["placements"][0]["nodes"][:1]


def better_value(plan: dict[str, Any]) -> None:
    plan["result"]["levels"][0]["value"] -= 1


def other_instance(plan: dict[str, Any]) -> None:
    plan["instance"]["digest"] = "0" * 64


@pytest.mark.parametrize("change", [one_node, better_value, other_instance])
def test_a_plan_that_the_check_refutes_is_recorded_as_wrong(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    path = suite(tmp_path, "milp")
    records = run_suite(path, tmp_path / "report", Tampering(spoil_plan(change)), keep="gap_tiny*", seeds=[0])
    (record,) = records
    assert record.wrong
    assert record.value is None
    assert record.checked["mismatches"]


def test_a_plan_that_is_claimed_and_not_there_is_wrong(tmp_path: Path) -> None:
    def lose(answer: dict[str, Any]) -> None:
        answer["plan"] = None

    (record,) = run_suite(suite(tmp_path, "milp"), tmp_path / "report", Tampering(lose), keep="gangs", seeds=[0])
    assert record.wrong
    assert record.checked["feasible"] is None


def test_a_plan_that_the_checker_cannot_judge_does_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("by design")

    monkeypatch.setattr("allocator.checker.check", fail)
    (record,) = run_suite(suite(tmp_path, "greedy"), tmp_path / "report", keep="gangs", seeds=[0])
    assert record.wrong
    assert "by design" in record.checked["mismatches"][0]
