"""The cost n^2 / s of shares (goal ``p99``) from below, by tangents in t = n / s on a geometric grid.

n members of a class on a node have slack s > 0 together: each sees an M/M/1 server with slack s / n, so the sum of
their 99th percentiles is ln(100) c n^2 / s (c compute per task, w the weight). For every t > 0

    n^2 / s >= 2 t n - t^2 s,    the relative difference is (1 - t s / n)^2,

and two neighbours t, rho t agree at n / s = (1 + rho) t / 2, where that is ((rho - 1) / (rho + 1))^2. Nothing is proven
outside [t_min, t_max]. Knows no class, node or model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from allocator.errors import ArgumentError
from allocator.linearization.enclosures import Enclosure, float_below, logarithm
from allocator.linearization.pieces import Certificate

__all__ = ["ShareCost", "geometric_tangents", "grid_error", "ln_100", "share_range"]

ROOT_SCALE = 10**15


@dataclass(frozen=True, slots=True)
class ShareCost:
    """Tangent arguments t, rising, and the error proven for n / s in [low, high]."""

    grid: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    max_error: Fraction
    attained_at: Fraction

    @property
    def certificate(self) -> Certificate:
        """What is proven; the error is relative."""
        return Certificate(
            max_error=self.max_error,
            attained_at=self.attained_at,
            relative=True,
            low=self.low,
            high=self.high,
            num_pieces=len(self.grid),
            proven_over=f"n/s over [{float(self.low):.6g}, {float(self.high):.6g}]",
        )

    def rows(self, weight: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
        """(a, b) with weight * n^2 / s >= a n - b s for all n >= 0, s > 0.

        Parameters
        ----------
        weight : at least 0; for P99 a lower bound of w c ln(100), see ``ln_100``.
        """
        if weight < 0:
            raise ArgumentError(f"the weight of a cost must be at least 0, not {weight}")
        return tuple((2 * t * weight, t * t * weight) for t in self.grid)

    def at(self, n: Fraction, s: Fraction) -> Fraction:
        """The largest tangent, for weight 1."""
        return max(2 * t * n - t * t * s for t in self.grid)


def share_range(largest_slack: Fraction, smallest_slack: Fraction) -> tuple[Fraction, Fraction]:
    """The range of n / s that occurs: a member's slack is at least delta lambda c, and all of a node at most C_max.

    Raises
    ------
    ArgumentError
        unless 0 < smallest_slack < largest_slack.
    """
    if not 0 < smallest_slack < largest_slack:
        raise ArgumentError(f"slack must satisfy 0 < smallest < largest, not {smallest_slack} and {largest_slack}")
    return 1 / largest_slack, 1 / smallest_slack


def geometric_tangents(low: Fraction, high: Fraction, tolerance: Fraction) -> ShareCost:
    """The fewest tangents whose relative error is at most the tolerance for n / s in [low, high].

    With e = sqrt(tolerance) a tangent at t serves [t / (1 + e), t / (1 - e)], a range of ratio
    rho = (1 + e) / (1 - e) wherever it stands: ceil(ln(high / low) / ln(rho)) of them are needed, and suffice.

    Raises
    ------
    ArgumentError
        unless 0 < low < high and 0 < tolerance < 1, or where floats cannot tell two tangents apart.
    """
    if not 0 < low < high or not 0 < tolerance < 1:
        raise ArgumentError(f"needs 0 < low < high and 0 < tolerance < 1, not {low}, {high}, {tolerance}")
    root = _root_below(tolerance)
    grid = []
    served = low
    while served < high:
        t = float_below(served * (1 + root))
        reached = t / (1 - root)
        if reached <= served:
            raise ArgumentError(f"the tolerance {float(tolerance):g} is below what floats tell apart")
        grid.append(t)
        served = reached
    error, where = grid_error(grid, low, high)
    return ShareCost(tuple(grid), low, high, error, where)


def grid_error(grid: Iterable[Fraction], low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Largest relative error of the tangents at ``grid`` for n / s in [low, high], exactly, and where.

    (1 - t / u)^2 grows away from t, so the maximum is at an end or where two neighbours agree, at their mean.
    """
    known = sorted(set(grid))
    candidates = [low, high, *((a + b) / 2 for a, b in pairwise(known))]
    inside = [u for u in candidates if low <= u <= high]
    found = []
    for u in inside:
        after = bisect_left(known, u)
        nearest = known[max(after - 1, 0) : after + 1]
        found.append((min((1 - t / u) ** 2 for t in nearest), u))
    return max(found)


def ln_100() -> Enclosure:
    """ln(100): the 99th percentile of an exponential time, in units of its mean (Kleinrock 1975, section 3.2)."""
    return logarithm(Enclosure.exact(100))


def _root_below(value: Fraction) -> Fraction:
    """A rational just below the square root."""
    return Fraction(isqrt(value.numerator * ROOT_SCALE**2 // value.denominator), ROOT_SCALE)
