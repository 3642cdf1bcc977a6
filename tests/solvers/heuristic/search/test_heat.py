"""Temperatures follow from the worsenings that are met."""

from __future__ import annotations

import numpy as np
import pytest

from allocator.solvers.heuristic.search.heat import COLD, LAST_TAKEN, LONG_WALK, Schedule, heat_for, heat_range


@pytest.mark.parametrize("taken", [0.9, 0.4, 0.03, 1e-3])
def test_that_part_of_the_worsenings_is_taken(taken: float) -> None:
    worsenings = np.random.default_rng(1).lognormal(10, 2, 2000)
    heat = heat_for(worsenings, taken)
    assert np.exp(-worsenings / heat).mean() == pytest.approx(taken, rel=1e-3)


def test_a_longer_walk_starts_hotter_and_ends_alike() -> None:
    worsenings = np.random.default_rng(2).lognormal(0, 1, 2000)
    short, long = heat_range(worsenings, 40), heat_range(worsenings, LONG_WALK)
    assert short[0] < long[0]
    assert short[1] == long[1] == pytest.approx(heat_for(worsenings, LAST_TAKEN))


def test_without_worsenings_there_is_no_heat() -> None:
    assert heat_range(np.zeros(0), 100) == (0.0, 0.0)


def test_a_schedule_cools_each_walk_by_its_own_range() -> None:
    schedule = Schedule(((100.0, 1.0), (10.0, 1.0)), 0.2)
    assert [schedule.heat(walk, 0.2) for walk in range(3)] == [100.0, 10.0, 100.0]
    assert schedule.heat(0, 0.6) == pytest.approx(10.0)
    assert [schedule.heat(walk, 1.0) for walk in range(2)] == [1.0, 1.0]
    assert Schedule(((100.0, 1.0),), 0.2, 0.4).heat(0, 0.3) == pytest.approx(10.0)
    assert [schedule.comparable(progress) for progress in (0.5, 0.95)] == [False, True]
    assert Schedule(((100.0, 1.0),), 0.2).comparable(0.3)


def test_with_time_for_several_coolings_each_starts_hot_and_the_last_ends_cold() -> None:
    schedule = Schedule(((100.0, 1.0),), 0.2, turns=4)
    for turn in range(4):
        assert schedule.heat(0, 0.2 + 0.2 * turn + 1e-9) == pytest.approx(100.0, rel=1e-5)
        assert schedule.heat(0, 0.4 + 0.2 * turn - 1e-9) == pytest.approx(1.0, rel=1e-5)
    assert schedule.heat(0, 1.0) == 1.0
    assert Schedule(((0.0, 0.0),), 0.0).heat(0, 0.5) == COLD
