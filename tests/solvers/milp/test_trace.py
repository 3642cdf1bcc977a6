"""What is streamed while levels are solved: bounds never pass the value that is reached, and never get worse."""

from __future__ import annotations

from pathlib import Path

from allocator import load_instance, solve
from allocator.solvers.recorder import Event

QUICKSTART = Path(__file__).parents[3] / "instances" / "quickstart" / "quickstart.yaml"


def test_bounds_on_the_way_hold_at_the_end() -> None:
    """A start is completed in a run of its own, whose bounds (378.8e9 of 266e9 once) are not the model's."""
    events: list[Event] = []
    result = solve(load_instance(QUICKSTART), method="milp", time_limit=120, listeners=[events.append])
    for index, level in enumerate(result.levels):
        assert level.value is not None
        bounds = [e.bound for e in events if e.kind == "bound" and e.level == index and e.bound is not None]
        assert bounds
        if level.level.sense == "min":
            assert max(bounds) <= float(level.value) * (1 + 1e-9)
            assert bounds == sorted(bounds)
        else:
            assert min(bounds) >= float(level.value) * (1 - 1e-9)
            assert bounds == sorted(bounds, reverse=True)
