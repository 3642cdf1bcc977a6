"""The true goodput curves at points worked out by hand, and their shape."""

from __future__ import annotations

from fractions import Fraction
from math import isclose

import pytest

from allocator.checker.curves import carries, goodput
from allocator.instance.entities import Goodput

F = Fraction
FAIR = Goodput()
TABLE = Goodput("table", points=((F(1, 2), F(1, 2)), (F(1), F(9, 10)), (F(2), F(3, 5))))


def test_fair_is_the_smaller_of_load_and_capacity() -> None:
    assert goodput(FAIR, F(10), F(7)) == 7
    assert goodput(FAIR, F(10), F(70)) == 10
    assert carries(FAIR, F(10), F(70), F(10))
    assert not carries(FAIR, F(10), F(70), F(10) + F(1, 10**30))


@pytest.mark.parametrize(
    ("load", "value"), [(0, 0), (25, 25), (50, 50), (75, 70), (100, 90), (150, 75), (200, 60), (900, 60)]
)
def test_a_table_is_linear_between_its_points(load: int, value: int) -> None:
    """C = 100; incast collapse: beyond its peak the curve falls, and stays constant after the last point."""
    assert goodput(TABLE, F(100), F(load)) == value
    assert carries(TABLE, F(100), F(load), F(value))
    assert not carries(TABLE, F(100), F(load), F(value) + F(1, 10**9))


@pytest.mark.parametrize("power", [F(1), F(4), F(9, 2), F(1, 2), F(65), F(1000)])
@pytest.mark.parametrize("ratio", [F(1, 10**6), F(1, 3), F(1), F(3), F(10**6)])
def test_a_knee_matches_its_formula(power: Fraction, ratio: Fraction) -> None:
    """The value is rho / (1 + rho^p)^(1/p), from the side that does not overflow; the decision brackets the value."""
    small = min(ratio, 1 / ratio)
    expected = float(min(ratio, F(1))) / (1 + float(small) ** float(power)) ** (1 / float(power))
    curve = Goodput("knee", power)
    value = goodput(curve, F(10), 10 * ratio)
    assert isclose(float(value), 10 * expected, rel_tol=1e-12)
    assert carries(curve, F(10), 10 * ratio, value)
    assert not carries(curve, F(10), 10 * ratio, value * (1 + F(1, 10**30)))


def test_a_knee_of_one_half_load_by_hand() -> None:
    """With p = 1, rho = 1: 1/2 exactly."""
    assert carries(Goodput("knee", F(1)), F(10), F(10), F(5))
    assert not carries(Goodput("knee", F(1)), F(10), F(10), F(5) + F(1, 10**40))


def test_nothing_flows_without_load_or_capacity() -> None:
    for curve in (FAIR, TABLE, Goodput("knee")):
        assert goodput(curve, F(10), F(0)) == goodput(curve, F(0), F(10)) == 0
        assert carries(curve, F(0), F(10), F(0))
        assert not carries(curve, F(0), F(10), F(1))
