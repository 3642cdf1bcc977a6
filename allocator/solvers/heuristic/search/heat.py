"""Temperatures of a cooling walk, from the worsenings that it meets. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["COLD", "Schedule", "heat_for", "heat_range"]

Float = npt.NDArray[np.float64]

FIRST_TAKEN = 0.88  # part of the worsening moves that is taken at the start of a long walk
LONG_WALK = 4000  # moves an item that make a walk long; a short one starts cooler
LAST_TAKEN = 0.0005
ALIKE_FROM = 0.9  # progress from where walks that started differently are about as cold
COLD = 1e-300  # temperature at which nothing worse is taken


def heat_for(worsenings: Float, taken: float) -> float:
    """Temperature at which that part of the worsenings is taken on average; 0 without worsenings."""
    if not len(worsenings):
        return 0.0
    low, high = 1e-12 * float(worsenings.max()), 1e3 * float(worsenings.max())
    for _ in range(80):
        middle = (low * high) ** 0.5
        if float(np.exp(-worsenings / middle).mean()) < taken:
            low = middle
        else:
            high = middle
    return high


def heat_range(worsenings: Float, moves_per_item: float, taken: float = FIRST_TAKEN) -> tuple[float, float]:
    """First and last temperature of a cooling walk that can try so many moves an item; ``taken`` of a long one."""
    first = taken * min(1.0, (moves_per_item / LONG_WALK) ** 0.5)
    start = heat_for(worsenings, max(first, LAST_TAKEN))
    return start, min(start, heat_for(worsenings, LAST_TAKEN))


@dataclass(frozen=True)
class Schedule:
    """Temperatures of walks side by side over a part of a level, geometric from the first to the last.

    ``ranges``: first and last temperature, of the walks in turn. ``begin``, ``end``: progress of the level between
    which they hold. ``turns``: times that the walks cool in it, one after the other.
    """

    ranges: tuple[tuple[float, float], ...]
    begin: float
    end: float = 1.0
    turns: int = 1

    def heat(self, walk: int, progress: float) -> float:
        """Temperature of a walk; the last one at the end."""
        first, last = self.ranges[walk % len(self.ranges)]
        part = (progress - self.begin) / (self.end - self.begin)
        part = part * self.turns % 1.0 if part < 1.0 else 1.0
        return max(first * (last / first) ** part, COLD) if first > 0 else COLD

    def comparable(self, progress: float) -> bool:
        """Whether the walks are about as cold as each other, so that their values tell which is ahead."""
        return len(self.ranges) == 1 or progress >= ALIKE_FROM
