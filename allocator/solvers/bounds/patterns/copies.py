"""Items of a pricing problem as a list of single copies in the order of search, and the bound of what they can add."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from allocator.solvers.bounds.patterns.problem import SIZE_SCALE, BinPacking, Int64
from allocator.solvers.quiet import QuietHighs

__all__ = ["Copies"]

UNLIMITED = np.iinfo(np.int64).max
WEIGHT_SCALE = 1 << 8  # largest resource weight of the surrogate constraint


@dataclass(frozen=True)
class Copies:
    """Single copies by falling value per surrogate size; those of one type are consecutive.

    The surrogate constraint is a weighted sum of the resources with integer weights >= 0, in relative sizes: a
    relaxation for any weights, tight for the duals of the knapsack's linear relaxation.

    Attributes
    ----------
    item : int64[C], item type of the copy.
    first : bool[C], whether it is the first of its type.
    size : int64[C, R]; value, surrogate : int64[C].
    surrogate_capacity : of an empty bin.
    """

    item: Int64
    first: npt.NDArray[np.bool_]
    size: Int64
    value: Int64
    surrogate: Int64
    surrogate_capacity: int
    _total_value: Int64
    _total_surrogate: Int64

    @staticmethod
    def of(problem: BinPacking, values: Int64, usable: npt.NDArray[np.bool_], threads: int) -> Copies:
        """Copies of the usable types, as many of each as its demand and an empty bin allow. At least one is usable."""
        weights = _weights(problem, values, usable, threads)
        surrogate = problem.relative @ weights
        types = np.flatnonzero(usable)
        efficiency = values[types] / np.maximum(surrogate[types], 1)
        order = types[np.argsort(-efficiency, kind="stable")]
        sizes = problem.sizes[order]
        room = np.where(sizes > 0, problem.capacity // np.maximum(sizes, 1), UNLIMITED).min(axis=1, initial=UNLIMITED)
        item = np.repeat(order, np.minimum(problem.demand[order], room))
        first = np.ones(len(item), dtype=np.bool_)
        first[1:] = item[1:] != item[:-1]
        value, used = values[item], surrogate[item]
        return Copies(
            item=item,
            first=first,
            size=problem.sizes[item],
            value=value,
            surrogate=used,
            surrogate_capacity=int(weights.sum()) * SIZE_SCALE,
            _total_value=np.concatenate([[0], np.cumsum(value)]),
            _total_surrogate=np.concatenate([[0], np.cumsum(used)]),
        )

    def bound(self, start: Int64, residual: Int64) -> Int64:
        """Upper bound of the value that copies from ``start`` on add within a surrogate ``residual`` (Dantzig 1957)."""
        reach = self._total_surrogate[start] + residual
        stop = np.maximum(np.searchsorted(self._total_surrogate, reach, side="right") - 1, start)
        gained = self._total_value[stop] - self._total_value[start]
        left = residual - (self._total_surrogate[stop] - self._total_surrogate[start])
        split = np.minimum(stop, len(self.item) - 1)
        part = left * self.value[split] // np.maximum(self.surrogate[split], 1)
        total: Int64 = gained + np.where(stop < len(self.item), np.minimum(part, self.value[split]), 0)
        return total


def _weights(problem: BinPacking, values: Int64, usable: npt.NDArray[np.bool_], threads: int) -> Int64:
    """int64[R] >= 0, not all 0: rounded duals of the linear relaxation of the knapsack."""
    types = np.flatnonzero(usable)
    num_resources = problem.num_resources
    solver = QuietHighs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", threads)
    for _ in range(num_resources):
        solver.addRow(-highspy.kHighsInf, 1.0, 0, np.zeros(0, np.int32), np.zeros(0))
    starts = np.arange(len(types), dtype=np.int32) * num_resources
    rows = np.tile(np.arange(num_resources, dtype=np.int32), len(types))
    gain = values[types] / max(int(values[types].max()), 1)
    shares = problem.relative[types] / SIZE_SCALE
    solver.addCols(
        len(types), -gain, np.zeros(len(types)), problem.demand[types].astype(float), rows.size, starts, rows,
        shares.ravel(),
    )  # fmt: skip
    solver.run()
    duals = np.abs(np.asarray(solver.getSolution().row_dual, dtype=float))
    if len(duals) != num_resources or not np.isfinite(duals).all() or duals.max(initial=0.0) <= 0:
        return np.ones(num_resources, dtype=np.int64)
    rounded: Int64 = np.rint(duals / duals.max() * WEIGHT_SCALE).astype(np.int64)
    return rounded
