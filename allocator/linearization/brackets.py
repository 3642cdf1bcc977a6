"""Smooth functions that bend both ways, between two polylines with a proven error, ready for an encoding.

Owns the joining of stretches of one bend. Knows no encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from allocator.errors import ArgumentError
from allocator.linearization.approximate import approximate, tangents
from allocator.linearization.functions import Function, Shape
from allocator.linearization.pieces import Certificate, Pieces, Side, active_lines
from allocator.linearization.polyline import Point, Polyline

__all__ = ["Bracket", "Part", "bracket"]


@dataclass(frozen=True)
class Part:
    """A function on [low, high], where it bends one way: parts meet at the points of inflection."""

    function: Function
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Bracket:
    """Below <= f <= above, each within its certificate's error of f."""

    below: Polyline
    above: Polyline
    below_certificate: Certificate
    above_certificate: Certificate


def bracket(parts: Sequence[Part], tolerance: Fraction, *, relative: bool = True) -> Bracket:
    """Polylines below and above a function given by its concave and convex parts, from left to right.

    Each part takes the fewest pieces; where tangents meet a neighbour, tangents at the part's ends are added, so
    that the polylines are continuous and at most two pieces longer a part.

    Raises
    ------
    ArgumentError
        when parts leave a gap, disagree where they meet by more than their enclosures, or as ``approximate``.
    """
    if not parts:
        raise ArgumentError("a function needs at least one part")
    for before, after in pairwise(parts):
        if before.high != after.low:
            raise ArgumentError(f"parts must meet: one ends at {before.high}, the next starts at {after.low}")
        left, right = before.function.value(before.high), after.function.value(after.low)
        if left.upper < right.lower or right.upper < left.lower:
            raise ArgumentError(f"parts disagree at {before.high}: {float(left.middle)} and {float(right.middle)}")
    below, below_certificate = _join(parts, tolerance, relative, above=False)
    above, above_certificate = _join(parts, tolerance, relative, above=True)
    return Bracket(below, above, below_certificate, above_certificate)


def _join(parts: Sequence[Part], tolerance: Fraction, relative: bool, *, above: bool) -> tuple[Polyline, Certificate]:
    points: list[Point] = []
    certificates: list[Certificate] = []
    for part in parts:
        side = Side.OUTER if above == (part.function.shape is Shape.CONCAVE) else Side.INNER
        pieces = approximate(part.function, side, part.low, part.high, tolerance, relative=relative)
        if side is Side.OUTER and len(parts) > 1:
            ends = {part.low, *pieces.contacts, part.high}
            pieces = tangents(part.function, ends, part.low, part.high, relative=relative)
        corners = _corners(pieces)
        if points:
            # both values are on the right side of f; the farther one of them is for both parts
            choose = max if above else min
            joint = (part.low, choose(points[-1][1], corners[0][1]))
            certificates[-1] = _moved(certificates[-1], points[-2], points[-1], joint)
            certificates.append(_moved(pieces.certificate, corners[1], corners[0], joint))
            points[-1] = joint
            points += corners[1:]
        else:
            points += corners
            certificates.append(pieces.certificate)
    return Polyline(tuple(points), "above" if above else "below"), Certificate.worst(certificates)


def _moved(certificate: Certificate, neighbour: Point, end: Point, joint: Point) -> Certificate:
    """The certificate of a part after an end of its polyline moved by a rounding."""
    shift = abs(joint[1] - end[1])
    if certificate.relative and shift:
        # |f| is at least |g| / (1 + error), and |g| is least at an end of the segment that moved
        shift *= (1 + certificate.max_error) / min(abs(neighbour[1]), abs(end[1]))
    return replace(certificate, max_error=certificate.max_error + shift)


def _corners(pieces: Pieces) -> list[Point]:
    concave = pieces.function.shape is Shape.CONCAVE
    lines = pieces.segments if concave else [line.negated() for line in pieces.segments]
    starts = [start for start, _, _ in active_lines(lines, pieces.low, pieces.high)]
    return [(x, pieces.value(x)) for x in (*starts, pieces.high)]
