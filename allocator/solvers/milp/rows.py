"""Rows ``a x <= b`` and columns collected as arrays, to be added to a model that HiGHS holds. Knows no family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import highspy
import numpy as np

from allocator.errors import InternalError
from allocator.solvers.milp.highs import HighsRun

__all__ = ["Rows", "add_columns", "close_columns", "delete_rows"]


@dataclass
class Rows:
    """Rows in order. ``lower`` of a row is minus infinity unless stated."""

    starts: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    coefs: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, terms: Iterable[tuple[int, float]], upper: float, lower: float = -highspy.kHighsInf) -> None:
        """Append lower <= sum coef x[column] <= upper; each column at most once."""
        self.starts.append(len(self.columns))
        for column, coef in terms:
            self.columns.append(column)
            self.coefs.append(coef)
        self.lower.append(lower)
        self.upper.append(upper)

    def __len__(self) -> int:
        return len(self.starts)

    def subset(self, keep: Sequence[int]) -> Rows:
        """The rows at the given positions."""
        ends = [*self.starts[1:], len(self.columns)]
        chosen = Rows()
        for row in keep:
            span = slice(self.starts[row], ends[row])
            chosen.add(zip(self.columns[span], self.coefs[span], strict=True), self.upper[row], self.lower[row])
        return chosen

    def extend(self, other: Rows) -> None:
        """Append the rows of another collection."""
        shift = len(self.columns)
        self.starts.extend(start + shift for start in other.starts)
        self.columns.extend(other.columns)
        self.coefs.extend(other.coefs)
        self.lower.extend(other.lower)
        self.upper.extend(other.upper)

    def add_to(self, run: HighsRun) -> None:
        """Append all rows to the model."""
        if self.starts:
            status = run.solver.addRows(
                len(self.starts),
                np.array(self.lower),
                np.array(self.upper),
                len(self.columns),
                np.array(self.starts, dtype=np.int32),
                np.array(self.columns, dtype=np.int32),
                np.array(self.coefs),
            )
            _require(status, "addRows")


def add_columns(run: HighsRun, number: int) -> int:
    """Append continuous columns in [0, 1] without cost; returns the index of the first."""
    first = int(run.solver.getNumCol())
    index, value = np.zeros(0, dtype=np.int32), np.zeros(0)
    starts = np.zeros(number, dtype=np.int32)
    status = run.solver.addCols(number, np.zeros(number), np.zeros(number), np.ones(number), 0, starts, index, value)
    _require(status, "addCols")
    return first


def close_columns(run: HighsRun, columns: Sequence[int]) -> None:
    """Fix columns at 0."""
    zeros = np.zeros(len(columns))
    if len(columns):
        _require(run.solver.changeColsBounds(len(columns), np.array(columns, dtype=np.int32), zeros, zeros), "bounds")


def delete_rows(run: HighsRun, rows: Sequence[int]) -> None:
    """Delete rows by index, ascending."""
    if len(rows):
        _require(run.solver.deleteRows(len(rows), np.array(rows, dtype=np.int32)), "deleteRows")


def _require(status: object, what: str) -> None:
    if status == highspy.HighsStatus.kError:
        raise InternalError(f"HiGHS refused {what}")
