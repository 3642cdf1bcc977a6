"""Both encodings hold exactly the graph (or what lies below or above it), decided by HiGHS through scipy."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from allocator.errors import ArgumentError
from allocator.linearization import (
    Enclosure,
    Encoding,
    Part,
    Polyline,
    Relation,
    Shape,
    Smooth,
    Table,
    bracket,
    incremental,
    logarithmic,
)

ENCODERS = {"incremental": incremental, "logarithmic": logarithmic}
COLLAPSE = Table(
    (
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(4, 5), Fraction(3, 4)),
        (1, Fraction(4, 5)),
        (Fraction(5, 4), Fraction(3, 5)),
        (2, Fraction(2, 5)),
        (3, Fraction(7, 20)),
    )
).polyline(Fraction(4))


def _extreme(encoding: Encoding, x: Fraction, direction: int) -> float | None:
    """The least (direction 1) or greatest (-1) y at a given x; None when there is none, infinity when unbounded."""
    names = [encoding.x, encoding.y, *(column.name for column in encoding.columns)]
    place = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(encoding.rows), len(names)))
    lower, upper = np.full(len(encoding.rows), -np.inf), np.full(len(encoding.rows), np.inf)
    for i, row in enumerate(encoding.rows):
        for name, value in row.coefficients.items():
            matrix[i, place[name]] = float(value)
        lower[i] = -np.inf if row.lower is None else float(row.lower)
        upper[i] = np.inf if row.upper is None else float(row.upper)
    low, high = np.zeros(len(names)), np.ones(len(names))
    low[0] = high[0] = float(x)
    low[1], high[1] = -1e4, 1e4
    objective = np.zeros(len(names))
    objective[1] = direction
    integrality = np.array([0, 0, *(int(column.binary) for column in encoding.columns)])
    found = milp(
        objective, constraints=LinearConstraint(matrix, lower, upper), bounds=Bounds(low, high), integrality=integrality
    )
    if found.x is None:
        return None
    return np.inf * np.sign(found.x[1]) if abs(found.x[1]) > 9e3 else float(found.x[1])


def _random_line(source: random.Random) -> Polyline:
    x, points = Fraction(source.randint(-3, 3)), []
    for _ in range(source.randint(2, 10)):
        points.append((x, Fraction(source.randint(-8, 8), 2)))
        x += Fraction(source.randint(1, 6), 2)
    return Polyline(tuple(points))


def _probes(line: Polyline) -> list[Fraction]:
    inside = [a + (b - a) / 3 for (a, _), (b, _) in pairwise(line.points)]
    return [*(x for x, _ in line.points), *inside]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("encoder", ENCODERS)
def test_feasible_pairs_are_the_graph_or_its_side(encoder: str, relation: Relation) -> None:
    source = random.Random(3)
    for line in (COLLAPSE, *(_random_line(source) for _ in range(8))):
        encoding = ENCODERS[encoder](line, "x", "y", "curve_", relation)
        for x in _probes(line):
            least, greatest, true = _extreme(encoding, x, 1), _extreme(encoding, x, -1), float(line.at(x))
            assert least == (-np.inf if relation is Relation.AT_MOST else pytest.approx(true, abs=1e-6))
            assert greatest == (np.inf if relation is Relation.AT_LEAST else pytest.approx(true, abs=1e-6))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_nothing_is_feasible_outside_the_points(encoder: str) -> None:
    encoding = ENCODERS[encoder](COLLAPSE, "x", "y", "curve_")
    for x in (Fraction(-1, 10), Fraction(41, 10)):
        assert _extreme(encoding, x, 1) is None


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_choice_of_binaries_stays_on_the_graph(encoder: str) -> None:
    """All 0/1 vectors are tried, the unused Gray codes included: y is f(x) or there is no point."""
    line = Polyline(((0, 0), (1, 3), (2, 1), (3, 5), (4, 0), (6, 6)))  # 5 segments: 3 codes unused
    encoding = ENCODERS[encoder](line, "x", "y", "curve_")
    binaries = [column.name for column in encoding.columns if column.binary]
    used = 0
    for values in product((0, 1), repeat=len(binaries)):
        fixed = tuple(
            type(encoding.rows[0])({name: Fraction(1)}, Fraction(v), Fraction(v))
            for name, v in zip(binaries, values, strict=True)
        )
        narrowed = Encoding("x", "y", encoding.columns, encoding.rows + fixed)
        reached = [x for x in _probes(line) if _extreme(narrowed, x, 1) is not None]
        for x in reached:
            assert _extreme(narrowed, x, 1) == pytest.approx(float(line.at(x)), abs=1e-6)
            assert _extreme(narrowed, x, -1) == pytest.approx(float(line.at(x)), abs=1e-6)
        used += any(x not in {a for a, _ in line.points} for x in reached)
    assert used == 5


def test_number_of_binaries() -> None:
    assert logarithmic(COLLAPSE, "x", "y", "c").num_binaries == 3
    assert incremental(COLLAPSE, "x", "y", "c").num_binaries == 6
    # below a goodput curve only the kinks that bend upwards need an order
    assert incremental(COLLAPSE, "x", "y", "c", Relation.AT_MOST).num_binaries == 3
    rising = Polyline(((0, 0), (1, 2), (2, 3)))
    assert incremental(rising, "x", "y", "c", Relation.AT_MOST).num_binaries == 0
    assert incremental(rising, "x", "y", "c", Relation.AT_LEAST).num_binaries == 1
    assert logarithmic(Polyline(((0, 0), (1, 2))), "x", "y", "c").num_binaries == 0


def _cubic() -> list[Part]:
    """x^3 - 3 x + 5 on [-2, 2]: concave, then convex; positive."""
    value = lambda x: Enclosure.exact(x**3 - 3 * x + 5)  # noqa: E731
    slope = lambda x: Enclosure.exact(3 * x * x - 3)  # noqa: E731
    return [
        Part(Smooth(value, slope, Shape.CONCAVE), Fraction(-2), Fraction(0)),
        Part(Smooth(value, slope, Shape.CONVEX), Fraction(0), Fraction(2)),
    ]


@pytest.mark.parametrize("relative", [True, False])
def test_a_smooth_curve_that_bends_both_ways_lies_between_its_polylines(relative: bool) -> None:
    source = random.Random(4)
    sizes = []
    for tolerance in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)):
        found = bracket(_cubic(), tolerance, relative=relative)
        assert max(found.below_certificate.max_error, found.above_certificate.max_error) <= tolerance
        sizes.append(len(found.below.points))
        for _ in range(300):
            x = Fraction(source.randint(-2000, 2000), 1000)
            true = x**3 - 3 * x + 5
            size = true if relative else 1
            assert 0 <= true - found.below.at(x) <= found.below_certificate.max_error * size
            assert 0 <= found.above.at(x) - true <= found.above_certificate.max_error * size
    assert sizes == sorted(sizes)


def test_an_encoded_bracket_bounds_the_true_maximum() -> None:
    found = bracket(_cubic(), Fraction(1, 100), relative=False)
    x = Fraction(-1)  # the true local maximum, 7
    above = _extreme(incremental(found.above, "x", "y", "c", Relation.AT_MOST), x, -1)
    below = _extreme(logarithmic(found.below, "x", "y", "c", Relation.AT_MOST), x, -1)
    assert above is not None
    assert below is not None
    assert 7 - 0.01 - 1e-6 <= below <= 7 + 1e-6
    assert 7 - 1e-6 <= above <= 7.01 + 1e-6


def test_parts_that_do_not_meet_are_refused() -> None:
    first, second = _cubic()
    with pytest.raises(ArgumentError, match="must meet"):
        bracket([first, Part(second.function, Fraction(1), Fraction(2))], Fraction(1, 10))
    lifted = Part(
        Smooth(lambda x: Enclosure.exact(x + 9), lambda x: Enclosure.exact(1), Shape.CONVEX), Fraction(0), Fraction(2)
    )
    with pytest.raises(ArgumentError, match="disagree"):
        bracket([first, lifted], Fraction(1, 10))
    with pytest.raises(ArgumentError, match="at least one"):
        bracket([], Fraction(1, 10))
