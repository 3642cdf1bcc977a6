"""Numbers as people read them, and never rounded into a false claim."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from allocator.report.format import amount, goal_value, level_name, level_value, number, percent, price, seconds

GIB = 2**30


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (Fraction(1), "core", "1 core"),
        (Fraction(25, 2), "core", "12.5 cores"),
        (768 * GIB, "B", "768 GiB"),
        (Fraction(3 * GIB, 2), "B", "1.5 GiB"),
        (1023, "B", "1,023 B"),
        (400 * 10**9, "bit/s", "400 Gbit/s"),
        (3_200 * 10**9, "bit/s", "3.2 Tbit/s"),
        (120_000, "W", "120 kW"),
        (0, "W", "0 W"),
        (Fraction(7, 2), "", "3.5"),
        (Fraction(1, 4), "s", "250 ms"),
    ],
)
def test_amounts_have_the_unit_a_person_would_choose(value: Fraction, unit: str, text: str) -> None:
    assert amount(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (8001, "8,001"),
        (-8001, "-8,001"),
        (Fraction(1, 3), "0.3333"),
        (Fraction(64008, 10), "6,401"),
        (Fraction(100, 3), "33.33"),
        (Fraction(1, 10**7), "1e-07"),
        (10**20, "1.000e+20"),
        (10**400, "about 1e400"),
    ],
)
def test_numbers(value: Fraction, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (Fraction(0), "0 %"),
        (Fraction(1), "100 %"),
        (Fraction(1, 2), "50 %"),
        (Fraction(9999, 10000), ">99.9 %"),
        (Fraction(10001, 10000), ">100.0 %"),
        (Fraction(1, 10000), "<0.1 %"),
        (Fraction(831, 1000), "83.1 %"),
    ],
)
def test_percent(value: Fraction | None, text: str) -> None:
    assert percent(value) == text


@given(st.fractions(min_value=0, max_value=3))
def test_percent_says_0_and_100_only_when_exact(value: Fraction) -> None:
    text = percent(value)
    assert (text == "100 %") == (value == 1)
    assert (text == "0 %") == (value == 0)
    assert text not in {"100.0 %", "0.0 %"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (Fraction(3, 2), "1.5 s"), (Fraction(12, 1000), "12 ms"), (Fraction(5, 10**6), "5 us"),
     (125, "2 min 5 s"), (3720, "1 h 2 min")],
)  # fmt: skip
def test_seconds(value: Fraction, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize("goal", list(GoalId))
def test_every_goal_has_a_text(goal: GoalId) -> None:
    assert goal_value(goal, Fraction(1, 2))
    assert goal_value(goal, None) == "-"


def test_goals_have_units() -> None:
    assert goal_value(GoalId.THROUGHPUT, Fraction(32, 5)) == "6.4 tasks/s"
    assert goal_value(GoalId.PEAK, Fraction(831, 1000)) == "83.1 %"
    assert goal_value(GoalId.TRAFFIC, 12 * 10**9) == "12 Gbit/s x hops"
    assert goal_value(GoalId.POWER, 1500) == "1.5 kW"


def test_a_weighted_level_is_named_by_its_sum() -> None:
    level = Level((Goal(GoalId.TRAFFIC), Goal(GoalId.MOVES, Fraction(1, 10)), Goal(GoalId.THROUGHPUT)))
    assert level_name(level) == "traffic + 0.1 moves - throughput"
    assert level_value(level, Fraction(5)) == "5"
    assert level_value(Level((Goal(GoalId.POWER),)), Fraction(5)) == "5 W"


def test_prices_are_per_unit_a_person_buys() -> None:
    assert price(1 / GIB, "B") == "1 per GiB"
    assert price(2.5, "core") == "2.5 per core"
    assert price(1e-9, "bit/s") == "1 per Gbit/s"
    assert price(3.0, "") == "3 per unit"
