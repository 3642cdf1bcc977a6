"""Pieces added where they are needed: at arguments that a solve has visited.

Owns the loop solve - measure - add. The solve is a callback; no solver is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.errors import ArgumentError
from allocator.linearization.approximate import approximate, chords, tangents
from allocator.linearization.functions import Function
from allocator.linearization.pieces import Pieces, Side

__all__ = ["Adaptive", "Outcome", "Range", "refine"]

Arguments = Mapping[str, Iterable[Fraction]]
Approximations = Mapping[str, Pieces]
Solve = Callable[[Approximations, Approximations], Arguments]


def refine(pieces: Pieces, points: Iterable[Fraction], tolerance: Fraction) -> Pieces:
    """Touch the function at the point of largest measured error, again and again, until all points keep the tolerance.

    Outer pieces gain tangents: every earlier line stays valid. Inner pieces gain ends of chords: the chord over a new
    end is replaced by two, so a program must drop it. Returned as given when no point exceeds the tolerance.

    Raises
    ------
    ArgumentError
        when a point is outside the range.
    """
    open_points = sorted(set(points))
    while open_points:
        errors = [(pieces.error_at(x), x) for x in open_points]
        worst, x = max(errors)
        if worst <= tolerance or x in pieces.contacts:
            break
        contacts = {*pieces.contacts, x}
        if pieces.side is Side.OUTER:
            pieces = tangents(pieces.function, contacts, pieces.low, pieces.high, relative=pieces.relative)
        else:
            pieces = chords(pieces.function, contacts, relative=pieces.relative)
        open_points = [point for error, point in errors if error > tolerance and point != x]
    return pieces


@dataclass(frozen=True)
class Range:
    """A function and where a certificate is asked of it."""

    function: Function
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Outcome:
    """Where the loop ended. ``measured``: largest error of the outer or inner pieces at the arguments last visited."""

    outer: Approximations
    inner: Approximations
    rounds: int
    measured: Fraction
    converged: bool


@dataclass(frozen=True)
class Adaptive:
    """Solve with few pieces, add some where the solution stands, until outer and inner agree there.

    Parameters
    ----------
    ranges : what is approximated, by a name of the caller's.
    tolerance : of the error at the arguments visited.
    start : tolerance of the first pieces; coarse, so that the first solves are small.
    relative : how errors are counted.
    max_rounds : solves at most.

    Raises
    ------
    ArgumentError
        when max_rounds is not positive.
    """

    ranges: Mapping[str, Range]
    tolerance: Fraction
    start: Fraction = Fraction(1, 5)
    relative: bool = True
    max_rounds: int = 20

    def __post_init__(self) -> None:
        if self.max_rounds < 1:
            raise ArgumentError(f"the loop needs a round, not {self.max_rounds}")

    def run(self, solve: Solve) -> Outcome:
        """Call ``solve(outer, inner)`` until all arguments it returns keep the tolerance in both approximations.

        Raises
        ------
        ArgumentError
            when solve returns an argument outside its range, or an unknown name.
        """
        sides = {side: self._start(side) for side in Side}
        measured = Fraction(0)
        for number in range(1, self.max_rounds + 1):
            visited = {name: tuple(points) for name, points in solve(sides[Side.OUTER], sides[Side.INNER]).items()}
            unknown = visited.keys() - self.ranges.keys()
            if unknown:
                raise ArgumentError(f"arguments of functions that are not approximated: {sorted(unknown)}")
            errors = [pieces[name].error_at(x) for pieces in sides.values() for name, xs in visited.items() for x in xs]
            measured = max(errors, default=Fraction(0))
            if measured <= self.tolerance or number == self.max_rounds:
                break
            sides = {
                side: {name: refine(known, visited.get(name, ()), self.tolerance) for name, known in pieces.items()}
                for side, pieces in sides.items()
            }
        return Outcome(sides[Side.OUTER], sides[Side.INNER], number, measured, measured <= self.tolerance)

    def _start(self, side: Side) -> dict[str, Pieces]:
        coarse = max(self.start, self.tolerance)
        return {
            name: approximate(known.function, side, known.low, known.high, coarse, relative=self.relative)
            for name, known in self.ranges.items()
        }
