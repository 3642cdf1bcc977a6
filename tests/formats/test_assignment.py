"""A plan goes out as node numbers that mean, in the file it came from, the value it has here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allocator.errors import InputError
from allocator.formats.registry import PLAN_WRITERS, READERS
from allocator.instance import instance_from_dict
from allocator.plan.entities import PlacedGroup, Plan
from allocator.solve import solve
from tests.formats.references import OPTIMA, REFERENCES, TINY


@pytest.mark.parametrize("kind", REFERENCES)
def test_the_assignment_has_the_value_in_the_original_file(kind: str, tmp_path: Path) -> None:
    instance = instance_from_dict(READERS[kind](TINY[kind]))
    plan = solve(instance, time_limit=120, threads=1).plan
    assert plan is not None
    target = tmp_path / "answer.txt"
    PLAN_WRITERS[kind](plan, instance, target)
    assignment = [int(line) for line in target.read_text().splitlines()]
    reference = REFERENCES[kind](TINY[kind].read_text())
    assert reference.fits(assignment)
    assert reference.value(assignment) == OPTIMA[kind]


DOCUMENT = {
    "format": "allocator/v1",
    "name": "pack",
    "topology": [{"level": "node", "name": "bin", "count": 3, "capacity": {"cpu": 4}}],
    "workloads": [
        {"class": "a", "count": 2, "requests": {"cpu": 1}},
        {"class": "b", "count": 3, "requests": {"cpu": 1}},
    ],
}


def plan(*groups: tuple[str, int, tuple[str, ...], int]) -> Plan:
    placed = tuple(PlacedGroup(name, first, count, "default", nodes, {}) for name, first, nodes, count in groups)
    return Plan("pack", "", placed)


def test_members_stand_in_the_order_of_classes_and_numbers(tmp_path: Path) -> None:
    instance = instance_from_dict(DOCUMENT)
    target = tmp_path / "answer.txt"
    shuffled = plan(("b", 1, ("bin2",), 2), ("b", 0, ("bin1",), 1), ("a", 0, ("bin0", "bin2"), 2))
    PLAN_WRITERS["vbp"](shuffled, instance, target)
    assert target.read_text() == "0\n2\n1\n2\n2\n"


def test_a_plan_that_leaves_members_out_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "answer.txt"
    with pytest.raises(InputError, match="2 of 5 members have no node"):
        PLAN_WRITERS["vbp"](plan(("b", 0, ("bin1",), 3)), instance_from_dict(DOCUMENT), target)
    assert not target.exists()


@pytest.mark.parametrize("group", [("c", 0, ("bin0",), 1), ("a", 1, ("bin0",), 2), ("a", 0, ("bin3",), 2)])
def test_a_plan_of_another_instance_is_refused(group: tuple[str, int, tuple[str, ...], int], tmp_path: Path) -> None:
    foreign = replace(plan(group), instance_name="other")
    with pytest.raises(InputError, match="is not of this instance"):
        PLAN_WRITERS["gap"](foreign, instance_from_dict(DOCUMENT), tmp_path / "answer.txt")
