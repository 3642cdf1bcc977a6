"""Limits are values; a budget is one run of them, and its parts never outlast it."""

from __future__ import annotations

import math
import threading

import pytest

from allocator.errors import ArgumentError, BudgetExhausted
from allocator.solvers.budget import Limits


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_time_runs_from_the_start_and_ends_at_zero() -> None:
    clock = Clock()
    budget = Limits(10).start(clock)
    assert (budget.elapsed(), budget.remaining(), budget.exhausted) == (0, 10, False)
    clock.now += 9.5
    budget.check()
    clock.now += 1
    assert (budget.elapsed(), budget.remaining(), budget.exhausted) == (10.5, 0, True)
    with pytest.raises(BudgetExhausted, match="time limit"):
        budget.check()


def test_seconds_spent_before_the_start_count() -> None:
    budget = Limits(10).start(Clock(), spent=4)
    assert (budget.elapsed(), budget.remaining()) == (4, 6)


def test_without_a_limit_nothing_runs_out_but_interruption_stops() -> None:
    budget = Limits().start()
    assert budget.remaining() == math.inf
    assert budget.portion(0.5).remaining() == math.inf
    threading.Thread(target=budget.interrupt).run()
    assert budget.interrupted
    assert budget.exhausted
    with pytest.raises(BudgetExhausted, match="interrupted"):
        budget.check()


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_a_limit_that_is_not_positive_is_refused(seconds: float) -> None:
    with pytest.raises(ArgumentError, match="time limit"):
        Limits(seconds)


def test_negative_iterations_are_refused_and_zero_is_a_limit() -> None:
    with pytest.raises(ArgumentError, match="iterations"):
        Limits(iterations=-1)
    assert Limits(iterations=0).start().limits.iterations == 0


def test_a_portion_ends_after_its_share_of_what_is_left_and_shares_clock_and_interruption() -> None:
    clock = Clock()
    budget = Limits(10, iterations=7).start(clock)
    clock.now += 2
    half = budget.portion(0.5)
    assert (half.elapsed(), half.remaining(), half.limits.iterations) == (2, 4, 7)
    clock.now += 4
    assert half.exhausted
    assert not budget.exhausted
    quarter = budget.portion(0.25)
    budget.interrupt()
    assert half.interrupted
    assert quarter.interrupted


def test_a_portion_of_nothing_is_exhausted_not_an_error() -> None:
    clock = Clock()
    budget = Limits(1).start(clock)
    clock.now += 5
    assert budget.portion(0.5).exhausted
    assert budget.at_most(3).exhausted


def test_at_most_is_the_sooner_of_the_two_ends() -> None:
    clock = Clock()
    budget = Limits(10).start(clock)
    clock.now += 1
    assert budget.at_most(3).remaining() == 3
    assert budget.at_most(30).remaining() == 9
    assert Limits().start(clock).at_most(3).remaining() == 3


def test_a_least_time_goes_beyond_the_end_and_stops_when_interrupted() -> None:
    clock = Clock()
    budget = Limits(10).start(clock)
    assert budget.at_least(3).remaining() == 10
    clock.now += 9
    late = budget.at_least(3)
    assert late.remaining() == 3
    clock.now += 3
    assert late.exhausted
    assert budget.at_least(1).remaining() == 1
    budget.interrupt()
    assert budget.at_least(1).exhausted
    assert Limits().start().at_least(1).remaining() == math.inf
