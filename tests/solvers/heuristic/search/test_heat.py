"""Temperatures follow from the worsenings that are met."""

from __future__ import annotations

import numpy as np
import pytest

from allocator.solvers.heuristic.search.heat import (
    COLD,
    LAST_TAKEN,
    LONG_WALK,
    MEMORY,
    Course,
    Schedule,
    Thermostat,
    heat_for,
)

HOT, COOL = Course(0.9), Course(0.3)


@pytest.mark.parametrize("taken", [0.9, 0.4, 0.03, 1e-3])
def test_that_part_of_the_worsenings_is_taken(taken: float) -> None:
    worsenings = np.random.default_rng(1).lognormal(10, 2, 2000)
    heat = heat_for(worsenings, taken)
    assert np.exp(-worsenings / heat).mean() == pytest.approx(taken, rel=1e-3)


@pytest.mark.parametrize("worsenings", [np.zeros(0), np.zeros(10)])
def test_without_worsenings_there_is_no_heat(worsenings: np.ndarray) -> None:
    assert heat_for(worsenings, 0.5) == 0.0
    assert Thermostat().heat(worsenings, 0.5, 0.0) == COLD


def test_a_longer_walk_starts_hotter_and_ends_alike() -> None:
    short, long = Course.within(40, 0.88), Course.within(LONG_WALK, 0.88)
    assert short.first < long.first == 0.88
    assert short.taken(1.0) == long.taken(1.0) == pytest.approx(LAST_TAKEN)
    assert Course.within(0, 0.88).first == LAST_TAKEN


def test_a_bent_course_falls_late() -> None:
    plain, bent = Course(0.8), Course(0.8, 2.0)
    assert plain.taken(0.25) == pytest.approx(bent.taken(0.5))
    assert bent.taken(0.5) > plain.taken(0.5)


def test_a_schedule_cools_each_walk_by_its_own_course() -> None:
    schedule = Schedule((HOT, COOL), 0.2)
    assert [schedule.taken(walk, 0.2) for walk in range(3)] == pytest.approx([0.9, 0.3, 0.9])
    assert schedule.taken(0, 0.6) == pytest.approx(HOT.taken(0.5))
    assert [schedule.taken(walk, 1.0) for walk in range(2)] == pytest.approx([LAST_TAKEN, LAST_TAKEN])
    assert schedule.part(0.6) == pytest.approx(0.5)
    assert [schedule.comparable(progress) for progress in (0.5, 0.95)] == [False, True]
    assert Schedule((HOT,), 0.2).comparable(0.3)


def test_with_time_for_several_coolings_each_starts_hot_and_the_last_ends_cold() -> None:
    schedule = Schedule((HOT,), 0.2, turns=4)
    for turn in range(4):
        assert schedule.part(0.2 + 0.2 * turn + 1e-9) == pytest.approx(0.0, abs=1e-5)
        assert schedule.part(0.4 + 0.2 * turn - 1e-9) == pytest.approx(1.0, abs=1e-5)
    assert schedule.part(1.0) == 1.0


def test_the_temperature_follows_the_worsenings_smoothly_and_starts_anew_with_a_cooling() -> None:
    thermostat, worsenings = Thermostat(), np.random.default_rng(3).lognormal(0, 1, 2000)
    first = thermostat.heat(worsenings, 0.5, 0.1)
    assert first == heat_for(worsenings, 0.5)
    larger = 1000 * worsenings  # the same plan, in other units
    assert thermostat.heat(larger, 0.5, 0.1001) == first  # too soon to look again
    then = thermostat.heat(larger, 0.5, 0.1 + MEMORY)
    assert then == pytest.approx(first * 1000 ** (1 - np.exp(-1.0)), rel=1e-6)
    assert thermostat.heat(larger, 0.5, 1.0) == pytest.approx(1000 * first, rel=1e-6)
    assert thermostat.heat(worsenings, 0.5, 0.0) == first
