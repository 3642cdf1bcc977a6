"""What bends, as the oracle reads it: a response time over compute (13), a goodput curve at a load (14). Floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from allocator.instance.entities import Goodput

__all__ = ["Affine", "Queue", "carried"]

Affine = dict[int, float]  # coefficient by column; column -1 is the constant


@dataclass(frozen=True)
class Queue:
    """``seconds`` >= ``scale`` / (``usable`` - ``offered``), two columns and two numbers in base units."""

    seconds: int
    usable: int
    scale: float
    offered: float

    def at(self, usable: float) -> float:
        """The response time, path delay apart."""
        return self.scale / (usable - self.offered)

    def tangent(self, usable: float) -> tuple[Affine, float]:
        """A row that the convex curve satisfies, tight there."""
        slope = -self.scale / (usable - self.offered) ** 2
        return {self.usable: slope, self.seconds: -1.0}, slope * usable - self.at(usable)


def carried(curve: Goodput, capacity: Fraction, load: Fraction) -> float:
    """What an uplink carries of a load (equation 14)."""
    if load <= 0 or capacity <= 0:
        return 0.0
    ratio = load / capacity
    if curve.curve == "fair":
        return float(min(load, capacity))
    if curve.curve == "knee":
        p = float(curve.p)
        return float(load) * math.exp(-math.log1p(float(ratio) ** p) / p)
    points = [(Fraction(0), Fraction(0)), *curve.points]
    for (a, low), (b, high) in pairwise(points):
        if a < b and ratio <= b:
            return float(capacity * (low + (ratio - a) * (high - low) / (b - a)))
    return float(capacity * points[-1][1])
