"""The largest error of straight pieces, proven. Works on a concave function and the least of lines alone.

Let h be concave, l affine and [p, q] an interval on which l is the least line.

Above (l >= h): l - h is convex and (l - h) / |h| is quasi-convex while it is below 1, so the maximum is at p or q.
Below (l <= h): h - l is concave, and (h - l) / |h| rises and then falls, turning where k = h' - l' or
k = sign(h) (l h' - l' h) changes its sign from + to -. A bracket of that point bounds the maximum between its ends;
on either side of it the maximum is at an end of the bracket. Where h is piecewise linear the maximum is at a vertex.
At a zero of h, which may only be ``low``, both h and l vanish and the relative error is the limit of slopes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from allocator.errors import ArgumentError
from allocator.linearization.enclosures import Enclosure
from allocator.linearization.functions import Function
from allocator.linearization.pieces import Segment, Side, active_lines, relative_to

__all__ = ["largest_error", "sign_over"]

BRACKET_STEPS = 40
ZERO = Fraction(0)
Found = tuple[Fraction, Fraction]  # error, where


@dataclass(frozen=True)
class _Case:
    """A concave function, the side its lines stand on, and how the error is counted; sign of h when relative."""

    function: Function
    side: Side
    sign: int  # 0: absolute

    def error(self, line: Segment, x: Fraction) -> Fraction:
        """Upper bound of the error of a line at x."""
        true = self.function.value(x)
        gap = line.at(x) - true.lower if self.side is Side.OUTER else true.upper - line.at(x)
        if not self.sign:
            return gap
        if true == Enclosure(ZERO, ZERO):
            return self._limit(line, x, gap)
        # both fractions fall as |h| grows towards the value used: taking |h| at the same end stays an upper bound
        return relative_to(gap, Enclosure.exact(true.lower if self.side is Side.OUTER else true.upper))

    def _limit(self, line: Segment, zero: Fraction, gap: Fraction) -> Fraction:
        if gap != 0:
            raise ArgumentError(f"the relative error is unbounded: the function is 0 at {zero} and the piece is not")
        slope = self.function.slope(zero)
        if slope.lower <= 0 <= slope.upper:
            raise ArgumentError(f"the relative error is not defined where value and slope may both be 0, at {zero}")
        # beyond low only the right-hand slope counts; at a domain's end both ends of the enclosure are that slope
        bounds = [line.slope - s if self.side is Side.OUTER else s - line.slope for s in (slope.lower, slope.upper)]
        return max(b / abs(s) for b, s in zip(bounds, (slope.lower, slope.upper), strict=True))

    def rising(self, line: Segment, x: Fraction) -> int:
        """1 while the error of a chord rises at x, -1 while it falls, 0 when the enclosures cannot tell."""
        slope = self.function.slope(x)
        turn = slope.affine(Fraction(1), -line.slope)
        if self.sign:
            value = self.function.value(x)
            turn = slope.affine(line.at(x), ZERO) + value.affine(-line.slope, ZERO)
            turn = turn if self.sign > 0 else -turn
        return 1 if turn.lower > 0 else -1 if turn.upper < 0 else 0


def largest_error(
    function: Function, side: Side, segments: Iterable[Segment], low: Fraction, high: Fraction, *, sign: int
) -> Found:
    """Proven upper bound of the error of the least line over [low, high], and the point it was found at.

    Parameters
    ----------
    function : concave.
    sign : 0 for the absolute error, else the sign of the function as given by ``sign_over``.

    Raises
    ------
    ArgumentError
        when the relative error of an outer approximation reaches 1, where no bound is proven here.
    """
    case = _Case(function, side, sign)
    worst: Found = (ZERO, low)
    for start, end, line in active_lines(segments, low, high):
        if side is Side.OUTER:
            found = max((case.error(line, x), x) for x in (start, end))
            if sign < 0 and found[0] >= 1:
                raise ArgumentError("the relative error of these pieces reaches 100 %: add pieces")
        else:
            found = _below(case, line, start, end)
        worst = max(worst, found, key=lambda pair: pair[0])
    return worst


def _below(case: _Case, line: Segment, start: Fraction, end: Fraction) -> Found:
    vertices = case.function.vertices(start, end)
    ends = (start, end) if vertices is None else vertices
    found = max((case.error(line, x), x) for x in ends)
    if vertices is not None:
        return found
    left, right = start, end
    if case.function.value(start) == Enclosure(ZERO, ZERO) and case.sign:
        return found  # h / (x - low) is monotone: the limit at the zero is the maximum
    if case.rising(line, left) < 0 or case.rising(line, right) > 0:
        return found
    for _ in range(BRACKET_STEPS):
        middle = (left + right) / 2
        direction = case.rising(line, middle)
        if direction == 0:  # at the turning point, as far as the enclosures can tell: close in from both sides
            near = (end - start) / 2**BRACKET_STEPS
            left = middle - near if middle - near > left and case.rising(line, middle - near) > 0 else left
            right = middle + near if middle + near < right and case.rising(line, middle + near) < 0 else right
            break
        left, right = (middle, right) if direction > 0 else (left, middle)
    return max(found, (_bracketed(case, line, left, right), (left + right) / 2))


def _bracketed(case: _Case, line: Segment, left: Fraction, right: Fraction) -> Fraction:
    """Bound over [left, right], which holds the turning point: h by its tangent at the left end."""
    value, slope = case.function.value(left), case.function.slope(left)
    highest = value.upper + max(slope.upper, ZERO) * (right - left)
    gap = highest - min(line.at(left), line.at(right))
    if not case.sign:
        return gap
    lowest = min(value.lower, case.function.value(right).lower) if case.sign > 0 else highest
    return relative_to(gap, Enclosure.exact(lowest))


def sign_over(function: Function, low: Fraction, high: Fraction) -> int:
    """Sign of a concave function over (low, high]: 1 or -1, proven; it may be 0 at low if it leaves 0 with a slope.

    Raises
    ------
    ArgumentError
        when the sign changes, or cannot be proven: relative errors are then meaningless.
    """
    first, last = function.value(low), function.value(high)
    at_zero = first == Enclosure(ZERO, ZERO)
    if first.lower >= 0 and last.lower > 0:
        return 1
    if at_zero and function.slope(low).upper < 0:
        return -1
    if first.upper < 0 and _highest(function, low, high) < 0:
        return -1
    raise ArgumentError(f"a relative error needs a function that keeps its sign: {function.label} may reach 0")


def _highest(function: Function, low: Fraction, high: Fraction) -> Fraction:
    """An upper bound of a concave function over [low, high]."""
    vertices = function.vertices(low, high)
    if vertices is not None:
        return max(function.value(x).upper for x in vertices)
    left, right = low, high
    bounds = []
    for _ in range(BRACKET_STEPS):
        middle = (left + right) / 2
        slope = function.slope(middle)
        bounds.append(function.value(middle).upper + max(slope.upper * (high - middle), -slope.lower * (middle - low)))
        if slope.lower <= 0 <= slope.upper:
            break
        left, right = (middle, right) if slope.lower > 0 else (left, middle)
    return min(bounds)
