"""Temperatures of a cooling walk, from the worsenings that it meets. Pure arithmetic.

What is planned is the part of the worsenings that is taken, not the temperature: how hot that is follows from those met
lately, and changes by orders of magnitude as a plan gets better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log

import numpy as np
import numpy.typing as npt

__all__ = ["COLD", "Course", "Schedule", "Thermostat", "heat_for"]

Float = npt.NDArray[np.float64]

LONG_WALK = 4000  # moves an item that make a walk long; a short one starts cooler
LAST_TAKEN = 0.0005  # part of the worsenings that is taken at the end
ALIKE_FROM = 0.9  # progress from where walks that started differently are about as cold
LOOK = 0.002  # part of a cooling between looks at the worsenings
MEMORY = 0.02  # part of a cooling over which temperatures are smoothed: a sample's tail is one or two of them
COLD = 1e-300  # temperature at which nothing worse is taken


def heat_for(worsenings: Float, taken: float) -> float:
    """Temperature at which that part of the worsenings is taken on average; 0 where there are none."""
    if not len(worsenings) or worsenings.max() <= 0:
        return 0.0
    low, high = 1e-12 * float(worsenings.max()), 1e3 * float(worsenings.max())
    for _ in range(40):
        middle = (low * high) ** 0.5
        if float(np.exp(-worsenings / middle).mean()) < taken:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True)
class Course:
    """Part of the worsenings taken in a cooling, from ``first`` to ``last``; with a ``bend`` above 1 it falls late."""

    first: float
    bend: float = 1.0
    last: float = LAST_TAKEN

    @classmethod
    def within(cls, moves_per_item: float, first: float, bend: float = 1.0) -> Course:
        """The course of a walk that can try so many moves an item; ``first`` of a long one."""
        return cls(max(first * min(1.0, (moves_per_item / LONG_WALK) ** 0.5), LAST_TAKEN), bend)

    def taken(self, part: float) -> float:
        """What is taken after a part of the cooling."""
        return float(self.first * (self.last / self.first) ** part**self.bend)


@dataclass(frozen=True)
class Schedule:
    """Courses of walks side by side over the rest of a level.

    ``courses``: of the walks in turn. ``begin``: progress of the level from which they hold. ``turns``: times that the
    walks cool in it, one after the other.
    """

    courses: tuple[Course, ...]
    begin: float
    turns: int = 1

    def part(self, progress: float) -> float:
        """How much of a cooling is over, 0 to 1; 1 at the end."""
        part = (progress - self.begin) / (1.0 - self.begin)
        return part * self.turns % 1.0 if part < 1.0 else 1.0

    def taken(self, walk: int, progress: float) -> float:
        """What a walk takes."""
        return self.courses[walk % len(self.courses)].taken(self.part(progress))

    def comparable(self, progress: float) -> bool:
        """Whether the walks are about as cold as each other, so that their values tell which is ahead."""
        return len(self.courses) == 1 or progress >= ALIKE_FROM


@dataclass
class Thermostat:
    """Keeps the temperature of a walk where it takes as much as wanted."""

    _part: float = field(default=2.0, init=False)
    _log: float | None = field(default=None, init=False)

    def heat(self, worsenings: Float, taken: float, part: float) -> float:
        """The temperature after a part of a cooling. ``worsenings``: those met lately."""
        if part < self._part:
            self._log = None
        elif part < self._part + LOOK and self._log is not None:
            return exp(self._log)
        found = heat_for(worsenings, taken)
        if found <= 0:
            return COLD
        fresh = 1.0 if self._log is None else 1.0 - exp(-(part - self._part) / MEMORY)
        self._log = log(found) * fresh + (self._log or 0.0) * (1.0 - fresh)
        self._part = part
        return exp(self._log)
