"""Root rounds of violated rows for products of presences in one domain: solve the relaxation, add, purge, repeat.

The rows are those of the Boolean quadric polytope on three points (Padberg 1989): for each domain g, with x the
presences and y the products,

    y_ij + y_ik - y_jk <= x_i,      x_i + x_j + x_k - y_ij - y_ik - y_jk <= 1,
    y_ij <= x_i,                    x_i + x_j - y_ij <= 1.

Knows no flow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.solvers.budget import Budget
from allocator.solvers.milp.fabric.together import UNKNOWN, Together
from allocator.solvers.milp.highs import HighsRun, Stop
from allocator.solvers.milp.rows import Rows, delete_rows

__all__ = ["separate"]

Float = npt.NDArray[np.float64]
Terms = tuple[tuple[float, tuple[int, ...]], ...]  # coefficient and the columns that have it
LEAST_CUTS, MOST_CUTS = 400, 5_000  # a round; between them the number of products
VIOLATION = 1e-3
SLACK = 1e-6
PATIENCE = 3
LEAST_GAIN = 5e-4  # of the open gap, in PATIENCE rounds


def separate(
    together: Together, run: HighsRun, cost: Float, *, minimise: bool, budget: Budget, target: float | None
) -> tuple[Rows, float | None]:
    """The added rows that are tight at the last relaxation solved, and its value; ``run`` is used up.

    ``run`` holds the relaxation. ``target``: objective of a known plan. Stops when ``PATIENCE`` rounds close too little
    of the gap to it (or of what has been gained so far), when nothing is violated, or with the budget.
    """
    sign = 1.0 if minimise else -1.0
    base = int(run.solver.getNumRow())
    point = _Point(together)
    rows = Rows()
    bounds: list[float] = []
    while True:
        outcome = run.run(
            cost,
            minimise=minimise,
            budget=budget,
            relative_gap=0.0,
            absolute_gap=0.0,
            start=None,
            on_incumbent=_ignore,
            on_bound=_ignore,
        )
        if outcome.stop is not Stop.OPTIMAL or outcome.solution is None or outcome.bound is None:
            return rows, (sign * bounds[-1] if bounds else None)
        bounds.append(sign * outcome.bound)
        if len(bounds) > 1 and bounds[-1] > bounds[-2] + 1e-4 * abs(bounds[-2]):
            rows = _purge(run, base, rows)
        if len(bounds) > PATIENCE:
            open_gap = bounds[-1] - bounds[0] if target is None else max(0.0, sign * target - bounds[-1])
            if bounds[-1] - bounds[-1 - PATIENCE] <= LEAST_GAIN * open_gap:
                return rows, sign * bounds[-1]
        found = point.violated(outcome.solution)
        if not len(found):
            return rows, sign * bounds[-1]
        found.add_to(run)
        rows.extend(found)


def _ignore(value: float) -> None:
    """Relaxations have no incumbents to tell of."""


def _purge(run: HighsRun, base: int, rows: Rows) -> Rows:
    """Delete added rows that are slack; they may come back."""
    activity = np.array(run.solver.getSolution().row_value)[base:]
    tight = activity >= np.array(rows.upper) - SLACK
    delete_rows(run, (base + np.nonzero(~tight)[0]).tolist())
    return rows.subset(np.nonzero(tight)[0].tolist())


class _Point:
    """Reads presences and products from a solution, and states the most violated rows."""

    def __init__(self, together: Together) -> None:
        self._together = together
        self._shape = len(together.present), len(together.parent)
        self._most = min(MOST_CUTS, max(LEAST_CUTS, int((together.product >= 0).sum()) // 2))
        spots = [
            (i * self._shape[1] + g, column)
            for i, of_member in enumerate(together.present)
            for g, columns in enumerate(of_member)
            for column in columns
        ]
        self._cell = np.array([cell for cell, _ in spots], dtype=np.int64)
        self._column = np.array([column for _, column in spots], dtype=np.int64)

    def violated(self, solution: Float) -> Rows:
        """The most violated rows."""
        num_members, num_domains = self._shape
        weights = solution[self._column]
        sums = np.bincount(self._cell, weights, minlength=num_members * num_domains)
        x = np.asarray(sums, dtype=np.float64).reshape(self._shape)
        product = self._together.product
        y: Float = np.where(product >= 0, solution[np.maximum(product, 0)], np.where(product == UNKNOWN, np.nan, 0.0))
        found: list[tuple[float, Terms, float]] = []
        for g in range(num_domains):
            found.extend(self._in_domain(g, x[:, g], y[:, :, g]))
        found.sort(key=lambda cut: -cut[0])
        rows = Rows()
        for _, terms, upper in found[: self._most]:
            total: dict[int, float] = {}
            for coef, columns in terms:
                for column in columns:
                    total[column] = total.get(column, 0.0) + coef
            rows.add(total.items(), upper)
        return rows

    def _in_domain(self, g: int, x: Float, y: Float) -> Iterator[tuple[float, Terms, float]]:
        def of(*members: int) -> tuple[int, ...]:
            return tuple(c for i in members for c in self._together.present[i][g])

        def both(*pairs: tuple[int, int]) -> tuple[int, ...]:
            columns = (int(self._together.product[i, j, g]) for i, j in pairs)
            return tuple(column for column in columns if column >= 0)

        for value, i, j, k in _large(y[:, :, None] + y[:, None, :] - y[None, :, :] - x[:, None, None]):
            if j < k and i not in (j, k):
                yield value, ((1.0, both((i, j), (i, k))), (-1.0, (*both((j, k)), *of(i)))), 0.0
        three = x[:, None, None] + x[None, :, None] + x[None, None, :]
        for value, i, j, k in _large(three - y[:, :, None] - y[:, None, :] - y[None, :, :] - 1.0):
            if i < j < k:
                yield value, ((1.0, of(i, j, k)), (-1.0, both((i, j), (i, k), (j, k)))), 1.0
        for value, i, j in _large(y - x[:, None]):
            if i != j:
                yield value, ((1.0, both((i, j))), (-1.0, of(i))), 0.0
        for value, i, j in _large(x[:, None] + x[None, :] - y - 1.0):
            if i < j:
                yield value, ((1.0, of(i, j)), (-1.0, both((i, j)))), 1.0


def _large(violation: Float) -> list[tuple[Any, ...]]:
    """(value, *indices) of the entries above ``VIOLATION``; unknown ones are NaN."""
    where = np.nonzero(np.nan_to_num(violation, nan=-1.0) > VIOLATION)
    return list(zip(violation[where].tolist(), *(index.tolist() for index in where), strict=True))
