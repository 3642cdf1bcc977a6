"""Pieces stay on their side, keep their proven error, and are as few as any; on curves and on random polygons."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, log, sqrt

import pytest

from allocator.errors import ArgumentError
from allocator.linearization import (
    Certificate,
    Enclosure,
    Fair,
    Function,
    Knee,
    Pieces,
    Polyline,
    Reciprocal,
    Shape,
    Side,
    Smooth,
    Table,
    approximate,
    chords,
    inner,
    outer,
    tangents,
)

ONE = Fraction(1)
PARABOLA = Smooth(lambda x: Enclosure.exact(x * x), lambda x: Enclosure.exact(2 * x), Shape.CONVEX, name="square")
DOME = Smooth(lambda x: Enclosure.exact(-x * x + 4), lambda x: Enclosure.exact(-2 * x), Shape.CONCAVE, name="dome")
CURVES: dict[str, tuple[Function, Fraction, Fraction]] = {
    "fair": (Fair(), Fraction(0), Fraction(4)),
    "knee1": (Knee(ONE), Fraction(0), Fraction(4)),
    "knee4": (Knee(), Fraction(0), Fraction(4)),
    "knee16": (Knee(Fraction(16)), Fraction(0), Fraction(4)),
    "knee4 loaded": (Knee(), Fraction(1, 3), Fraction(40)),
    "table": (Table(((Fraction(1, 2), Fraction(1, 2)), (1, Fraction(4, 5)), (2, 1))), Fraction(0), Fraction(3)),
    "reciprocal": (Reciprocal(), Fraction(1, 20), Fraction(2)),
    "delay": (Reciprocal(pole=ONE, right_of_pole=False), Fraction(0), Fraction(19, 20)),
    "square": (PARABOLA, Fraction(1), Fraction(5)),
    "dome": (DOME, Fraction(-1), Fraction(3, 2)),
}
TOLERANCES = (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))


def _samples(pieces: Pieces, number: int, seed: int) -> list[Fraction]:
    source = random.Random(seed)
    span = pieces.high - pieces.low
    spread = [pieces.low + span * Fraction(source.getrandbits(32), 2**32) for _ in range(number)]
    return [pieces.low, pieces.high, *spread, *pieces.contacts, pieces.attained_at]


def _holds(pieces: Pieces, number: int = 60, seed: int = 0) -> None:
    """The side and the certified error, at random points and at every contact."""
    for x in _samples(pieces, number, seed):
        true, found = pieces.function.value(x), pieces.value(x)
        gap = found - true.upper if pieces.above else true.lower - found
        assert gap >= -true.width, (pieces, x)
        # the least error that the enclosure leaves possible must not exceed what is certified
        size = max(abs(true.lower), abs(true.upper)) if pieces.relative else ONE
        assert gap <= pieces.max_error * size, (pieces, x)


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("name", CURVES)
def test_certified_at_ten_one_and_a_tenth_percent(name: str, relative: bool) -> None:
    function, low, high = CURVES[name]
    for side in Side:
        numbers = []
        for tolerance in TOLERANCES[: 2 if name in {"knee1", "knee4 loaded"} else 3]:
            pieces = approximate(function, side, low, high, tolerance, relative=relative)
            assert pieces.max_error <= tolerance
            _holds(pieces)
            numbers.append(len(pieces.segments))
        assert numbers == sorted(numbers), "a tighter tolerance never takes fewer pieces"


@pytest.mark.parametrize(
    ("name", "ten", "one", "tenth"), [("fair", 2, 2, 2), ("knee4", 3, 7, 20), ("knee16", 2, 4, 10)]
)
def test_number_of_pieces_reported_in_the_notes(name: str, ten: int, one: int, tenth: int) -> None:
    function, low, high = CURVES[name]
    for side in Side:
        numbers = [len(approximate(function, side, low, high, tolerance).segments) for tolerance in TOLERANCES]
        assert numbers == [ten, one, tenth]


def test_a_parabola_needs_as_many_pieces_as_its_formula_says() -> None:
    """A chord or tangent that serves a length w misses x^2 by w^2 / 4: ceil(span / (2 sqrt tolerance)) of them."""
    for tolerance, number in ((Fraction(1, 10), 7), (Fraction(1, 100), 20), (Fraction(1, 997), 63)):
        for side in Side:
            pieces = approximate(
                PARABOLA, side, Fraction(1), Fraction(5), tolerance * Fraction(101, 100), relative=False
            )
            assert len(pieces.segments) == number


def test_a_reciprocal_needs_as_many_tangents_as_its_ratio_says() -> None:
    """The tangent of 1/x at t serves [t (1 - e), t (1 + e)], e = sqrt(tolerance), wherever it stands."""
    for tolerance in TOLERANCES[:2]:
        pieces = outer(Reciprocal(), Fraction(1, 100), Fraction(100), tolerance)
        root = sqrt(tolerance)
        assert len(pieces.segments) == ceil(log(10**4) / log((1 + root) / (1 - root)))


@pytest.mark.parametrize(("p", "high"), [("1/10", 10**3), ("1/2", 10**6), ("1", 10**9), ("4", 10**9), ("4", 10**15)])
def test_tangents_of_a_long_range_are_no_farther_from_the_curve_than_those_of_a_short_one(p: str, high: int) -> None:
    """Rounding a slope must not cost in proportion to the range: a slow link may be offered billions of times more."""
    pieces = outer(Knee(Fraction(p)), Fraction(0), Fraction(high), Fraction(1, 100))
    _holds(pieces, number=20)
    for exponent in range(-40, 50):
        x = Fraction(2) ** exponent
        if x <= high:
            assert pieces.error_at(x) <= Fraction(1, 100)


def test_random_knees_over_random_ranges_keep_side_and_error() -> None:
    source = random.Random(77)
    for seed in range(12):
        knee = Knee(Fraction(source.randint(10, 160), 10))
        low = Fraction(source.choice([0, source.randint(1, 90)]), 100)
        high = low + Fraction(source.randint(50, 900), 100)
        for side in Side:
            pieces = approximate(knee, side, low, high, Fraction(1, 20), relative=source.random() < 0.5)
            assert pieces.max_error <= Fraction(1, 20)
            _holds(pieces, number=30, seed=seed)


def test_slopes_and_intercepts_of_curves_are_floats() -> None:
    for side in Side:
        for segment in approximate(Knee(), side, Fraction(1, 3), Fraction(4), Fraction(1, 100)).segments:
            assert Fraction(float(segment.slope)) == segment.slope
            assert Fraction(float(segment.intercept)) == segment.intercept


def test_pieces_tied_to_a_zero_pass_through_it() -> None:
    for side in Side:
        first = approximate(Knee(), side, Fraction(0), Fraction(4), Fraction(1, 100)).segments[0]
        assert first.intercept == 0
    assert outer(Knee(), Fraction(0), Fraction(4), Fraction(1, 100)).segments[0].slope == 1


def test_piecewise_linear_functions_come_back_exactly_where_nothing_is_saved() -> None:
    for side in Side:
        pieces = approximate(Fair(), side, Fraction(0), Fraction(4), Fraction(0))
        assert [(s.slope, s.intercept) for s in pieces.segments] == [(1, 0), (0, 1)]
        assert pieces.max_error == 0


def test_a_convex_cost_that_starts_at_zero_is_tied_to_it() -> None:
    """Congestion with its slopes 1, 3, 10, 70, 500, 5000: a tolerance of 90 % saves pieces, and none pays at load 0."""
    bends = [Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(9, 10), ONE, Fraction(11, 10), Fraction(6, 5)]
    points, height = [(Fraction(0), Fraction(0))], Fraction(0)
    for (left, right), slope in zip(pairwise(bends), (1, 3, 10, 70, 500, 5000), strict=True):
        height += slope * (right - left)
        points.append((right, height))
    cost = Polyline(tuple(points))
    for side in Side:
        assert len(approximate(cost, side, cost.low, cost.high, Fraction(0)).segments) == 6
        coarse = approximate(cost, side, cost.low, cost.high, Fraction(9, 10))
        assert len(coarse.segments) < 6
        assert coarse.value(Fraction(0)) == 0
        assert coarse.error_at(Fraction(0)) == 0
        _holds(coarse)


def test_balanced_pieces_are_as_many_with_a_smaller_error() -> None:
    for side in Side:
        plain = approximate(Knee(), side, Fraction(0), Fraction(4), Fraction(1, 20))
        even = approximate(Knee(), side, Fraction(0), Fraction(4), Fraction(1, 20), balance=True)
        assert len(even.segments) == len(plain.segments)
        assert even.max_error < plain.max_error
        _holds(even)


def test_the_bound_is_attained_where_it_says() -> None:
    for name in ("knee4", "delay", "dome"):
        function, low, high = CURVES[name]
        for side in Side:
            pieces = approximate(function, side, low, high, Fraction(1, 100), relative=False)
            assert pieces.error_at(pieces.attained_at) >= pieces.max_error * (1 - Fraction(1, 10**6))


def test_a_link_of_some_capacity_has_the_scaled_pieces() -> None:
    pieces = outer(Knee(), Fraction(0), Fraction(4), Fraction(1, 100))
    capacity = Fraction(400)
    for load in (Fraction(10), Fraction(390), Fraction(1500)):
        assert min(s.at(load) for s in pieces.scaled(capacity)) == capacity * pieces.value(load / capacity)


def test_certificate_says_what_is_proven() -> None:
    pieces = inner(Knee(), Fraction(0), Fraction(4), Fraction(1, 100))
    certificate = pieces.certificate
    assert certificate.proven_over == "knee p=4 over [0, 4]"
    assert certificate.num_pieces == 7
    assert certificate.relative
    coarse = inner(Knee(), Fraction(0), Fraction(4), Fraction(1, 10)).certificate
    assert Certificate.worst([certificate, coarse]) is coarse
    absolute = inner(Knee(), Fraction(0), Fraction(4), Fraction(1, 10), relative=False).certificate
    with pytest.raises(ArgumentError, match="all relative or all absolute"):
        Certificate.worst([certificate, absolute])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: outer(Table(((1, 1), (2, Fraction(1, 2)))), Fraction(0), Fraction(3), Fraction(1, 10)), "neither"),
        (lambda: outer(Knee(), Fraction(1), Fraction(1), Fraction(1, 10)), "empty"),
        (lambda: outer(Knee(), Fraction(0), Fraction(1), Fraction(1)), "below 1"),
        (lambda: outer(Knee(), Fraction(0), Fraction(1), Fraction(0)), "curved"),
        (lambda: outer(PARABOLA, Fraction(-1), Fraction(1), Fraction(1, 10)), "may reach 0"),
        (lambda: outer(PARABOLA, Fraction(0), Fraction(1), Fraction(1, 10)), "may reach 0"),
        (lambda: outer(DOME, Fraction(0), Fraction(3), Fraction(1, 10)), "may reach 0"),
        (lambda: tangents(Reciprocal(), [Fraction(1)], Fraction(1, 9), Fraction(9)), "100 %"),
        (lambda: chords(Knee(), [Fraction(1)]), "two ends"),
        (lambda: outer(Knee(), Fraction(0), Fraction(1), Fraction(1, 10)).value(Fraction(2)), "proven over"),
    ],
)
def test_what_cannot_be_proven_is_refused(call: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        call()  # type: ignore[operator]


def _random_polygon(source: random.Random) -> Polyline:
    """Concave or convex, positive, 2 to 8 segments; sometimes from 0."""
    number = source.randint(2, 8)
    slopes = sorted({Fraction(source.randint(-12, 30), 10) for _ in range(number)}, reverse=True)
    x, y = Fraction(0), Fraction(source.choice([0, source.randint(1, 80)]))
    points = [(x, y)]
    for slope in slopes:
        width = Fraction(source.randint(1, 20), 4)
        x, y = x + width, y + slope * width
        points.append((x, y))
    floor = min(v for _, v in points)
    if floor < 0 or y == 0 or (points[0][1] == 0 and floor == 0 and min(v for _, v in points[1:]) <= 0):
        points = [(x, y - floor + 1) for x, y in points]
    if source.random() < 0.5:
        top = max(v for _, v in points) + 1
        return Polyline(tuple((x, top - v) for x, v in points))
    return Polyline(tuple(points))


def test_two_thousand_random_polygons_keep_side_and_error() -> None:
    source = random.Random(2026)
    for seed in range(2000):
        line = _random_polygon(source)
        tolerance, side = source.choice((*TOLERANCES, Fraction(0))), source.choice(list(Side))
        pieces = approximate(line, side, line.low, line.high, tolerance, relative=source.random() < 0.5)
        assert pieces.max_error <= tolerance
        assert len(pieces.segments) <= len(set(line.slopes))
        _holds(pieces, number=6, seed=seed)


def test_fewest_chords_by_brute_force_over_all_breakpoints() -> None:
    """Chords end on the curve; with ends on a fine grid no smaller set of ends keeps a slightly smaller tolerance."""
    source = random.Random(7)
    for _ in range(40):
        line = _random_polygon(source)
        tolerance = Fraction(source.randint(2, 20), 100)
        greedy = inner(line, line.low, line.high, tolerance)
        grid = sorted(
            {line.low + (line.high - line.low) * Fraction(i, 24) for i in range(25)} | {x for x, _ in line.points}
        )
        fewer = len(greedy.segments) - 2  # inside ends of one piece less
        if not 0 <= fewer <= 2:
            continue
        for inside in combinations(grid[1:-1], fewer):
            assert chords(line, [line.low, *inside, line.high]).max_error > tolerance


def test_fewest_tangents_by_brute_force_over_touching_lines() -> None:
    """One line less, all combinations of touching lines of a fine fan: none keeps the tolerance."""
    function, low, high = CURVES["dome"]
    for tolerance in (Fraction(1, 4), Fraction(1, 10), Fraction(1, 25)):
        greedy = outer(function, low, high, tolerance, relative=False)
        fewer = len(greedy.segments) - 1
        fan = [low + (high - low) * Fraction(i, 24) for i in range(25)]
        if fewer > 3:
            continue
        for points in combinations(fan, fewer):
            assert tangents(function, points, low, high, relative=False).max_error > tolerance


def test_tangents_and_chords_at_random_contacts_keep_their_proven_error() -> None:
    source = random.Random(11)
    for seed in range(25):
        function, low, high = CURVES[source.choice(("knee4", "delay", "dome", "reciprocal"))]
        inside = [low + (high - low) * Fraction(source.randint(1, 199), 200) for _ in range(source.randint(1, 4))]
        _holds(chords(function, [low, high, *inside], relative=False), number=20, seed=seed)
        _holds(tangents(function, [low, high, *inside], low, high, relative=False), number=20, seed=seed)
