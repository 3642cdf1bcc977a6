"""The result of an approximation: straight pieces, the error proven for them, a certificate to show.

Knows nothing of how pieces are chosen. An approximation of a concave function is the least of its lines, of a convex
function the greatest, so no piece needs a binary in a program that presses against it from the right side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from allocator.errors import ArgumentError
from allocator.linearization.enclosures import Enclosure
from allocator.linearization.functions import Function, Shape

__all__ = ["Certificate", "Pieces", "Segment", "Side", "active_lines", "relative_to"]


class Side(StrEnum):
    """Outer: tangents, the feasible set grows (a relaxation). Inner: chords, it shrinks (a restriction)."""

    OUTER = "outer"
    INNER = "inner"


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """The line slope * x + intercept."""

    slope: Fraction
    intercept: Fraction

    def at(self, x: Fraction) -> Fraction:
        """The line's value."""
        return self.slope * x + self.intercept

    def negated(self) -> Segment:
        """The line of opposite sign."""
        return Segment(-self.slope, -self.intercept)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proven of an approximation g of f over [low, high].

    ``max_error`` bounds |g - f| / |f| where ``relative``, else |g - f|; ``attained_at`` is where the bound was found.
    """

    max_error: Fraction
    attained_at: Fraction
    relative: bool
    low: Fraction
    high: Fraction
    num_pieces: int
    proven_over: str

    @classmethod
    def worst(cls, certificates: Iterable[Certificate]) -> Certificate:
        """The one with the largest error.

        Raises
        ------
        ArgumentError
            when there is none, or relative and absolute ones are mixed.
        """
        known = tuple(certificates)
        if len({certificate.relative for certificate in known}) != 1:
            raise ArgumentError("the worst certificate is asked of at least one, all relative or all absolute")
        return max(known, key=lambda certificate: certificate.max_error)


@dataclass(frozen=True)
class Pieces:
    """Lines whose least (concave f) or greatest (convex f) value approximates f over [low, high] from one side.

    ``segments`` are in order of x. For a curved function slopes are floats held exactly, and so are intercepts unless
    the line is tied to a zero of f; the lines of a piecewise linear function are exact rationals. ``contacts`` are the
    arguments where the pieces were made to touch f: points of tangency (outer), ends of chords (inner).
    """

    function: Function = field(repr=False)
    side: Side
    low: Fraction
    high: Fraction
    relative: bool
    segments: tuple[Segment, ...]
    contacts: tuple[Fraction, ...]
    max_error: Fraction
    attained_at: Fraction

    @property
    def above(self) -> bool:
        """Whether the approximation lies above the function: outer and concave, or inner and convex."""
        return (self.side is Side.OUTER) == (self.function.shape is Shape.CONCAVE)

    @property
    def certificate(self) -> Certificate:
        """What is proven."""
        return Certificate(
            max_error=self.max_error,
            attained_at=self.attained_at,
            relative=self.relative,
            low=self.low,
            high=self.high,
            num_pieces=len(self.segments),
            proven_over=f"{self.function.label} over [{_shown(self.low)}, {_shown(self.high)}]",
        )

    def value(self, x: Fraction) -> Fraction:
        """The approximation at x, exact.

        Raises
        ------
        ArgumentError
            outside [low, high], where nothing is proven.
        """
        if not self.low <= x <= self.high:
            raise ArgumentError(f"proven over [{self.low}, {self.high}], not at {x}")
        values = [segment.at(x) for segment in self.segments]
        return min(values) if self.function.shape is Shape.CONCAVE else max(values)

    def error_at(self, x: Fraction) -> Fraction:
        """A proven upper bound of the error at x, tight to the enclosure of f(x); 0 where both are 0."""
        true, approximated = self.function.value(x), self.value(x)
        gap = approximated - true.lower if self.above else true.upper - approximated
        return relative_to(gap, true) if self.relative else gap

    def scaled(self, factor: Fraction) -> tuple[Segment, ...]:
        """Lines of factor * g(x / factor): pieces per unit of capacity as pieces of a link of that capacity."""
        return tuple(Segment(segment.slope, segment.intercept * factor) for segment in self.segments)


def relative_to(gap: Fraction, true: Enclosure) -> Fraction:
    """Upper bound of gap / |f| for a gap taken at the unfavourable end of the enclosure of f.

    Raises
    ------
    ArgumentError
        when f may be 0 and the gap is not.
    """
    if gap == 0:
        return gap
    smallest = max(true.lower, -true.upper)
    if smallest <= 0:
        raise ArgumentError("the relative error is not defined where the function may be 0")
    return gap / smallest


def active_lines(
    segments: Iterable[Segment], low: Fraction, high: Fraction
) -> list[tuple[Fraction, Fraction, Segment]]:
    """Where each line is the least of all: intervals that cover [low, high] in order, exactly."""
    # of equal slopes only the lowest can be least
    lowest: dict[Fraction, Fraction] = {}
    for segment in segments:
        known = lowest.get(segment.slope)
        lowest[segment.slope] = segment.intercept if known is None else min(known, segment.intercept)
    # with falling slope each line takes over from the one before at their crossing
    chosen: list[tuple[Fraction, Segment]] = []
    for slope in sorted(lowest, reverse=True):
        line = Segment(slope, lowest[slope])
        start = low
        while chosen:
            since, before = chosen[-1]
            start = max((line.intercept - before.intercept) / (before.slope - line.slope), low)
            if start > since:
                break
            chosen.pop()
            start = low
        chosen.append((start, line))
    ends = [since for since, _ in chosen[1:]] + [high]
    return [(since, min(end, high), line) for (since, line), end in zip(chosen, ends, strict=True) if since < high]


def _shown(value: Fraction) -> str:
    return str(value) if value.denominator < 1000 else f"{float(value):.6g}"
