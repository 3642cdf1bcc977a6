"""Response times in the share program: a column above tangents that are added where the truth lies higher.

n members that share x units in all wait n k / (x / n - b) in sum: convex and falling in x, so that a tangent anywhere
is below it. Owns tangents and their scaling. Must not know levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["QueueColumn"]

DECADES = 1e5  # below that part of the largest slack tangents are too steep to be stated before they are needed


@dataclass
class QueueColumn:
    """Sum of the weighted waits of a cohort, in seconds, as ``column`` times ``scale``.

    Attributes
    ----------
    share : column of the extra share, None where it is fixed.
    unit : units of the resource in one unit of that column.
    members, cost, busy, full : see ``square_root.Queues``; ``full`` is of one member.
    least : units of all members at an extra share of 0.
    """

    column: int
    share: int | None
    unit: float
    members: float
    cost: float
    busy: float
    full: float
    least: float
    scale: float = field(default=1.0)
    known: set[float] = field(default_factory=set)

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

    def around(self, extra: float, error: float) -> Iterator[float]:
        """Where to add tangents: at a share where the truth lies a relative ``error`` higher, and beside it."""
        yield extra
        away = (self._units(extra) - self.busy) * self.members / self.unit * math.sqrt(error) / 4
        yield extra - away
        yield extra + away
