"""A bound that a value refutes is dropped; one that differs by summing floats alone is the value."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from allocator.solvers.milp.levels import LevelRun, Progress
from allocator.solvers.recorder import Recorder


@pytest.mark.parametrize(
    ("minimise", "value", "bound", "settled"),
    [
        (True, Fraction(100), Fraction(99), Fraction(99)),
        (True, Fraction(100), Fraction(101), None),
        (False, Fraction(100), Fraction(101), Fraction(101)),
        (False, Fraction(100), Fraction(99), None),
        (True, Fraction(100), Fraction(100) + Fraction(1, 10**10), Fraction(100)),
        (True, Fraction(100), None, None),
    ],
)
def test_a_refuted_bound_is_none(
    minimise: bool, value: Fraction, bound: Fraction | None, settled: Fraction | None
) -> None:
    progress = Progress(compiled=None, bounds=[bound])  # type: ignore[arg-type]
    objective = SimpleNamespace(minimise=minimise, step=None, scale=Fraction(1))
    run = LevelRun(None, None, None, progress, None, Recorder(lambda: 0.0), 0.0)  # type: ignore[arg-type]
    run._settle_bound(objective, 0, value)  # type: ignore[arg-type]
    assert progress.bounds == [settled]
