"""Enclosures hold the true value, by twice the digits and by exact roots; tables no link can have are refused."""

from __future__ import annotations

import random
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from allocator.errors import ArgumentError
from allocator.linearization import (
    Enclosure,
    Fair,
    Knee,
    Polyline,
    Reciprocal,
    Shape,
    Table,
    concave_envelope,
    convex_envelope,
    exponential,
    ln_100,
    logarithm,
)
from allocator.linearization.enclosures import float_above, float_below

PRECISE = Context(prec=90)


def _precise_knee(p: Fraction, rho: Fraction) -> tuple[Fraction, Fraction]:
    power = PRECISE.divide(Decimal(p.numerator), Decimal(p.denominator))
    load = PRECISE.divide(Decimal(rho.numerator), Decimal(rho.denominator))
    grown = PRECISE.add(Decimal(1), PRECISE.power(load, power))
    root = PRECISE.power(grown, PRECISE.divide(Decimal(-1), power))
    return Fraction(PRECISE.multiply(load, root)), Fraction(PRECISE.divide(root, grown))


def test_knee_encloses_the_value_of_ninety_digits() -> None:
    source = random.Random(1)
    for _ in range(400):
        p = Fraction(source.randint(1, 400), 20)
        rho = Fraction(source.randint(1, 10**6), 10 ** source.randint(3, 7))
        for enclosure, true in zip((Knee(p).value(rho), Knee(p).slope(rho)), _precise_knee(p, rho), strict=True):
            assert enclosure.lower <= true <= enclosure.upper
            assert enclosure.width <= true / 10**24


@pytest.mark.parametrize("p", [1, 2, 3, 4, 16])
def test_knee_encloses_the_root_that_powers_decide_exactly(p: int) -> None:
    """Phi <= u exactly when rho^p <= u^p (1 + rho^p): no root needed."""
    source = random.Random(p)
    for _ in range(60):
        rho = Fraction(source.randint(1, 5000), 1000)
        found = Knee(Fraction(p)).value(rho)
        assert found.lower**p * (1 + rho**p) <= rho**p <= found.upper**p * (1 + rho**p)


def test_knee_at_its_special_points() -> None:
    assert Knee().value(Fraction(0)) == Enclosure.exact(0)
    assert Knee().slope(Fraction(0)) == Enclosure.exact(1)
    at_capacity = Knee(Fraction(2)).value(Fraction(1))
    assert at_capacity.lower**2 <= Fraction(1, 2) <= at_capacity.upper**2
    far = Knee().value(Fraction(10**30))
    assert far.lower <= 1 <= far.upper
    tiny = Knee().value(Fraction(1, 10**30))
    assert tiny.lower <= Fraction(1, 10**30) <= tiny.upper * (1 + Fraction(1, 10**30))


def test_exponential_and_logarithm_are_inverse_within_their_enclosures() -> None:
    for x in (Fraction(1, 7), Fraction(1), Fraction(35, 3), Fraction(-20), Fraction(0)):
        back = logarithm(exponential(Enclosure.exact(x)))
        assert back.lower <= x <= back.upper
        assert back.width < Fraction(1, 10**24)
    assert logarithm(Enclosure.exact(1)) == Enclosure.exact(0)


def test_logarithm_of_100() -> None:
    assert ln_100().lower < Fraction("4.605170185988091368035982909368728415202202977") < ln_100().upper


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(-1, 3), Fraction(2, 7**30), Fraction(5)])
def test_floats_around_a_rational_are_neighbours_or_the_number(number: Fraction) -> None:
    below, above = float_below(number), float_above(number)
    assert below <= number <= above
    assert Fraction(float(below)) == below
    assert Fraction(float(above)) == above
    assert above - below <= abs(number) / 2**51


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Knee(Fraction(0)), "p > 0"),
        (lambda: Fair().value(Fraction(-1)), "load 0"),
        (lambda: Reciprocal().value(Fraction(0)), "not defined"),
        (lambda: Reciprocal(Fraction(0)), "scale > 0"),
        (lambda: Enclosure(Fraction(1), Fraction(0)), "lower <= upper"),
        (lambda: logarithm(Enclosure.exact(0)), "positive"),
        (lambda: exponential(Enclosure.exact(10**7)), "too large"),
        (lambda: Polyline(((0, 0),)), "two points"),
        (lambda: Polyline(((0, 0), (0, 1))), "must rise"),
        (lambda: Polyline(((0, 0), (0.5, 1))), "exact"),  # type: ignore[arg-type]
        (lambda: Polyline(((0, 0), (1, 1))).at(Fraction(2)), "not at 2"),
        (lambda: Table(((Fraction(1, 2), Fraction(3, 5)),)), "between 0 and"),
        (lambda: Table(((1, Fraction(1, 2)), (2, Fraction(11, 10)))), "between 0 and"),
        (lambda: Table(((1, Fraction(1, 4)), (2, 1))), "rises"),
        (lambda: Table(((0, Fraction(1, 4)), (2, 1))), "starts at"),
        (lambda: Table(((1, 1), (1, 1))), "must rise"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        call()  # type: ignore[operator]


def test_a_collapse_is_not_concave_even_if_its_points_are() -> None:
    falling = Table(((1, 1), (2, Fraction(1, 2))))
    assert falling.polyline(Fraction(2)).shape is Shape.CONCAVE
    assert falling.shape is Shape.NEITHER
    assert Table(((1, 1),)).shape is Shape.CONCAVE
    assert falling.at(Fraction(5)) == Fraction(1, 2)
    assert falling.slope(Fraction(1)) == Enclosure(Fraction(-1, 2), Fraction(1))


def test_envelopes_are_the_nearest_of_their_kind() -> None:
    """On either side of f, of the right shape, touching f at each of their points; the hull is thereby unique."""
    source = random.Random(5)
    for _ in range(200):
        points = tuple((Fraction(i), Fraction(source.randint(-9, 9))) for i in range(source.randint(2, 9)))
        line = Polyline(points)
        above, below = concave_envelope(line), convex_envelope(line)
        assert above.shape is Shape.CONCAVE or len(set(above.slopes)) == 1
        assert all(a <= b for a, b in zip(below.slopes, below.slopes[1:], strict=False))
        for x, y in points:
            assert below.at(x) <= y <= above.at(x)
        assert set(above.points) <= set(points)
        assert set(below.points) <= set(points)


def test_a_polyline_scales_like_a_link() -> None:
    line = Table(((1, 1), (2, Fraction(1, 2)))).polyline(Fraction(3)).scaled(Fraction(10))
    assert line.at(Fraction(10)) == 10
    assert line.at(Fraction(15)) == Fraction(15, 2)
    assert line.shifted(Fraction(1)).at(Fraction(10)) == 11
    assert Polyline(((0, 0), (1, 1), (2, 2), (3, 0))).simplified().points == ((0, 0), (2, 2), (3, 0))
