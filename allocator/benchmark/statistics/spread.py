"""How much the same case and method vary over seeds: least, median and largest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from allocator.benchmark.statistics.groups import by_case
from allocator.plan.record import Record

__all__ = ["Extent", "SeedSpread", "extent", "seed_spread"]


@dataclass(frozen=True, slots=True)
class Extent:
    """Of ``count`` numbers."""

    count: int
    least: float
    median: float
    largest: float


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """One case, model and method. ``value``: first level of confirmed plans; ``seconds``: of runs that ended in order.

    ``failed``: runs that are in neither.
    """

    case: str
    model: str
    method: str
    runs: int
    failed: int
    value: Extent | None
    seconds: Extent | None


def extent(numbers: Sequence[float]) -> Extent | None:
    """Least, median and largest; None of nothing."""
    return Extent(len(numbers), min(numbers), median(numbers), max(numbers)) if numbers else None


def seed_spread(records: Iterable[Record]) -> list[SeedSpread]:
    """Spread of every case, model and method."""
    rows = []
    for (case, model), group in by_case(records).items():
        for method in sorted({record.method for record in group}):
            mine = [record for record in group if record.method == method]
            ended = [record for record in mine if record.outcome == "done" and not record.wrong]
            rows.append(
                SeedSpread(
                    case,
                    model,
                    method,
                    runs=len(mine),
                    failed=len(mine) - len(ended),
                    value=extent([float(record.value) for record in ended if record.value is not None]),
                    seconds=extent([record.run_seconds for record in ended]),
                )
            )
    return rows
