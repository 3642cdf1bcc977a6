"""Axes cover their values, keep their order and write round numbers."""

from __future__ import annotations

from itertools import pairwise
from math import log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.report.charts.scale import linear, logarithmic

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-6)
POSITIVE = st.floats(1e-6, 1e12)


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_a_linear_axis_covers_its_values_in_order(values: list[float]) -> None:
    scale = linear(values, 200.0, 10.0)
    places = [scale.place(value) for value in sorted(values)]
    assert all(10.0 - 1e-6 <= place <= 200.0 + 1e-6 for place in places)
    assert places == sorted(places, reverse=True)
    unseen = 1e-6 * (scale.high - scale.low)
    assert scale.low <= min(values) + unseen
    assert scale.high >= max(values) - unseen
    assert 2 <= len(scale.ticks) <= 8


@given(st.lists(POSITIVE, min_size=1, max_size=8))
def test_a_logarithmic_axis_covers_its_values(values: list[float]) -> None:
    scale = logarithmic(values, 0.0, 100.0)
    assert scale.low <= min(values) * (1 + 1e-6)
    assert scale.high >= max(values) * (1 - 1e-6)
    assert all(-1e-6 <= scale.place(value) <= 100 + 1e-6 for value in values)
    assert 2 <= len(scale.ticks) <= 8


@given(st.floats(1.5, 1e6))
def test_a_logarithmic_axis_gives_equal_ratios_equal_room(factor: float) -> None:
    scale = logarithmic([1.0, factor**3], 0.0, 300.0)
    steps = [scale.place(b) - scale.place(a) for a, b in pairwise((1.0, factor, factor**2, factor**3))]
    assert steps[0] == pytest.approx(steps[1]) == pytest.approx(steps[2])
    assert steps[0] == pytest.approx(300 * log10(factor) / log10(scale.high))


def test_the_ticks_are_round() -> None:
    assert linear([0.0, 1.0], 0, 1).ticks == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert linear([3.0, 17.0], 0, 1, zero=True).ticks == (0.0, 5.0, 10.0, 15.0, 20.0)
    assert logarithmic([3, 4], 0, 1).ticks == (1.0, 2.0, 5.0, 10.0)
    assert logarithmic([1, 900], 0, 1).ticks == (1.0, 10.0, 100.0, 1000.0)


def test_one_value_and_none_at_all() -> None:
    assert linear([7.0], 0, 1).low <= 7.0 <= linear([7.0], 0, 1).high
    assert linear([], 0, 1).ticks
    assert logarithmic([], 0, 1).ticks
    assert linear([0.0], 0, 1, zero=True).high > 0
