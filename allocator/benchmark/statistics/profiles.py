"""Performance profiles: for each method, the share of problems that it solves within a factor of the fastest.

Source: Dolan and More, "Benchmarking optimization software with performance profiles", Mathematical Programming 91
(2002). A method's ratio on a problem is its measure over the best one; a failure has an infinite ratio. Problems that
no method solves stay in the denominator.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from allocator.benchmark.statistics.groups import RunKey, by_method, run_key
from allocator.plan.record import Record

__all__ = ["Profile", "performance_profiles", "time_profiles"]

SMALLEST = 1e-3
"""Measures below count as this: clocks do not tell them apart."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Profile of one method. ``ratios``: finite ratios, ascending; ``problems``: of all, solved or not."""

    method: str
    ratios: tuple[float, ...]
    problems: int

    def at(self, factor: float) -> float:
        """Share of the problems solved within that factor of the best, rho(factor)."""
        return bisect_right(self.ratios, factor) / self.problems if self.problems else 0.0

    def steps(self) -> list[tuple[float, float]]:
        """Corners of the step function: (factor, share from there on), ascending, from factor 1."""
        corners = sorted({1.0, *self.ratios})
        return [(factor, self.at(factor)) for factor in corners]


def performance_profiles(
    measures: Mapping[str, Mapping[RunKey, float | None]], problems: Iterable[RunKey] | None = None
) -> list[Profile]:
    """Profiles of methods.

    Parameters
    ----------
    measures : by method and problem, the smaller the better; None or no entry: failed.
    problems : all problems; None: those that some method has an entry for.
    """
    everything = sorted(set(problems) if problems is not None else {key for each in measures.values() for key in each})
    best = {key: min((_number(each.get(key)) for each in measures.values()), default=math.inf) for key in everything}
    profiles = []
    for method in sorted(measures):
        found = (_number(measures[method].get(key)) / best[key] for key in everything if best[key] < math.inf)
        profiles.append(Profile(method, tuple(sorted(ratio for ratio in found if ratio < math.inf)), len(everything)))
    return profiles


def time_profiles(records: Iterable[Record]) -> list[Profile]:
    """Profiles by the seconds of solved runs; a problem is a case under a model with a seed."""
    groups = by_method(records)
    measures = {
        method: {run_key(record): record.run_seconds if record.solved else None for record in group}
        for method, group in groups.items()
    }
    return performance_profiles(measures)


def _number(measure: float | None) -> float:
    return math.inf if measure is None else max(measure, SMALLEST)
