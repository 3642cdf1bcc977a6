"""Published instances are read as what is stored about them says. Runs where ALLOCATOR_DATA names their folder."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allocator.errors import InputError
from allocator.formats.registry import READERS
from allocator.instance import instance_from_dict
from allocator.solve import solve

DATA = os.environ.get("ALLOCATOR_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="ALLOCATOR_DATA names no folder of public instances")
LARGE_BYTES = 100_000
NEGATIVE = {"classC_120_10_5.vbp"}
"""Files with negative sizes, which no vector bin packing problem has."""


def stored(kind: str, folder: str, prefixes: tuple[str, ...] = ("",)) -> Iterator[Any]:
    table = Path(DATA or ".") / folder / "bestknown.csv"
    if not table.is_file():
        return
    with table.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["path"].startswith(prefixes) and Path(row["path"]).name not in NEGATIVE:
                yield pytest.param(kind, table.parent / row["path"], row, id=f"{kind}-{Path(row['path']).name}")


FILES = [
    *stored("gap", "gap"),
    *stored("ctap", "gqap", ("ctap/",)),
    *stored("gqap", "gqap", ("lee_ma/", "cordeau/")),
    *stored("vbp", "vbp"),
]


@pytest.mark.parametrize(("kind", "path", "row"), FILES)
def test_sizes_are_those_that_are_stored(kind: str, path: Path, row: dict[str, str]) -> None:
    document = READERS[kind](path)
    members = sum(workload.get("count", 1) for workload in document["workloads"])
    nodes = sum(domain.get("count", 1) for domain in document["topology"])
    assert members == int(row["items"])
    if kind == "vbp":
        assert len(document["resources"]) == int(row["dims"])
        assert nodes >= int(row["OPT(-1=unknown)"])
    else:
        assert nodes == int(row["agents"] if kind == "gap" else row["sites"])
    if path.stat().st_size < LARGE_BYTES:
        instance_from_dict(document, str(path))


def test_the_optimum_of_a_task_assignment_is_the_enumerated_one() -> None:
    result = solve(instance_from_dict(READERS["ctap"](Path(DATA or ".") / "gqap/ctap/tass1003Aa.dat")), time_limit=120)
    assert result.status == "optimal"
    assert result.levels[0].value == 731


def test_a_published_file_with_negative_sizes_is_refused_where_they_are() -> None:
    path = Path(DATA or ".") / "vbp/Triplet_instances_multidim/Caprara/classC_120_10_5.vbp"
    with pytest.raises(InputError, match="line 24, number 9 = -1: must be a size: at least 0"):
        READERS["vbp"](path)
