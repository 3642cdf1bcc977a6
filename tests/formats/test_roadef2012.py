"""Machine reassignment: what is read is the problem in the files, and a plan goes out as an assignment."""

from __future__ import annotations

import csv
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from allocator.checker import check
from allocator.errors import ArgumentError, InputError
from allocator.formats.registry import READERS
from allocator.instance import Instance, instance_from_dict
from allocator.model import load_model
from allocator.model.families import Family
from allocator.plan.entities import PlacedGroup, Plan
from allocator.solve import solve
from tests.formats.reassignment import TINY, Reassignment, read_files

MODEL, ASSIGNMENT = TINY / "model.txt", TINY / "assignment.txt"
OPTIMUM = 153
REBALANCE = load_model("rebalance")


def instance_of(model: Path, assignment: Path) -> Instance:
    return instance_from_dict(READERS["roadef2012"](model, assignment=assignment), str(model))


def plan_of(instance: Instance, where: Sequence[int]) -> Plan:
    """Process p on machine where[p]."""
    placed = tuple(
        PlacedGroup(w.name, 0, 1, "default", (instance.nodes[m].path,), dict(w.modes[0].default.requests))
        for w, m in zip(instance.workloads, where, strict=True)
    )
    return Plan(instance.name, instance.digest, placed)


def agrees(instance: Instance, reference: Reassignment, where: Sequence[int]) -> bool:
    """Whether the checker and the reference say the same of an assignment; returns whether it keeps the rules."""
    evaluation = check(instance, REBALANCE, plan_of(instance, where))
    assert sum(evaluation.goals.values()) == reference.cost(where)
    found = {violation.family for violation in evaluation.violations}
    broken = reference.broken(where)
    held = Family.CAPACITY in found or Family.TRANSIENT in found
    assert held == bool(broken & {"capacity", "transient"})
    for family in (Family.CONFLICT, Family.SPREAD, Family.DEPENDENCY):
        assert (family in found) == (family.value in broken)
    return not broken


def test_the_stated_optimum_is_that_of_enumeration() -> None:
    assert read_files(MODEL, ASSIGNMENT).optimum() == OPTIMUM


@pytest.mark.parametrize("method", ["milp", "cpsat", "auto"])
def test_the_optimum_is_found_and_proven(method: str) -> None:
    result = solve(instance_of(MODEL, ASSIGNMENT), method=method, time_limit=120, threads=1)
    assert result.status == "optimal"
    assert result.levels[0].value == result.levels[0].bound == OPTIMUM


def test_every_assignment_costs_and_breaks_what_the_files_say() -> None:
    instance, reference = instance_of(MODEL, ASSIGNMENT), read_files(MODEL, ASSIGNMENT)
    rng = random.Random(1)
    kept = agrees(instance, reference, reference.start)
    for _ in range(1500):
        x = list(reference.start)
        for process in rng.sample(range(len(x)), rng.randint(1, len(x))):
            x[process] = rng.randrange(len(reference.capacity))
        kept += agrees(instance, reference, x)
    assert kept > 5


def test_the_start_has_to_be_named() -> None:
    with pytest.raises(ArgumentError, match="--assignment"):
        READERS["roadef2012"](MODEL)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    for whole, other in ((MODEL, ASSIGNMENT), (ASSIGNMENT, MODEL)):
        words = whole.read_text().split()
        path = tmp_path / "cut.txt"
        for length in range(len(words)):
            path.write_text(" ".join(words[:length]))
            model, assignment = (path, other) if whole is MODEL else (other, path)
            with pytest.raises(InputError, match=r"cut\.txt"):
                READERS["roadef2012"](model, assignment=assignment)


WRONG = {
    "a word": ("0 1\n1 10", "x 1\n1 10", ["line 2, number 1", "= x", "transient"]),
    "negative": ("0 1\n1 10", "0 -1\n1 10", ["line 2, number 2", "= -1", "a weight"]),
    "a third state": ("0 1\n1 10", "2 1\n1 10", ["line 2, number 1", "= 2", "0 or 1"]),
    "absurd count": ("3\n0 1\n1 10", "300000\n0 1\n1 10", ["line 1, number 1", "number of resources"]),
    "unknown service": ("\n6\n0 ", "\n6\n9 ", ["line 16, number 1", "= 9", "less than 4"]),
    "too long": ("1 5 1\n", "1 5 1\n7 8\n", ["line 26, number 1", "= 7", "after the last"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_model_is_refused_where_it_is_wrong(name: str, tmp_path: Path) -> None:
    old, new, said = WRONG[name]
    text = MODEL.read_text()
    assert old in text
    path = tmp_path / "model.txt"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        READERS["roadef2012"](path, assignment=ASSIGNMENT)
    for part in said:
        assert part in str(caught.value)


@pytest.mark.parametrize(("text", "said"), [("1 2 0 1 3 4", "= 4"), ("1 2 0 1 3 1 1", "after the last")])
def test_a_malformed_start_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "start.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        READERS["roadef2012"](MODEL, assignment=path)


# ---------------------------------------------------------------- published instances

DATA = Path(os.environ.get("ALLOCATOR_DATA", "")) / "roadef2012"


def stored() -> list[Any]:
    table = DATA / "bestknown.csv"
    if not table.is_file():
        return []
    with table.open(newline="", encoding="utf-8") as stream:
        return [
            pytest.param(row["instance"], int(row["initial"]), id=row["instance"]) for row in csv.DictReader(stream)
        ]


@pytest.mark.skipif(not stored(), reason="ALLOCATOR_DATA names no folder with roadef2012/bestknown.csv")
@pytest.mark.parametrize(("name", "initial"), stored())
def test_the_initial_cost_is_the_stored_one_and_other_plans_cost_what_the_files_say(name: str, initial: int) -> None:
    folder = DATA / name[0].upper()
    model, assignment = folder / f"model_{name}.txt", folder / f"assignment_{name}.txt"
    instance, reference = instance_of(model, assignment), read_files(model, assignment)
    assert reference.cost(reference.start) == initial
    assert agrees(instance, reference, reference.start)
    rng = random.Random(name)
    x = list(reference.start)
    for process in rng.sample(range(len(x)), len(x) // 20):
        x[process] = rng.randrange(len(reference.capacity))
    agrees(instance, reference, x)
