"""Rows 9 and 12 of the table of cases: large instances, method auto, a time limit that holds."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from allocator import Status, instance_from_dict, load_model, solve
from allocator.checker import check
from allocator.formats.registry import READERS
from allocator.plan.files import read_plan
from tests.cases.documents import Document, cli, document, node, workload

DATA = os.environ.get("ALLOCATOR_DATA")


def reassignment(machines: int, processes: int, seed: int) -> Document:
    """Processes of 4 resources that run somewhere now, some machines above their safety capacities."""
    rng = random.Random(seed)
    names = ("cpu", "memory", "disk", "net")
    resources = {name: {"role": "other"} for name in ("disk", "net")}
    use = [[0] * 4 for _ in range(machines)]
    classes, current = [], []
    for i in range(processes):
        size = [rng.randint(1, 40) for _ in names]
        there = rng.randrange(machines)
        use[there] = [a + b for a, b in zip(use[there], size, strict=True)]
        classes.append(workload(f"p{i}", **dict(zip(names, size, strict=True)), move_cost=rng.randint(1, 5)))
        current.append({"class": f"p{i}", "node": f"m{there}"})
    hosts = []
    for j, held in enumerate(use):
        room = {name: amount * 5 // 4 + 40 for name, amount in zip(names, held, strict=True)}
        safety = {name: amount * 3 // 4 for name, amount in room.items()}
        hosts.append(node(f"m{j}", **room, safety=safety))
    return document(hosts, classes, model="rebalance", current=current, resources=resources)


def solved(folder: Path, whole: Document, seconds: int) -> tuple[Any, float]:
    """What ``allocator solve`` prints for the document, and the cost of leaving everything as it is."""
    (folder / "case.json").write_text(json.dumps(whole))
    limit = ["--time-limit", f"{seconds}s", "--threads", "1"]
    done = cli(folder, "solve", "case.json", *limit, "-o", "plan.json", "--json", "-q")
    assert done.code == 0, done.stderr
    # the margin that the documentation states, and room for a machine that is busy with other tests
    assert done.json["seconds"]["total"] <= seconds + max(1.0, 0.05 * seconds) + 10
    instance = instance_from_dict(whole)
    goals = load_model(instance.model or "rebalance")
    evaluation = check(instance, goals, read_plan(folder / "plan.json", instance))
    assert evaluation.feasible
    assert done.json["levels"][0]["value"] == pytest.approx(float(evaluation.levels[0]))
    stays = solve(instance, "rebalance", method="lns", iterations=0, time_limit=60, threads=1)
    return done.json, float(stays.levels[0].value or 0)


def test_row_09_a_reassignment_within_its_limit(tmp_path: Path) -> None:
    """Machine reassignment, limit 10 s: back within the limit and its stated margin, with a placement."""
    found, stays = solved(tmp_path, reassignment(60, 2500, 9), 10)
    assert found["status"] in {"feasible", "optimal"}
    assert found["levels"][0]["value"] <= stays


@pytest.mark.skipif(DATA is None, reason="set ALLOCATOR_DATA to a folder with the public instances")
def test_row_09_the_public_instance_b_6(tmp_path: Path) -> None:
    """b_6 (40,000 processes, 200 machines), limit 10 s."""
    folder = Path(str(DATA)) / "roadef2012" / "B"
    arguments = ["--from", "roadef2012", "--to", "allocator", "--assignment", folder / "assignment_b_6.txt"]
    done = cli(tmp_path, "convert", folder / "model_b_6.txt", "case.json", *arguments)
    assert done.code == 0, done.stderr
    done = cli(tmp_path, "solve", "case.json", "--time-limit", "10s", "-o", "plan.json", "--json", "-q")
    assert done.code == 0, done.stderr
    assert (tmp_path / "plan.json").exists()
    assert "roadef2012" in READERS


def test_row_12_a_heuristic_is_chosen_for_ten_thousand_items(tmp_path: Path) -> None:
    """10,000 items of 4 resources on 8,000 machines, auto: a heuristic without being asked, memory below 2 GiB."""
    rng = random.Random(12)
    names = ("cpu", "memory", "disk", "net")
    resources = {name: {"role": "other"} for name in ("disk", "net")}
    items = [workload(f"i{i}", **{name: rng.randint(1, 30) for name in names}) for i in range(10_000)]
    whole = document([node("m", count=8000, **dict.fromkeys(names, 60))], items, model="place", resources=resources)
    (tmp_path / "case.json").write_text(json.dumps(whole))
    done = cli(tmp_path, "solve", "case.json", "--time-limit", "60s", "--threads", "1", "--json", "-q", timeout=300)
    assert done.code == 0, done.stderr
    found = done.json
    assert found["status"] in {Status.FEASIBLE.value, Status.OPTIMAL.value}
    assert found["levels"][0]["value"] == 10_000, "there is far more room than that"
    assert found["peak_memory_mib"] < 2048
