"""How long a suite still takes, from the runs that are done. An estimate for a person, no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from allocator.benchmark.runs import Run
from allocator.plan.record import Record

__all__ = ["Forecast"]


class Forecast:
    """Expects of a run what its case and method took with other seeds; else what the method took; else what all did.

    Never more than its limit.
    """

    def __init__(self, records: Iterable[Record], jobs: int) -> None:
        self._jobs = jobs
        self._seen: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Learn from a finished run."""
        for key in _keys(record.case, record.model, record.method):
            self._seen[key].append(record.seconds)

    def seconds_left(self, runs: Sequence[Run]) -> float | None:
        """Seconds that runs will take with all jobs busy; None when nothing is known yet."""
        if not self._seen:
            return None if runs else 0.0
        return sum(self._expected(run) for run in runs) / self._jobs

    def _expected(self, run: Run) -> float:
        known = next(key for key in _keys(run.case.label, run.model.name, run.method) if key in self._seen)
        return min(fmean(self._seen[known]), run.limits.seconds + run.limits.grace)


def _keys(case: str, model: str, method: str) -> tuple[tuple[str, ...], ...]:
    return (case, model, method), (method,), ()
