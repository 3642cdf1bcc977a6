"""Progress: at most a line a second, first incumbents at once, values in human units, and never an exception."""

from __future__ import annotations

import io
import threading
from fractions import Fraction

import pytest

from allocator.cli import progress as module
from allocator.cli.progress import Progress
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.recorder import Event, Recorder

MODEL = Model("two", "two levels", (Level((Goal(GoalId.PLACED),)), Level((Goal(GoalId.POWER),))))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


def test_first_incumbents_show_at_once_and_others_at_most_once_a_second(clock: Clock) -> None:
    stream = io.StringIO()
    with Progress(MODEL, stream, live=False, elapsed=clock.monotonic) as shown:
        recorder = Recorder(clock.monotonic, (shown,))
        recorder.phase("search", 0)
        for step in range(100):
            clock.now = step / 20
            recorder.incumbent(0, float(step))
        clock.now = 5.0
        recorder.phase("search", 1)
        recorder.incumbent(1, 1500.0)
    lines = stream.getvalue().splitlines()
    assert 6 <= len(lines) <= 9
    assert any("level 1/2 placed" in line and "best 0" in line for line in lines)
    assert any("level 2/2 power" in line and "best 1.5 kW" in line for line in lines)


def test_the_first_better_plan_shows_at_once(clock: Clock) -> None:
    stream = io.StringIO()
    with Progress(MODEL, stream, live=False, elapsed=clock.monotonic) as shown:
        recorder = Recorder(clock.monotonic, (shown,))
        recorder.phase("search", 0)
        for value in (1.0, 2.0, 3.0):
            clock.now += 0.1
            recorder.incumbent(0, value)
        lines = stream.getvalue().splitlines()
    assert [line.rsplit(maxsplit=1)[-1] for line in lines[1:]] == ["1", "2"]


def test_the_last_state_is_written_at_the_end(clock: Clock) -> None:
    stream = io.StringIO()
    with Progress(MODEL, stream, live=False, elapsed=clock.monotonic) as shown:
        recorder = Recorder(clock.monotonic, (shown,))
        recorder.incumbent(0, 90.0)
        recorder.bound(0, 100.0)
    last = stream.getvalue().splitlines()[-1]
    assert "bound 100" in last
    assert "gap 10 %" in last


def test_infinite_and_missing_bounds_are_left_out(clock: Clock) -> None:
    stream = io.StringIO()
    with Progress(MODEL, stream, live=False, elapsed=clock.monotonic) as shown:
        for bound in (float("inf"), float("nan"), None):
            clock.now += 2
            shown(Event(clock.now, "bound", 0, 1.0, bound))
        clock.now += 2
        shown(Event(clock.now, "bound", 7, 1.0, 2.0))  # a level the model does not have
    assert "bound" not in stream.getvalue()


def test_a_closed_stream_does_not_stop_the_solve(clock: Clock) -> None:
    stream = io.StringIO()
    stream.close()
    with Progress(MODEL, stream, live=False, elapsed=clock.monotonic) as shown:
        shown(Event(0.0, "incumbent", 0, 1.0, None))
        shown(Event(5.0, "incumbent", 0, 2.0, None))


def test_events_come_from_any_thread(clock: Clock) -> None:
    stream = io.StringIO()
    with Progress(MODEL, stream, live=False, elapsed=clock.monotonic) as shown:
        threads = [
            threading.Thread(target=lambda: [shown(Event(0.0, "incumbent", 0, float(n), None)) for n in range(200)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(line.count("level") == 1 for line in stream.getvalue().splitlines())


def test_the_live_line_is_redrawn_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIVE_EVERY", 0.01)
    monkeypatch.setenv("COLUMNS", "60")
    stream = io.StringIO()
    drawn = threading.Event()
    write = stream.write

    def noticed(text: str) -> int:
        if "best" in text:
            drawn.set()
        return write(text)

    monkeypatch.setattr(stream, "write", noticed)
    with Progress(MODEL, stream, live=True, elapsed=lambda: float(Fraction(5, 2))) as shown:
        shown(Event(2.5, "incumbent", 1, 1500.0, 1000.0))
        assert drawn.wait(10)
    text = stream.getvalue()
    assert "\n" not in text
    assert text.endswith("\r")
    assert all(len(part) < 60 for part in text.split("\r"))
