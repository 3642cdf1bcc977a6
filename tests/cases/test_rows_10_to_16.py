"""Rows 10 to 16 of the table of cases: packings, sizes, starts, determinism."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from allocator import Status, check, instance_from_dict, read_plan
from allocator.errors import ModelTooLarge
from allocator.model import load_model
from tests.cases.documents import EXACT, Document, cli, document, node, placed, run, used, where, workload

COST = {"goals": ["cost"]}
PLACE = {"goals": ["placed"]}
NODES = {"goals": ["nodes"]}

# ---------------------------------------------------------------- row 10

SIZES = [48, 30, 19, 36, 36, 27, 42, 42, 36, 24, 30, *[33] * 5, 45, 45, 67, 27, 80, 44, 38, 77]


@pytest.mark.parametrize("method", EXACT)
def test_row_10_fewest_bins(method: str) -> None:
    """24 items in bins of 100: 11 bins, bound 10 or better stated; never stuck."""
    items = [workload(f"i{i}", storage=size) for i, size in enumerate(SIZES)]
    result = run(document([node("b", count=24, storage=100)], items), NODES, method, seconds=10)
    level = result.levels[0]
    assert level.value == 11
    assert level.bound is not None
    assert 10 <= level.bound <= 11
    assert result.status is (Status.OPTIMAL if level.bound == 11 else Status.FEASIBLE)
    requests = {f"i{i}": {"storage": size} for i, size in enumerate(SIZES)}
    assert all(amounts["storage"] <= 100 for amounts in used(result, requests).values())


# ---------------------------------------------------------------- row 11

DEMANDS = [700] * 24 + [380] * 3 + [385] * 4
ROOMS = [8000, 5000, 5000, 1480]


def full_to_the_brim() -> Document:
    """31 demands that sum to the capacities; no subset of them sums to 1480."""
    assert (len(DEMANDS), sum(DEMANDS)) == (31, sum(ROOMS))
    sums = {0}
    for demand in DEMANDS:
        sums |= {total + demand for total in sums}
    assert ROOMS[-1] not in sums
    items = [workload(f"w{i}", storage=demand) for i, demand in enumerate(DEMANDS)]
    return document([node(f"n{i}", storage=room) for i, room in enumerate(ROOMS)], items)


@pytest.mark.parametrize("method", EXACT)
def test_row_11_totals_fit_and_yet_there_is_no_packing(method: str) -> None:
    """31 demands of exactly the capacities 8000, 5000, 5000, 1480: infeasible, explained, since the totals fit."""
    result = run(full_to_the_brim(), COST, method)
    assert (result.status, result.plan) == (Status.INFEASIBLE, None)
    assert result.infeasibility is not None
    assert "totals fit" in " ".join(result.infeasibility.reasons)


@pytest.mark.parametrize("method", EXACT)
def test_row_11_the_best_partial_plan(method: str) -> None:
    """With the goal placed one item is left out, and the plan says why."""
    result = run(full_to_the_brim(), PLACE, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 30)
    assert result.plan is not None
    left = result.plan.unplaced
    assert sum(group.count for group in left) == 1
    assert left[0].reason


# ---------------------------------------------------------------- row 13


def many_on_many(items: int = 5_000, machines: int = 1_000) -> Document:
    rng = random.Random(13)
    classes = [workload(f"i{i}", cpu=rng.randint(1, 9), memory=rng.randint(1, 99)) for i in range(items)]
    return document([node("m", count=machines, cpu=64, memory=512)], classes, model="consolidate")


def test_row_13_too_large_a_model_is_refused_before_it_is_built(tmp_path: Path) -> None:
    """5,000 items on 1,000 machines with --method milp: the size is estimated, refused with what to use instead."""
    (tmp_path / "many.json").write_text(json.dumps(many_on_many()))
    done = cli(tmp_path, "solve", "many.json", "--method", "milp", "-q", "-o", "plan.json")
    assert (done.code, done.stdout) == (2, "")
    assert "5,000,000" in done.stderr
    assert "--method auto" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "plan.json").exists()
    assert done.seconds < 20, "reading and counting, no building"


@pytest.mark.parametrize("method", ["milp", "cpsat"])
def test_row_13_in_the_library(method: str) -> None:
    with pytest.raises(ModelTooLarge, match="--method"):
        run(many_on_many(), NODES, method)


# ---------------------------------------------------------------- row 14

WEIGHTS = ["307", "191", "87.4", "465.5339", "273", "106", "385"]


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize(("size", "bins"), [(700, 3), (600, 4)])
def test_row_14_weights_with_decimals(method: str, size: int, bins: int) -> None:
    """Seven weights in at most 4 bins of 700, then of 600: 3 and 4 bins, never "infeasible"."""
    items = [workload(f"i{i}", storage=weight) for i, weight in enumerate(WEIGHTS)]
    result = run(document([node("b", count=4, storage=size)], items), NODES, method)
    assert (result.status, result.levels[0].value) == (Status.OPTIMAL, bins)
    requests = {f"i{i}": {"storage": weight} for i, weight in enumerate(WEIGHTS)}
    assert all(amounts["storage"] <= size for amounts in used(result, requests).values())


# ---------------------------------------------------------------- row 15


def reassignment(seed: int, items: int = 150, machines: int = 25) -> Document:
    """Items that run somewhere now; safety capacities are exceeded in places, moves cost."""
    rng = random.Random(seed)
    classes, current = [], []
    use = [[0, 0] for _ in range(machines)]
    for i in range(items):
        size, there = (rng.randint(1, 40), rng.randint(1, 40)), rng.randrange(machines)
        use[there] = [a + b for a, b in zip(use[there], size, strict=True)]
        classes.append(workload(f"p{i}", cpu=size[0], memory=size[1], move_cost=rng.randint(1, 5)))
        current.append({"class": f"p{i}", "node": f"m{there}"})
    hosts = [
        node(f"m{j}", cpu=cpu + 10, memory=memory + 10, safety={"cpu": cpu * 4 // 5, "memory": memory * 4 // 5})
        for j, (cpu, memory) in enumerate(use)
    ]
    balance = [{"resources": ["cpu", "memory"], "target": 1, "weight": 3}]
    return document(hosts, classes, model="rebalance", current=current, balance=balance)


def as_it_is(whole: Document) -> dict[str, Any]:
    """A plan that leaves everything where it runs."""
    instance = instance_from_dict(whole)
    sizes = {item["class"]: item["requests"] for item in whole["workloads"]}
    return {
        "format": "allocator/plan/v1",
        "instance": {"name": instance.name, "digest": instance.digest},
        "placements": [
            {
                "class": entry["class"],
                "first": 0,
                "count": 1,
                "mode": "default",
                "nodes": [entry["node"]],
                "shares": sizes[entry["class"]],
            }
            for entry in whole["current"]
        ],
        "flows": [],
        "unplaced": [],
    }


@pytest.mark.parametrize("method", [*EXACT, "lns", "adjust", "uniform", "local-search"])
def test_row_15_never_worse_than_the_start(method: str, tmp_path: Path) -> None:
    """Warm start = the current placement, limit 1 s: never worse than the start; the log says accepted, its value."""
    whole = reassignment(15)
    (tmp_path / "case.json").write_text(json.dumps(whole))
    (tmp_path / "start.json").write_text(json.dumps(as_it_is(whole)))
    instance = instance_from_dict(whole)
    before = check(instance, load_model("rebalance"), read_plan(tmp_path / "start.json", instance))
    assert before.feasible
    arguments = ["--warm-start", "start.json", "--time-limit", "1s", "--threads", "1", "-o", "plan.json", "--json"]
    done = cli(tmp_path, "solve", "case.json", "--method", method, *arguments)
    assert done.code == 0, done.stderr
    assert f"warm start accepted, first level {float(before.levels[0]):g}" in done.stderr
    after = check(instance, load_model("rebalance"), read_plan(tmp_path / "plan.json", instance))
    assert after.feasible
    assert after.levels[0] <= before.levels[0]
    assert done.json["levels"][0]["value"] == float(after.levels[0])


# ---------------------------------------------------------------- row 16


def shuffled(whole: Document, seed: int) -> Document:
    items = list(whole["workloads"])
    random.Random(seed).shuffle(items)
    return {**whole, "workloads": items}


def seeded() -> Document:
    rng = random.Random(16)
    machines = [node(f"m{j}", kind=f"k{j}", cpu=6, memory=40) for j in range(4)]
    items = [
        workload(
            f"i{i}",
            rng.randint(1, 2),
            cpu=f"{rng.randint(100, 1500)}m",
            memory=rng.randint(1, 9),
            cost={f"k{j}": rng.randint(1, 20) for j in range(4)},
        )
        for i in range(12)
    ]
    flows = [
        {"from": f"i{i}", "to": f"i{i + 1}", "pattern": "spread", "rate": rng.randint(1, 9)} for i in range(0, 11, 3)
    ]
    return document(machines, items, flows=flows, model="task-assignment")


def without_times(path: Path) -> str:
    """A plan file, its wall times and its memory taken out."""
    plan = json.loads(path.read_text())
    plan["result"].pop("seconds")
    plan["result"].pop("peak_memory_mib")
    plan["result"].pop("plan")
    return json.dumps(plan)


@pytest.mark.parametrize("method", EXACT)
def test_row_16_the_same_seed_gives_the_same_plan(method: str, tmp_path: Path) -> None:
    """Same seed five times, one thread, PYTHONHASHSEED 0 and 1: the same plan file but for its wall times."""
    (tmp_path / "case.json").write_text(json.dumps(seeded()))
    plans = []
    for number in range(5):
        out = f"plan{number}.json"
        arguments = ["--method", method, "--threads", "1", "--seed", "7", "-o", out, "-q"]
        done = cli(tmp_path, "solve", "case.json", *arguments, PYTHONHASHSEED=str(number % 2))
        assert done.code == 0, done.stderr
        plans.append(without_times(tmp_path / out))
    assert json.loads(plans[0])["result"]["status"] == "optimal"
    assert set(plans) == {plans[0]}


@pytest.mark.parametrize("method", ["lns", "adjust", "uniform", "local-search"])
def test_row_16_searches_repeat_with_an_iteration_limit(method: str, tmp_path: Path) -> None:
    """Same seed, one thread, an iteration limit, PYTHONHASHSEED 0 and 1: the same plan file but for its wall times."""
    (tmp_path / "case.json").write_text(json.dumps(seeded()))
    plans = []
    for number in range(3):
        out = f"plan{number}.json"
        arguments = ["--method", method, "--iterations", "4", "--threads", "1", "--seed", "7", "-o", out, "-q"]
        done = cli(tmp_path, "solve", "case.json", *arguments, PYTHONHASHSEED=str(number % 2))
        assert done.code == 0, done.stderr
        plans.append(without_times(tmp_path / out))
    assert set(plans) == {plans[0]}


@pytest.mark.parametrize("method", EXACT)
def test_row_16_the_order_in_the_file_changes_neither_status_nor_value(method: str) -> None:
    """Items shuffled in the file: status and value the same."""
    results = [run(shuffled(seeded(), seed), "task-assignment", method) for seed in range(3)]
    assert {result.status for result in results} == {Status.OPTIMAL}
    assert len({result.levels[0].value for result in results}) == 1
    counts: list[Counter[str]] = [Counter({n: sum(c.values()) for n, c in where(r).items()}) for r in results]
    assert counts[0] == counts[1] == counts[2]
    assert isinstance(results[0].levels[0].value, Fraction)
