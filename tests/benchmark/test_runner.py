"""Suites run for real: every end of a run is a row, and a folder holds all that is needed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from allocator.benchmark import run_suite
from allocator.benchmark.records import read_manifest, read_records
from allocator.benchmark.runner import RunEvent
from allocator.checker import check
from allocator.errors import ArgumentError, InputError
from allocator.instance import load_instance
from allocator.model import load_model
from allocator.plan.files import read_plan
from tests.benchmark.suite_of_two import ROOT, Tampering, suite


def test_a_suite_leaves_a_folder_that_needs_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    events: list[RunEvent] = []
    records = run_suite(suite(tmp_path), folder, jobs=2, listener=events.append)
    assert read_records(folder) == records
    assert len(records) == 8
    assert {record.outcome for record in records} == {"done"}
    assert not any(record.wrong for record in records)
    manifest = read_manifest(folder)
    assert manifest["suite"] == "mine"
    assert manifest["suite_file"] == (tmp_path / "mine.yaml").read_text()
    assert manifest["seeds"] == [0, 1]
    for record in records:
        digest = manifest["digests"][record.case]
        assert record.instance["digest"] == digest
        instance = load_instance(folder / "instances" / f"{digest}.json")
        assert instance.digest == digest
        if record.plan is not None:
            plan = read_plan(folder / record.plan, instance, same_instance=True)
            evaluation = check(instance, load_model(manifest["models"][record.model]), plan)
            assert evaluation.feasible
            assert evaluation.levels[0] == record.value
    milp = [record for record in records if record.method == "milp"]
    assert all(record.solved for record in milp)
    for record in milp:
        assert record.size["variables"] is not None
        assert record.peak_memory_mib is not None
        assert 20 < record.peak_memory_mib < 2000
        assert record.cpu_seconds is not None
        assert record.cpu_seconds > 0
        assert 0 < record.first_plan_seconds <= record.seconds  # type: ignore[operator]
        assert record.trace[-1][2] == record.levels[-1]["value"]
        assert record.sense == ("min" if record.model == "cost" else "max")
    assert {record.value for record in milp if record.case == "gap_tiny/problem"} == {20}
    assert [record.best_known for record in milp if record.case == "gap_tiny/problem"] == [
        {"value": 20, "source": "enumeration"}
    ] * 2
    finished = [event for event in events if event.kind == "finished"]
    assert [event.done for event in finished] == list(range(1, 9))
    assert finished[-1].seconds_left == 0
    assert all(event.seconds_left is not None for event in finished)


def test_a_pool_of_processes_will_do(tmp_path: Path) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool:
        records = run_suite(suite(tmp_path, "greedy"), tmp_path / "report", pool, keep="gangs")
    assert [record.outcome for record in records] == ["done", "done"]


def test_the_same_call_again_runs_nothing_and_another_suite_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    path = suite(tmp_path, "greedy")
    first = run_suite(path, folder)
    before = (folder / "records.jsonl").read_bytes()
    assert run_suite(path, folder) == first
    assert (folder / "records.jsonl").read_bytes() == before
    with pytest.raises(ArgumentError, match="the seeds 0, 1"):
        run_suite(path, folder, seeds=[0])
    with pytest.raises(ArgumentError, match="other limits"):
        run_suite(path, folder, seconds=5.0)
    with pytest.raises(ArgumentError, match="another version of this suite"):
        run_suite(suite(tmp_path, "greedy, milp"), folder)
    path.write_text(path.read_text().replace("name: mine", "name: other"))
    with pytest.raises(ArgumentError, match="another suite"):
        run_suite(path, folder)
    assert (folder / "records.jsonl").read_bytes() == before


def test_a_changed_instance_is_refused(tmp_path: Path) -> None:
    instance = tmp_path / "one.yaml"
    text = "format: allocator/v1\nmodel: place\ntopology: [{level: node, name: n, kind: k, capacity: {cpu: 2}}]\n"
    instance.write_text(text + "workloads: [{class: c, count: 3, requests: {cpu: 1}}]\n")
    path = tmp_path / "mine.yaml"
    path.write_text("format: allocator/suite/v1\ninstances: [{path: one.yaml}]\nmethods: [greedy]\n")
    folder = tmp_path / "report"
    (record,) = run_suite(path, folder)
    assert record.value == 2
    instance.write_text(text + "workloads: [{class: c, count: 1, requests: {cpu: 1}}]\n")
    with pytest.raises(ArgumentError, match="another content of one"):
        run_suite(path, folder)


def test_parts_of_a_suite_fill_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    path = suite(tmp_path)
    assert len(run_suite(path, folder, methods=["greedy"], keep="gangs")) == 2
    records = run_suite(path, folder, methods=["greedy"])
    assert len(records) == 4
    assert len({record.run for record in records}) == 4


def test_unknown_methods_are_refused_before_anything_is_run(tmp_path: Path) -> None:
    for name in ("mlip", "external:gurobi"):
        with pytest.raises(ArgumentError, match="unknown"):
            run_suite(suite(tmp_path, f'"{name}"'), tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_time_that_runs_out_and_memory_that_runs_out_are_rows(tmp_path: Path) -> None:
    late = run_suite(suite(tmp_path, "milp", seconds=0.01, grace=0.1), tmp_path / "late")
    assert {record.outcome for record in late} == {"timed_out"}
    assert all("still running" in str(record.error) for record in late)
    assert all(record.status is None and not record.has_plan and not record.wrong for record in late)
    small = run_suite(suite(tmp_path, "cpsat", more=", memory_mib: 64"), tmp_path / "small")
    assert {record.outcome for record in small} == {"out_of_memory"}
    assert all(record.peak_memory_mib is not None and record.peak_memory_mib > 20 for record in small)


ODD_METHODS = """
import os, signal
from dataclasses import replace
import allocator.benchmark.external as external
from allocator.solvers.heuristic.greedy import GreedyMethod
from allocator.solvers.milp.method import MilpMethod

