"""When a run had a first plan, and one within 1 % and 0.1 % of the best: read off the trace, stored nowhere."""

from __future__ import annotations

from dataclasses import dataclass

from allocator.benchmark.statistics.gaps import Best
from allocator.benchmark.statistics.integral import incumbents, primal_gap
from allocator.plan.record import Record

__all__ = ["Targets", "seconds_to", "targets"]


@dataclass(frozen=True, slots=True)
class Targets:
    """Seconds to a first plan, to within 1 % and to within 0.1 % of the best; None: never."""

    first: float | None
    one_percent: float | None
    tenth_percent: float | None


def seconds_to(record: Record, best: Best | None, within: float) -> float | None:
    """Seconds until the first level was within that gap of the best; None if never, or without a confirmed plan."""
    if best is None or not record.has_plan:
        return None
    reference = float(best.value)
    for seconds, value in incumbents(record):
        ahead = value <= reference if best.sense == "min" else value >= reference
        if ahead or primal_gap(value, reference) <= within:
            return seconds
    return None


def targets(record: Record, best: Best | None) -> Targets:
    """All three of a run."""
    first = record.first_plan_seconds if record.has_plan else None
    return Targets(first, seconds_to(record, best, 0.01), seconds_to(record, best, 0.001))
