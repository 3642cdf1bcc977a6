"""Outer and inner approximation of concave and convex functions with the fewest pieces and proven errors.

Owns the rounding: slopes become floats, intercepts are moved outward, and what is returned has been proven as
it stands. Knows nothing of programs that use the pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from allocator.errors import ArgumentError, InternalError
from allocator.linearization.enclosures import Enclosure, float_above, float_below, nearest_float
from allocator.linearization.functions import Function, Negated, Shape
from allocator.linearization.pieces import Pieces, Segment, Side, active_lines
from allocator.linearization.proof import largest_error, sign_over
from allocator.linearization.strip import Curve, stretches

__all__ = ["approximate", "chords", "inner", "outer", "tangents"]

MARGIN = 1 - Fraction(1, 2**20)  # of the tolerance, left to rounding and to the ends found by bisection
BALANCING_STEPS = 10
FINEST = 2**60  # parts of what is beside a point of tangency: the first bracket around it
WIDER = 16
ZERO = Fraction(0)


def outer(function: Function, low: Fraction, high: Fraction, tolerance: Fraction, *, relative: bool = True) -> Pieces:
    """Tangents: a relaxation. Above a concave function, below a convex one. See ``approximate``."""
    return approximate(function, Side.OUTER, low, high, tolerance, relative=relative)


def inner(function: Function, low: Fraction, high: Fraction, tolerance: Fraction, *, relative: bool = True) -> Pieces:
    """Chords: a restriction. Below a concave function, above a convex one. See ``approximate``."""
    return approximate(function, Side.INNER, low, high, tolerance, relative=relative)


def approximate(
    function: Function,
    side: Side,
    low: Fraction,
    high: Fraction,
    tolerance: Fraction,
    *,
    relative: bool = True,
    balance: bool = False,
) -> Pieces:
    """The fewest pieces from one side whose proven error over [low, high] is at most the tolerance.

    Fewest up to rounding: no fewer pieces reach the tolerance less about a millionth of it.

    Parameters
    ----------
    tolerance : of the absolute error, or of the relative one and then below 1; 0 for piecewise linear functions alone.
    balance : with the same number of pieces, spread the error evenly: the smallest error they reach, nearly.

    Raises
    ------
    ArgumentError
        when the function is neither concave nor convex (``concave_envelope``, ``bracket`` and the encodings serve
        those), the range is empty, or a relative error is asked of a function that may be 0 inside.
    """
    limit = Fraction(tolerance)
    return _approximate(
        function, side, Fraction(low), Fraction(high), tolerance=limit, relative=relative, balance=balance
    )


@lru_cache(maxsize=256)  # many links share one curve
def _approximate(
    function: Function, side: Side, low: Fraction, high: Fraction, *, tolerance: Fraction, relative: bool, balance: bool
) -> Pieces:
    if not low < high:
        raise ArgumentError(f"the range must not be empty: [{low}, {high}]")
    if tolerance < 0 or (relative and tolerance >= 1):
        raise ArgumentError(f"the tolerance must be at least 0, and below 1 when relative: {tolerance}")
    concave = _as_concave(function)
    sign = sign_over(concave, low, high) if relative else 0
    pieces = _fewest(function, side, low, high, tolerance=tolerance, sign=sign)
    if pieces.max_error > tolerance:
        raise InternalError(f"{function.label}: proven {pieces.max_error}, not the tolerance {tolerance}")
    return _balanced(pieces, tolerance, sign) if balance else pieces


def tangents(
    function: Function, points: Iterable[Fraction], low: Fraction, high: Fraction, *, relative: bool = True
) -> Pieces:
    """The outer approximation by the tangents at given points of [low, high], with its proven error.

    Raises
    ------
    ArgumentError
        as ``approximate``; also when the relative error is not below 1.
    """
    concave, known = _as_concave(function), sorted(set(points))
    lines = [_tangent(concave, x, low, high) for x in known]
    sign = sign_over(concave, low, high) if relative else 0
    return _proven(function, Side.OUTER, low, high, lines=lines, contacts=known, sign=sign)


def chords(function: Function, ends: Iterable[Fraction], *, relative: bool = True) -> Pieces:
    """The inner approximation by the chords between given arguments, with its proven error.

    Raises
    ------
    ArgumentError
        as ``approximate``; also with fewer than two arguments.
    """
    concave, known = _as_concave(function), sorted(set(ends))
    if len(known) < 2:
        raise ArgumentError(f"a chord has two ends, not {len(known)}")
    lines = [_chord(concave, left, right) for left, right in pairwise(known)]
    low, high = known[0], known[-1]
    sign = sign_over(concave, low, high) if relative else 0
    return _proven(function, Side.INNER, low, high, lines=lines, contacts=known, sign=sign)


def _as_concave(function: Function) -> Function:
    if function.shape is Shape.NEITHER:
        raise ArgumentError(f"{function.label} is neither concave nor convex: use its envelopes or an encoding")
    return function if function.shape is Shape.CONCAVE else Negated(function)


def _fewest(function: Function, side: Side, low: Fraction, high: Fraction, *, tolerance: Fraction, sign: int) -> Pieces:
    concave = _as_concave(function)
    vertices = concave.vertices(low, high)
    if vertices is None and tolerance == 0:
        raise ArgumentError(f"{function.label} is curved: no number of pieces has error 0")
    # a piecewise linear function needs no margin: its greedy ends are exact
    allowed = tolerance * MARGIN if vertices is None else tolerance
    shift = Fraction(1 if side is Side.OUTER else -1) * allowed
    moved = Curve(concave, 1 + sign * shift) if sign else Curve(concave, shift=shift)
    still = Curve(concave)
    lower, upper = (still, moved) if side is Side.OUTER else (moved, still)
    found = list(stretches(lower, upper, low, high))
    if vertices is not None:
        exact = _itself(function, side, low, high, sign)
        if len(exact.segments) <= len(found):
            return exact
    if side is Side.INNER:
        ends = [low, *(stretch.end for stretch in found)]
        chained = [_chord(concave, a, b) for a, b in pairwise(ends)]
        return _proven(function, side, low, high, lines=chained, contacts=ends, sign=sign)
    if vertices is None:
        lines = [_tangent(concave, stretch.touch, low, high) for stretch in found]
    else:
        heights = [upper.value(stretch.start).lower for stretch in found]
        lines = [
            _through(stretch.start, height, stretch.touch, concave.value(stretch.touch).upper)
            for stretch, height in zip(found, heights, strict=True)
        ]
    touches = [stretch.touch for stretch in found]
    return _proven(function, side, low, high, lines=lines, contacts=touches, sign=sign)


def _balanced(pieces: Pieces, tolerance: Fraction, sign: int) -> Pieces:
    best, failed, reached = pieces, ZERO, tolerance
    for _ in range(BALANCING_STEPS):
        middle = (failed + reached) / 2
        found = _fewest(pieces.function, pieces.side, pieces.low, pieces.high, tolerance=middle, sign=sign)
        if len(found.segments) <= len(pieces.segments):
            best, reached = min(best, found, key=lambda known: known.max_error), middle
        else:
            failed = middle
    return best


def _itself(function: Function, side: Side, low: Fraction, high: Fraction, sign: int) -> Pieces:
    """A piecewise linear function as its own lines: error 0."""
    concave = _as_concave(function)
    vertices = concave.vertices(low, high) or (low, high)
    values = [concave.value(x).lower for x in vertices]
    lines = {_through(x, y, right, above) for (x, y), (right, above) in pairwise(zip(vertices, values, strict=True))}
    return _proven(function, side, low, high, lines=lines, contacts=vertices, sign=sign)


def _through(left: Fraction, low_value: Fraction, right: Fraction, high_value: Fraction) -> Segment:
    slope = (high_value - low_value) / (right - left)
    return Segment(slope, low_value - slope * left)


def _tangent(concave: Function, x: Fraction, low: Fraction, high: Fraction) -> Segment:
    """A line above a concave function over [low, high] that touches it at x, up to rounding."""
    value, slopes = concave.value(x), concave.slope(x)
    if value == Enclosure(ZERO, ZERO) and x == low:
        # tied to the zero: any slope from h'(low) on stays above
        steep = float_above(slopes.upper)
        return Segment(steep, -steep * x)
    if concave.vertices(low, high) is not None:
        return Segment(slopes.middle, value.upper - slopes.middle * x)
    steep = nearest_float(slopes.middle)
    return Segment(steep, float_above(_least_intercept(concave, steep, x, low, high)))


def _least_intercept(concave: Function, steep: Fraction, x: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """At least the maximum of h(z) - steep z over [low, high], where h'(x) is about ``steep``.

    That is concave in z: between a with h'(a) >= steep and b with h'(b) <= steep it has its maximum, and h is below its
    tangent at a. A narrow bracket loses next to nothing, however long the range.
    """
    finest = min((end for end in (x - low, high - x) if end), default=high - low) / FINEST
    left = right = x
    width = finest
    while left > low and concave.slope(left).lower < steep:
        left, width = max(low, x - width), width * WIDER
    width = finest
    while right < high and concave.slope(right).upper > steep:
        right, width = min(high, x + width), width * WIDER
    beyond = max(concave.slope(left).upper - steep, ZERO) * (right - left)
    return concave.value(left).upper - steep * left + beyond


def _chord(concave: Function, left: Fraction, right: Fraction) -> Segment:
    """A line below a concave function over [left, right] that touches it at both ends, up to rounding."""
    first, last = concave.value(left).lower, concave.value(right).lower
    if concave.vertices(left, right) is not None:
        return _through(left, first, right, last)
    slope = (last - first) / (right - left)
    if concave.value(left) == Enclosure(ZERO, ZERO):
        flat = float_below(slope)
        return Segment(flat, -flat * left)
    flat = nearest_float(slope)
    return Segment(flat, float_below(min(first - flat * left, last - flat * right)))


def _proven(
    function: Function,
    side: Side,
    low: Fraction,
    high: Fraction,
    *,
    lines: Iterable[Segment],
    contacts: Iterable[Fraction],
    sign: int,
) -> Pieces:
    """The lines that count, with the largest error proven for them as they stand."""
    concave = _as_concave(function)
    active = [line for _, _, line in active_lines(lines, low, high)]
    error, where = largest_error(concave, side, active, low, high, sign=sign)
    return Pieces(
        function=function,
        side=side,
        low=low,
        high=high,
        relative=bool(sign),
        segments=tuple(active) if concave is function else tuple(line.negated() for line in active),
        contacts=tuple(contacts),
        max_error=error,
        attained_at=where,
    )
