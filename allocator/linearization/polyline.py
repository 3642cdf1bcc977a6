"""Piecewise linear functions given by their points, exactly; their envelopes; measured goodput tables.

Knows no approximation and no encoding. ``Polyline`` is defined between its first and last point, ``Table`` from 0 on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from allocator.errors import ArgumentError
from allocator.linearization.enclosures import Enclosure
from allocator.linearization.functions import Shape

__all__ = ["Point", "Polyline", "Table", "concave_envelope", "convex_envelope"]

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Polyline:
    """A continuous piecewise linear function through points with rising x.

    Parameters
    ----------
    points : at least two (x, y), exact.

    Raises
    ------
    ArgumentError
        when there are fewer than two points, x does not rise, or a number is a float.
    """

    points: tuple[Point, ...]
    label: str = "polyline"

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _exact(self.points))
        if len(self.points) < 2:
            raise ArgumentError(f"a polyline needs two points, not {len(self.points)}")
        for (left, _), (right, _) in pairwise(self.points):
            if right <= left:
                raise ArgumentError(f"x of a polyline must rise: {right} follows {left}")

    @property
    def low(self) -> Fraction:
        """The first x."""
        return self.points[0][0]

    @property
    def high(self) -> Fraction:
        """The last x."""
        return self.points[-1][0]

    @cached_property
    def slopes(self) -> tuple[Fraction, ...]:
        """Slope between consecutive points."""
        return tuple((d - b) / (c - a) for (a, b), (c, d) in pairwise(self.points))

    @cached_property
    def shape(self) -> Shape:
        """Decided from the slopes."""
        slopes = self.slopes
        if all(later <= earlier for earlier, later in pairwise(slopes)):
            return Shape.CONCAVE
        return Shape.CONVEX if all(later >= earlier for earlier, later in pairwise(slopes)) else Shape.NEITHER

    def at(self, x: Fraction) -> Fraction:
        """The value at x.

        Raises
        ------
        ArgumentError
            outside [low, high].
        """
        (a, b), (c, d) = self._around(x)
        return b + (d - b) * (x - a) / (c - a)

    def value(self, x: Fraction) -> Enclosure:
        """Exact."""
        return Enclosure.exact(self.at(x))

    def slope(self, x: Fraction) -> Enclosure:
        """Exact; at a point between two segments the interval of both slopes."""
        self._around(x)
        abscissae, slopes = [a for a, _ in self.points], self.slopes
        before = slopes[max(bisect_left(abscissae, x) - 1, 0)]
        after = slopes[min(bisect_right(abscissae, x) - 1, len(slopes) - 1)]
        return Enclosure(min(before, after), max(before, after))

    def vertices(self, low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
        """The points' x between low and high, and these."""
        return (low, *(x for x, _ in self.points if low < x < high), high)

    def scaled(self, factor: Fraction) -> Polyline:
        """A curve per unit of capacity as the curve of a link of capacity ``factor``: factor * f(x / factor)."""
        return Polyline(tuple((x * factor, y * factor) for x, y in self.points), self.label)

    def shifted(self, by: Fraction) -> Polyline:
        """The function raised by a constant."""
        return Polyline(tuple((x, y + by) for x, y in self.points), self.label)

    def negated(self) -> Polyline:
        """-f."""
        return Polyline(tuple((x, -y) for x, y in self.points), self.label)

    def simplified(self) -> Polyline:
        """The same function without points inside straight stretches."""
        kept = [self.points[0]]
        slopes = self.slopes
        kept += [self.points[i + 1] for i in range(len(slopes) - 1) if slopes[i] != slopes[i + 1]]
        return Polyline((*kept, self.points[-1]), self.label)

    def _around(self, x: Fraction) -> tuple[Point, Point]:
        if not self.low <= x <= self.high:
            raise ArgumentError(f"{self.label} is defined from {self.low} to {self.high}, not at {x}")
        right = max(bisect_left(self.points, x, key=lambda point: point[0]), 1)
        return self.points[right - 1], self.points[right]


@dataclass(frozen=True)
class Table:
    """A measured goodput curve phi(rho): linear from (0, 0) through the points, constant after the last.

    Parameters
    ----------
    points : (rho, phi) with rising rho; (0, 0) may be left out.

    Raises
    ------
    ArgumentError
        unless 0 <= phi <= min(rho, 1) and phi / rho never rises.
    """

    points: tuple[Point, ...]
    label: str = "table"

    def __post_init__(self) -> None:
        points = _exact(self.points)
        if not points or points[0][0] != 0:
            points = ((Fraction(0), Fraction(0)), *points)
        object.__setattr__(self, "points", points)
        if points[0][1] != 0 or len(points) < 2:
            raise ArgumentError("a goodput table starts at (0, 0) and needs another point")
        ratio = Fraction(1)
        for (before, _), (rho, phi) in pairwise(points):
            if rho <= before:
                raise ArgumentError(f"the loads of a goodput table must rise: {rho} follows {before}")
            if not 0 <= phi <= min(rho, Fraction(1)):
                raise ArgumentError(f"goodput {phi} at load {rho} must be between 0 and min(load, 1)")
            if phi / rho > ratio:
                raise ArgumentError(f"goodput per load rises at load {rho}: {phi / rho} follows {ratio}")
            ratio = phi / rho

    @cached_property
    def shape(self) -> Shape:
        """Of the whole curve, the constant end included: one that falls before it is not concave."""
        return self.polyline(self.points[-1][0] + 1).shape

    def polyline(self, high: Fraction) -> Polyline:
        """The curve over [0, high]."""
        inside = [point for point in self.points if point[0] < high]
        return Polyline((*inside, (Fraction(high), self.at(Fraction(high)))), self.label)

    def at(self, x: Fraction) -> Fraction:
        """The value at x.

        Raises
        ------
        ArgumentError
            for x < 0.
        """
        end, last = self.points[-1]
        return last if x >= end else Polyline(self.points, self.label).at(x)

    def value(self, x: Fraction) -> Enclosure:
        """Exact."""
        return Enclosure.exact(self.at(x))

    def slope(self, x: Fraction) -> Enclosure:
        """Exact; at a point between two segments the interval of both slopes."""
        return self.polyline(max(x, self.points[-1][0]) + 1).slope(x)

    def vertices(self, low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
        """The points' x between low and high, and these."""
        return (low, *(x for x, _ in self.points if low < x < high), high)


def concave_envelope(line: Polyline) -> Polyline:
    """The least concave function above: a valid upper relaxation without binaries (Andrew's monotone chain)."""
    hull: list[Point] = []
    for x, y in line.points:
        # drop the last point while it lies on or below the chord that passes over it
        while len(hull) > 1 and _turn(hull[-2], hull[-1], (x, y)) >= 0:
            hull.pop()
        hull.append((x, y))
    return Polyline(tuple(hull), f"concave envelope of {line.label}")


def convex_envelope(line: Polyline) -> Polyline:
    """The greatest convex function below: a valid lower relaxation without binaries."""
    return Polyline(concave_envelope(line.negated()).negated().points, f"convex envelope of {line.label}")


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    """Positive when the path a, b, c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _exact(points: Iterable[tuple[object, object]]) -> tuple[Point, ...]:
    exact = []
    for x, y in points:
        if not isinstance(x, int | Fraction) or not isinstance(y, int | Fraction):
            raise ArgumentError(f"points must be exact (int or Fraction), not ({x!r}, {y!r})")
        exact.append((Fraction(x), Fraction(y)))
    return tuple(exact)
