"""Response times in the share program: a column above tangents that are added where the truth lies higher.

n members that share x units in all wait n k / (x / n - b) in sum: convex and falling in x, so that a tangent anywhere
is below it. Owns tangents and their scaling. Must not know levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["QueueColumn"]

DECADES = 1e5  # below that part of the largest slack tangents are too steep to be stated before they are needed


@dataclass
class QueueColumn:
    """Sum of the weighted waits of a cohort, in seconds, as ``column`` times ``scale``.

    Attributes
    ----------
    entry, share : of the cohort and its extra share, None where it is fixed.
    unit : units of the resource in one unit of that column.
    members, cost, busy, full : see ``square_root.Queues``; ``full`` is of one member.
    least : units of all members at an extra share of 0.
    known : extra shares with a tangent.
    rows : number and slope of the tangents' rows in the program.
    """

    column: int
    entry: int | None
    share: int | None
    unit: float
    members: float
    cost: float
    busy: float
    full: float
    least: float
    scale: float = field(default=1.0)
    known: set[float] = field(default_factory=set)
    rows: list[tuple[int, float]] = field(default_factory=list)

    def wait(self, extra: float) -> float:
        """Sum of the waits at an extra share in column units, s."""
        return self.members * self.cost / (min(self._units(extra), self.full) - self.busy)

    def _units(self, extra: float) -> float:
        return (self.least + extra * self.unit) / self.members

    def tangent(self, extra: float) -> tuple[dict[int, float], float] | None:
        """Row (terms <= bound) of the tangent at an extra share; None where it is known or beyond what can be used."""
        if self.share is None or extra < 0 or extra in self.known or self._units(extra) >= self.full:
            return None
        self.known.add(extra)
        slack = self._units(extra) - self.busy
        value = self.members * self.cost / slack / self.scale
        slope = -self.cost / (slack * slack) * self.unit / self.scale
        return {self.share: slope, self.column: -1.0}, slope * extra - value

    def grid(self, most: float, number: int) -> Iterator[float]:
        """Extra shares whose slack is spaced geometrically, up to the most that helps, over five decades at most."""
        least = self._units(0.0) - self.busy
        high = max(min(self._units(most), self.full) - self.busy, least)
        low = max(least, high / DECADES)
        for step in range(number):
            slack = low * (high / low) ** (step / max(1, number - 1))
            yield max(0.0, min(((slack + self.busy) * self.members - self.least) / self.unit, most))

    def noted(self, row: int, terms: dict[int, float]) -> None:
        """Remember the row that a tangent became."""
        if self.share is not None:
            self.rows.append((row, terms[self.share]))

    def steep_as(self, row_duals: npt.NDArray[np.float64]) -> float | None:
        """Extra share where the curve is as steep as the tangents that hold the column, weighed by their duals.

        That slope is what share is worth elsewhere, so that the optimum lies near there.
        """
        total = slope = 0.0
        for row, each in self.rows:
            if row < len(row_duals):
                weight = abs(float(row_duals[row]))
                total += weight
                slope += weight * each
        if not total or not slope:
            return None
        slack = math.sqrt(self.cost * self.unit / self.scale * total / abs(slope))
        return ((slack + self.busy) * self.members - self.least) / self.unit
