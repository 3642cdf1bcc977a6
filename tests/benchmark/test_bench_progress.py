"""What a person sees while a suite runs, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest

from allocator.benchmark.forecast import Forecast
from allocator.benchmark.runner import RunEvent
from allocator.cli.bench_progress import BenchProgress, clock
from tests.benchmark.record_builder import make

EVENTS = [
    RunEvent("note", 1, 3, text="left out: x"),
    RunEvent("begin", 1, 3),
    RunEvent("finished", 2, 3, 75.0, make("a", "milp", bound=10)),
    RunEvent("finished", 3, 3, 0.0, make("b", "greedy", wrong=True)),
]


def show(*, live: bool) -> str:
    stream = io.StringIO()
    with BenchProgress(stream, live=live) as progress:
        for event in EVENTS:
            progress(event)
    return stream.getvalue()


def test_elsewhere_a_line_a_run_with_an_estimate() -> None:
    assert show(live=False).splitlines() == [
        "left out: x",
        "1 of 3 runs are recorded already",
        "2/3  a  cost  milp  seed 0  optimal 10  1.0 s  about 75 s left",
        "3/3  b  cost  greedy  seed 0  WRONG: it is not so  1.0 s  about 0 s left",
    ]


def test_on_a_terminal_a_bar_and_only_what_matters() -> None:
    text = show(live=True)
    assert "left out: x" in text
    assert "WRONG: it is not so" in text
    assert "optimal 10" not in text


def test_a_reader_that_has_gone_does_not_end_the_suite() -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    with BenchProgress(Gone(), live=False) as progress:
        for event in EVENTS:
            progress(event)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (7800, "2 h 10 min")])
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_the_estimate_learns_from_the_same_case_then_the_method_then_all() -> None:
    class Limits:
        seconds, grace = 60.0, 20.0

    class Named:
        name = "cost"

    def run(method: str, case: str = "a") -> object:
        return type(
            "Run", (), {"case": type("C", (), {"label": case}), "model": Named, "method": method, "limits": Limits}
        )

    forecast = Forecast([], 2)
    assert forecast.seconds_left([]) == 0.0
    assert forecast.seconds_left([run("x")]) is None  # type: ignore[list-item]
    forecast = Forecast([make("a", "x", seconds=10.0), make("b", "x", seconds=30.0), make("a", "y", seconds=500.0)], 2)
    assert forecast.seconds_left([run("x", "a"), run("x", "c")]) == (10 + 20) / 2  # type: ignore[list-item]
    assert forecast.seconds_left([run("y", "a")]) == 80 / 2  # type: ignore[list-item]  # never more than its limit
    assert forecast.seconds_left([run("z", "a")]) == 80 / 2  # type: ignore[list-item]