class Odd(MilpMethod):
    def __init__(self, name, act):
        self.name, self._act = name, act
    def solve(self, *arguments, **named):
        return self._act(super().solve(*arguments, **named))

def die(answer):
    os.kill(os.getpid(), signal.SIGSEGV)
def fail(answer):
    raise ZeroDivisionError("by design")
def swallow(answer):
    held = []
    while True:
        held.append(bytearray(os.urandom(2**20) * 64))
def lie(answer):
    return replace(answer, claims=tuple(claim - 1 for claim in answer.claims))

ACTS = {"external:die": die, "external:fail": fail, "external:swallow": swallow, "external:lie": lie}
external.EXTERNAL = {
    **external.EXTERNAL, **{name: (lambda name=name, act=act: Odd(name, act)) for name, act in ACTS.items()}
}
"""


def test_crashes_failures_and_lies_are_rows_and_the_others_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(ODD_METHODS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + os.pathsep + str(ROOT))
    names = ["external:die", "external:fail", "external:swallow", "external:lie"]
    monkeypatch.setattr(
        "allocator.benchmark.external.EXTERNAL", {**dict.fromkeys(names, lambda: None)}
    )  # so that the runner, which only asks for names, knows them
    methods = ", ".join(f'"{name}"' for name in [*names, "greedy"])
    path = suite(tmp_path, methods, more=", memory_mib: 700")
    records = run_suite(path, tmp_path / "report", keep="gangs", jobs=2)
    assert len(records) == 10
    by_method = {record.method: record for record in records}
    assert Counter(record.method for record in records) == dict.fromkeys([*names, "greedy"], 2)
    assert by_method["external:die"].outcome == "crashed"
    assert "SIGSEGV" in str(by_method["external:die"].error)
    assert by_method["external:fail"].outcome == "crashed"
    assert by_method["external:fail"].error == "ZeroDivisionError: by design"
    assert by_method["external:swallow"].outcome == "out_of_memory"
    assert by_method["external:lie"].wrong
    assert "claims" in str(by_method["external:lie"].error)
    assert by_method["greedy"].outcome == "done"
    # what was known before the end is kept
    assert any(point[2] is not None for point in by_method["external:die"].trace)


def test_a_folder_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("my notes\n")
    with pytest.raises(InputError):
        run_suite(suite(tmp_path, "greedy"), tmp_path)
    assert (tmp_path / "records.jsonl").read_text() == "my notes\n"


def job_is_plain(job: Mapping[str, Any]) -> bool:
    return json.loads(json.dumps(job)) == job


def test_a_job_and_its_answer_are_plain_data_for_any_executor(tmp_path: Path) -> None:
    seen: list[bool] = []

    class Looking(Tampering):
        def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            seen.append(all(job_is_plain(argument) for argument in arguments) and not named)
            return super().submit(function, *arguments, **named)

    def look(answer: dict[str, Any]) -> None:
        seen.append(job_is_plain(answer))

    run_suite(suite(tmp_path, "greedy"), tmp_path / "report", Looking(look), keep="gangs")
    assert seen == [True] * 4
