"""Means of times that a few long ones do not rule: the shifted geometric mean, with what it is taken over.

Source: Achterberg, *Constraint Integer Programming* (2007), appendix A.3; the shift of 10 s is the one in common use in
comparisons of MIP solvers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from allocator.benchmark.statistics.groups import RunKey, by_method, run_key
from allocator.plan.record import Record

__all__ = ["SHIFT_SECONDS", "MethodTimes", "method_times", "shifted_geometric_mean"]

SHIFT_SECONDS = 10.0


def shifted_geometric_mean(values: Iterable[float], shift: float = SHIFT_SECONDS) -> float | None:
    """exp(mean(log(value + shift))) - shift; None of no values.

    Parameters
    ----------
    values : at least 0, in the unit of the shift.
    """
    logs = [math.log(value + shift) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) - shift if logs else None


@dataclass(frozen=True, slots=True)
class MethodTimes:
    """Times of one method, as shifted geometric means in seconds.

    Attributes
    ----------
    runs, solved : how many there are, and how many of them are proven answers that nothing refutes.
    of_solved : over its own solved runs.
    of_common : over the ``common`` runs that every method which solves anything solved.
    capped : over solved runs and those that ended in order without a proof, which count with their time limit; refused,
        crashed, out of memory and refuted runs are in ``apart`` and in no mean.
    """

    method: str
    runs: int
    solved: int
    of_solved: float | None
    common: int
    of_common: float | None
    capped: float | None
    apart: int


def method_times(records: Iterable[Record]) -> list[MethodTimes]:
    """Times of every method, in order of its name."""
    groups = by_method(records)
    solved = {
        method: {run_key(record): record.run_seconds for record in group if record.solved}
        for method, group in groups.items()
    }
    common = _common(solved)
    return [
        MethodTimes(
            method=method,
            runs=len(group),
            solved=len(solved[method]),
            of_solved=shifted_geometric_mean(solved[method].values()),
            common=len(common) if solved[method] else 0,
            of_common=shifted_geometric_mean(solved[method][key] for key in common) if solved[method] else None,
            capped=shifted_geometric_mean(time for record in group if (time := _capped(record)) is not None),
            apart=sum(_capped(record) is None for record in group),
        )
        for method, group in groups.items()
    ]


def _common(solved: Mapping[str, Mapping[RunKey, float]]) -> list[RunKey]:
    able = [set(times) for times in solved.values() if times]
    return sorted(set.intersection(*able)) if able else []


def _capped(record: Record) -> float | None:
    """Seconds of a solved run, the limit of one without proof; None where the run failed."""
    if record.wrong or record.outcome not in ("done", "timed_out"):
        return None
    return record.run_seconds if record.solved else float(record.limits["seconds"])
