"""The primal integral: how good the plans were over the whole time, in one number.

Source: Berthold, "Measuring the impact of primal heuristics", Operations Research Letters 41 (2013). The primal gap of
a value is 0 if it equals the best, 1 if there is none yet or the signs differ, else |value - best| / max(|value|,
|best|); the integral is its area from 0 to the horizon, in seconds.
"""

from __future__ import annotations

from allocator.benchmark.statistics.gaps import Best
from allocator.plan.record import Record

__all__ = ["incumbents", "primal_gap", "primal_integral"]


def primal_gap(value: float | None, best: float) -> float:
    """Primal gap, 0 to 1."""
    if value is None:
        return 1.0
    if value == best:
        return 0.0
    if value * best < 0:
        return 1.0
    return abs(value - best) / max(abs(value), abs(best))


def incumbents(record: Record) -> list[tuple[float, float]]:
    """(seconds, value) of the first level whenever it got better; the last one is what the check confirms."""
    better: list[tuple[float, float]] = []
    sense = record.sense or "min"
    final = None if record.value is None else float(record.value)
    for seconds, level, value, _ in record.trace:
        if level != 0 or value is None:
            continue
        if final is not None:  # what a method believed on its way is not better than what was confirmed in the end
            value = max(value, final) if sense == "min" else min(value, final)  # noqa: PLW2901
        if not better or (value < better[-1][1] if sense == "min" else value > better[-1][1]):
            better.append((seconds, value))
    return better


def primal_integral(record: Record, best: Best | None, horizon: float | None = None) -> float | None:
    """Primal integral of a run, seconds.

    Parameters
    ----------
    horizon : seconds; None: the run's time limit. A run that ends earlier keeps its last plan until then.

    Returns
    -------
    float or None
        None where there is no best value, or the run failed: refused, crashed, ended from outside, or refuted. A run
        that ended in order without a plan has the whole horizon.
    """
    if best is None or record.outcome != "done" or record.wrong:
        return None
    end = float(record.limits["seconds"]) if horizon is None else horizon
    reference = float(best.value)
    area, since, gap = 0.0, 0.0, 1.0
    for seconds, value in incumbents(record):
        moment = min(max(seconds, since), end)
        area += gap * (moment - since)
        since, gap = moment, primal_gap(value, reference)
    return area + gap * (end - since)
