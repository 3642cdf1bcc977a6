"""How runs ended, counted by method. Failures stand here and in no mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from allocator.benchmark.statistics.groups import by_method
from allocator.plan.record import Record

__all__ = ["OutcomeCounts", "outcome_counts"]


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Runs of one method by how they ended; ``wrong`` first, so that every run is counted once.

    ``optimal``, ``infeasible``: proven. ``feasible``: a confirmed plan without proof. ``no_plan``: ended in order with
    neither. ``wrong``: the check refutes it.
    """

    method: str
    runs: int
    optimal: int
    infeasible: int
    feasible: int
    no_plan: int
    refused: int
    timed_out: int
    out_of_memory: int
    crashed: int
    wrong: int


def outcome_counts(records: Iterable[Record]) -> list[OutcomeCounts]:
    """Counts of every method."""
    rows = []
    for method, group in by_method(records).items():
        ends = [_end(record) for record in group]
        names = [name for name in OutcomeCounts.__dataclass_fields__ if name not in ("method", "runs")]
        rows.append(OutcomeCounts(method, len(group), *(ends.count(name) for name in names)))
    return rows


def _end(record: Record) -> str:
    if record.wrong:
        return "wrong"
    if record.outcome != "done":
        return record.outcome
    if record.solved:
        return "optimal" if record.status == "optimal" else "infeasible"
    return "feasible" if record.has_plan else "no_plan"
