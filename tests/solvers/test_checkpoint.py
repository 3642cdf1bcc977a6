"""A checkpoint holds the best plan handed over so far, whole at every moment, and never one that does not hold."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from allocator import solve
from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Instance
from allocator.model.entities import Level, Slack
from allocator.plan.files import read_plan
from allocator.plan.result import Status
from allocator.solvers.base import Assignment
from allocator.solvers.checkpoint import Checkpoint
from tests.builders import build, model, node, workload

F = Fraction
COST = model("cost")


def priced(members: int = 4) -> Instance:
    nodes = [node(f"n{i}", capacity={"cpu": 3}) for i in range(3)]
    classes = [workload("a", members, {"cpu": 1}, cost={"n0": F(1), "n1": F(2), "n2": F(5)})]
    return build(*nodes, workloads=classes)


def on(*counts: int) -> Assignment:
    """Members of class a on each node."""
    return Assignment({(0, 0, place): count for place, count in enumerate(counts) if count})


def value(path: Path, instance: Instance) -> Fraction:
    evaluation = check(instance, COST, read_plan(path, instance))
    assert evaluation.feasible
    return evaluation.levels[0]


def wait_for(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writings follow one another at once."""
    monkeypatch.setattr("allocator.solvers.checkpoint.PATIENCE", 0.0)


@pytest.mark.usefixtures("impatient")
def test_only_better_plans_that_hold_are_written(tmp_path: Path) -> None:
    instance, path = priced(), tmp_path / "kept.json"
    kept = Checkpoint(compile_instance(instance, COST), path, every=0.0)
    seen = []
    for assignment in (on(1, 2, 1), on(0, 1, 3), on(4, 0, 0), on(3, 1, 0), on(2, 2, 0)):
        kept.offer(lambda assignment=assignment: assignment)
        wait_for(path)
        time.sleep(0.3)
        seen.append(value(path, instance))
    kept.close()
    assert seen == [10, 10, 10, 5, 5], "the second is dearer, the third overfills a node, the last is dearer"
    assert kept.problem is None


def test_the_latest_plan_is_written_when_it_closes_and_the_final_one_whatever_came_before(tmp_path: Path) -> None:
    instance, path = priced(), tmp_path / "kept.json"
    compiled = compile_instance(instance, COST)
    kept = Checkpoint(compiled, path, every=3600.0)
    kept.offer(lambda: on(0, 1, 3))
    wait_for(path)
    kept.offer(lambda: on(1, 3, 0))
    kept.offer(lambda: on(3, 1, 0))
    kept.close()
    assert value(path, instance) == 5, "no waiting for the hour to pass"
    final = solve(instance, COST, method="greedy", checkpoint=path).plan
    assert final is not None
    assert replace(read_plan(path, instance), result=None) == replace(final, result=None)


@pytest.mark.usefixtures("impatient")
def test_later_levels_count_where_an_earlier_one_gives_way_within_its_slack(tmp_path: Path) -> None:
    goals = model("cost", "nodes")
    tolerant = replace(goals, levels=(Level(goals.levels[0].goals, Slack(F(2))), goals.levels[1]))
    instance = priced(3)
    for chosen, expected in ((goals, 2), (tolerant, 1)):
        path = tmp_path / f"{expected}.json"
        kept = Checkpoint(compile_instance(instance, chosen), path, every=0.0)
        kept.offer(lambda: on(2, 1, 0))
        wait_for(path)
        time.sleep(0.3)
        kept.offer(lambda: on(0, 3, 0))
        kept.close()
        nodes = {path for _, _, _, path in read_plan(path, instance).members()}
        assert len(nodes) == expected


def test_a_place_that_cannot_be_written_is_a_warning_and_the_answer_stands(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    result = solve(priced(), COST, method="milp", threads=1, checkpoint=folder / "kept.json")
    assert result.status is Status.OPTIMAL
    assert any("checkpoint was not written" in warning for warning in result.warnings)


@pytest.mark.parametrize("method", ["milp", "cpsat", "auto", "greedy", "uniform", "adjust"])
def test_every_method_leaves_its_answer_and_a_start_is_kept_from_the_beginning(method: str, tmp_path: Path) -> None:
    instance, path = priced(), tmp_path / "kept.json"
    dear = solve(instance, model("nodes"), method="greedy").plan
    result = solve(instance, COST, method=method, threads=1, warm_start=dear, checkpoint=path)
    assert value(path, instance) == result.levels[0].value


def test_solutions_reach_the_checkpoint_while_a_method_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: dict[str, int] = {}
    original = Checkpoint.offer

    def counted(self: Checkpoint, make: object) -> None:
        offered[method] = offered.get(method, 0) + 1
        original(self, make)  # type: ignore[arg-type]

    monkeypatch.setattr(Checkpoint, "offer", counted)
    nodes = [node(f"n{i}", capacity={"cpu": 20}) for i in range(5)]
    classes = [
        workload(f"c{j}", 1, {"cpu": 3 + j % 5}, cost={f"n{i}": F((7 * j + 3 * i * i) % 11 + 1) for i in range(5)})
        for j in range(17)
    ]
    for method in ("milp", "cpsat", "auto"):
        solve(build(*nodes, workloads=classes), COST, method=method, threads=1, checkpoint=tmp_path / "kept.json")
        assert offered[method] >= 1


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    """A process that writes plan after plan is killed again and again; the file can be read every time."""
    path = tmp_path / "kept.json"
    root = Path(__file__).resolve().parents[2]
    script = (
        "import sys, itertools; sys.path.insert(0, sys.argv[2])\n"
        "from allocator.compiled.compile import compile_instance\n"
        "from allocator.solvers.checkpoint import Checkpoint\n"
        "from tests.solvers.test_checkpoint import COST, many, spread_over\n"
        "kept = Checkpoint(compile_instance(many(), COST), sys.argv[1], every=0.0)\n"
        "import allocator.solvers.checkpoint as module\n"
        "module.PATIENCE = 0.0\n"
        "for step in itertools.count():\n"
        "    kept.offer(lambda step=step: spread_over(step))\n"
    )
    for attempt in range(6):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", script, str(path), str(root)])
        wait_for(path)
        time.sleep(0.03 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert 1000 <= value(path, many()) <= 2000


def many() -> Instance:
    nodes = [node(f"n{i}", capacity={"cpu": 2000}) for i in range(2)]
    classes = [workload(f"c{j}", 1, {"cpu": 1}, cost={"n0": F(1), "n1": F(2)}) for j in range(1000)]
    return build(*nodes, workloads=classes)


def spread_over(step: int) -> Assignment:
    """The first ``step`` classes on the cheaper node."""
    return Assignment({(block, block, 0 if block < step else 1): 1 for block in range(1000)})
