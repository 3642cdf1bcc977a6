"""Values over time only get better, bounds stand as told, and the drawing ends where the run does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allocator.benchmark.records import read_records
from allocator.plan.record import Record
from allocator.report.html.figures import open_gap, shown_value, trace_pictures
from tests.report.html.folders import make_folder


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return read_records(make_folder(tmp_path / "one", methods=("milp",), seeds=(0,), failures=False))[0]


def rows(record: Record) -> list[tuple[str, ...]]:
    (picture,), more = trace_pictures([record], {"milp": 0}, "trace")
    assert more == 0
    assert picture.data is not None
    return [tuple(cell.text for cell in row[1:]) for row in picture.data.rows]


def test_values_get_better_and_bounds_stand_as_told(record: Record) -> None:
    trace = ((0.1, 1, 9e6, None), (0.2, 1, 9.5e6, 1e6), (0.3, 1, 8e6, 9e6), (0.4, 1, 8e6, 8e6))
    assert rows(replace(record, trace=trace)) == [
        ("value", "100 ms", "9 Mbit/s x hops"),
        ("value", "300 ms", "8 Mbit/s x hops"),
        ("bound", "200 ms", "1 Mbit/s x hops"),
        ("bound", "300 ms", "9 Mbit/s x hops"),
        ("bound", "400 ms", "8 Mbit/s x hops"),
    ]


def test_a_maximised_goal_only_climbs(record: Record) -> None:
    trace = ((0.1, 0, 4, None), (0.2, 0, 3, None), (0.3, 0, 6, 6))
    assert rows(replace(record, trace=trace)) == [
        ("value", "100 ms", "4"),
        ("value", "300 ms", "6"),
        ("bound", "300 ms", "6"),
    ]


def test_a_level_is_shown_with_its_unit_only_when_it_is_one_goal() -> None:
    assert shown_value({"traffic": 1}, 2e9) == "2 Gbit/s x hops"
    assert shown_value({"traffic": 2}, 2e9) == "2,000,000,000"
    assert shown_value({"traffic": 1, "moves": 1}, 2.5) == "2.5"
    assert shown_value({"peak": 1}, 0.5) == "50 %"
    assert shown_value({"peak": 1}, None) == "-"


def test_the_gap_is_that_of_the_first_level_that_is_open(record: Record) -> None:
    first, second = record.levels
    assert open_gap(record) == ("traffic", 0)
    opened = replace(record, levels=(first, {**second, "value": 10, "bound": 8}))
    assert open_gap(opened) == ("traffic", pytest.approx(0.2))
    both = replace(record, levels=({**first, "value": 5, "bound": 10}, {**second, "value": 10, "bound": 8}))
    assert open_gap(both) == ("placed", pytest.approx(0.5))
    assert open_gap(replace(record, levels=(first, {**second, "bound": None}))) is None
