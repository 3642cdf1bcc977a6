"""The fewest straight pieces in a strip between two concave curves, from left to right. Knows no rounding of results.

Let L <= U be concave on [a, b]: outer pieces of h live between L = h and U = h plus the tolerance, inner ones between
L = h less the tolerance and U = h. From (x, U(x)) draw the tangent to L that touches it furthest to the right and
follow it until it meets U again at v: no line that is in the strip at x stays in it beyond v. Starting further to
the right never ends further to the left, so by induction this greedy cover has the fewest pieces; proofs in
docs/notes/linearization.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from allocator.errors import ArgumentError
from allocator.linearization.enclosures import Enclosure
from allocator.linearization.functions import Function

__all__ = ["Curve", "Stretch", "stretches"]

SEARCH_STEPS = 26
HALVINGS = 300  # of a first width, before a piece counts as too short
MAX_PIECES = 100_000


@dataclass(frozen=True, slots=True)
class Curve:
    """A bound of the strip: scale * h + shift."""

    function: Function
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    def value(self, x: Fraction) -> Enclosure:
        """The bound's value."""
        return self.function.value(x).affine(self.scale, self.shift)

    def slope(self, x: Fraction) -> Enclosure:
        """The bound's slope."""
        return self.function.slope(x).affine(self.scale, Fraction(0))


@dataclass(frozen=True, slots=True)
class Stretch:
    """One greedy piece: it starts at ``start``, touches the lower bound at ``touch`` and meets the upper at ``end``."""

    start: Fraction
    touch: Fraction
    end: Fraction


def stretches(lower: Curve, upper: Curve, low: Fraction, high: Fraction) -> Iterator[Stretch]:
    """The greedy cover of [low, high].

    Raises
    ------
    ArgumentError
        when the strip is too narrow for a straight piece, as a curve's is at tolerance 0.
    """
    step = _smooth if lower.function.vertices(low, high) is None else _polygonal
    start, width = low, _power_of_two((high - low) / 8)
    for _ in range(MAX_PIECES):
        found = step(lower, upper, start, high, width)
        if found.end <= start:
            break
        yield found
        start, width = found.end, _power_of_two(found.end - start)
        if start >= high:
            return
    raise ArgumentError(f"no straight piece of {lower.function.label} keeps the tolerance from {float(start):g} on")


def _smooth(lower: Curve, upper: Curve, start: Fraction, high: Fraction, width: Fraction) -> Stretch:
    height = upper.value(start).lower
    tied = upper.value(start) == lower.value(start)  # at a zero of h the strip closes and the piece is tied to it

    def before_touch(x: Fraction) -> bool:
        """Whether the tangent of the lower bound at x passes below the start."""
        return lower.value(x).upper + max(s * (start - x) for s in _ends(lower.slope(x))) <= height

    touch = start if tied else _last(before_touch, start, high, width)
    base, slope = lower.value(touch).upper, lower.slope(touch).upper

    def within(x: Fraction) -> bool:
        """Whether the tangent has not yet left the strip."""
        return base + slope * (x - touch) <= upper.value(x).lower

    return Stretch(start, touch, _last(within, touch, high, width))


def _polygonal(lower: Curve, upper: Curve, start: Fraction, high: Fraction, width: Fraction) -> Stretch:
    del width
    vertices = lower.function.vertices(start, high) or ()
    height = upper.value(start).lower
    slope, touch = max(((lower.value(x).upper - height) / (x - start), x) for x in vertices[1:])

    def room(x: Fraction) -> Fraction:
        return upper.value(x).lower - height - slope * (x - start)

    for left, right in pairwise(vertices):
        after = room(right)
        if after < 0:
            before = room(left)
            return Stretch(start, touch, left + (right - left) * before / (before - after))
    return Stretch(start, touch, high)


def _last(holds: Callable[[Fraction], bool], start: Fraction, high: Fraction, width: Fraction) -> Fraction:
    """The largest x for which a condition that holds up to some point still does, to 2^-26 of its distance."""
    if holds(high):
        return high
    while start + width < high and holds(start + width):
        width *= 2
    right = min(start + width, high)
    for _ in range(HALVINGS):
        left = start + (right - start) / 2
        if holds(left):
            break
        right = left
    else:
        return start
    for _ in range(SEARCH_STEPS):
        middle = (left + right) / 2
        left, right = (middle, right) if holds(middle) else (left, middle)
    return left


def _power_of_two(width: Fraction) -> Fraction:
    """Near the width; keeps the numbers of a long search short."""
    return Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length())


def _ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    return enclosure.lower, enclosure.upper
