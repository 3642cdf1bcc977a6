"""One recorder writes what became known: in order, told to every listener, thinned without losing the end."""

from __future__ import annotations

from itertools import count, pairwise

from allocator.solvers.recorder import MAX_TRACE, Event, Recorder


def test_events_carry_time_value_and_bound_as_they_were() -> None:
    ticks = count(1)
    heard: list[Event] = []
    recorder = Recorder(lambda: float(next(ticks)), (heard.append,))
    recorder.phase("placed", level=0)
    recorder.incumbent(0, 5.0)
    recorder.bound(0, 9.0)
    recorder.incumbent(0, 7.0)
    recorder.phase("cost", level=1)
    recorder.bound(1, 2.0)
    assert [(e.seconds, e.kind, e.level, e.value, e.bound) for e in recorder.trace] == [
        (1, "phase", 0, None, None),
        (2, "incumbent", 0, 5, None),
        (3, "bound", 0, 5, 9),
        (4, "incumbent", 0, 7, 9),
        (5, "phase", 1, None, None),
        (6, "bound", 1, None, 2),
    ]
    assert heard == list(recorder.trace)
    assert heard[0].text == "placed"


def test_a_phase_without_a_level_keeps_the_incumbent() -> None:
    recorder = Recorder(lambda: 0.0)
    recorder.incumbent(0, 5.0)
    recorder.phase("checking")
    assert recorder.trace[-1].value == 5


def test_a_long_trace_is_thinned_evenly_and_keeps_the_latest_event() -> None:
    ticks = count()
    heard: list[Event] = []
    recorder = Recorder(lambda: float(next(ticks)), (heard.append,))
    total = 5 * MAX_TRACE
    for value in range(total):
        recorder.incumbent(0, float(value))
        assert recorder.trace[-1].value == value
    trace = recorder.trace
    assert len(heard) == total, "listeners hear everything"
    assert MAX_TRACE // 2 <= len(trace) <= MAX_TRACE
    assert trace[0].seconds == 0
    steps = {second.seconds - first.seconds for first, second in pairwise(trace[:-1])}
    assert steps == {8.0}, "one event in eight, early or late"


def test_thinning_keeps_where_levels_start_and_end() -> None:
    """A short first level is as visible after a long second one as before."""
    ticks = count()
    recorder = Recorder(lambda: float(next(ticks)))
    recorder.phase("placed", level=0)
    for value in range(1000):
        recorder.incumbent(0, float(value))
    recorder.phase("cost", level=1)
    for value in range(10 * MAX_TRACE):
        recorder.bound(1, float(value))
    recorder.phase("checking")
    trace = recorder.trace
    assert len(trace) <= MAX_TRACE
    assert [event.text for event in trace if event.kind == "phase"] == ["placed", "cost", "checking"]
    start = next(index for index, event in enumerate(trace) if event.level == 1)
    assert trace[start - 1].value == 999
    assert trace[-2].bound == 10 * MAX_TRACE - 1 or trace[-1].bound == 10 * MAX_TRACE - 1
    assert 20 < start < 1000
    assert all(first.seconds < second.seconds for first, second in pairwise(trace))
