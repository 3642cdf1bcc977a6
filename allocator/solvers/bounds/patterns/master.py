"""The covering linear program over bin patterns that are only ever added. Knows nothing of pricing."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from allocator.solvers.bounds.patterns.problem import Float, Int64
from allocator.solvers.budget import Budget
from allocator.solvers.quiet import QuietHighs

__all__ = ["Master", "MasterSolution", "sparse_columns"]

PRIMAL_SIMPLEX = 4  # adding columns keeps the basis primal feasible


@dataclass(frozen=True)
class MasterSolution:
    """Use of every pattern float64[P], dual of every demand float64[I], value: number of bins."""

    use: Float
    duals: Float
    value: float


def sparse_columns(patterns: Int64) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Float]:
    """Starts, row indices and coefficients of patterns int[P, I] as columns."""
    pattern, item = np.nonzero(patterns)
    counts = np.bincount(pattern, minlength=len(patterns))
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32)
    return begin, item.astype(np.int32), patterns[pattern, item].astype(float)


class Master:
    """min sum x, patterns.T @ x >= demand, x >= 0. Starts with one pattern of one unit for every type."""

    def __init__(self, demand: Int64, threads: int) -> None:
        self._patterns: list[Int64] = []
        self._known: set[bytes] = set()
        self._solver = QuietHighs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", threads)
        self._solver.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        for units in demand:
            self._solver.addRow(float(units), highspy.kHighsInf, 0, np.zeros(0, np.int32), np.zeros(0))
        self.add(np.eye(len(demand), dtype=np.int64))

    @property
    def patterns(self) -> Int64:
        """int64[P, I], in the order in which they were added."""
        return np.array(self._patterns, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._patterns)

    def add(self, patterns: Int64) -> int:
        """Add those that are new and not empty; how many they were."""
        fresh: list[Int64] = []
        for pattern in patterns:
            key = pattern.astype(np.int32).tobytes()
            if key not in self._known and pattern.any():
                self._known.add(key)
                fresh.append(pattern)
        if fresh:
            begin, index, coefficient = sparse_columns(np.array(fresh))
            number = len(fresh)
            self._solver.addCols(
                number, np.ones(number), np.zeros(number), np.full(number, highspy.kHighsInf), index.size, begin,
                index, coefficient,
            )  # fmt: skip
            self._patterns += fresh
        return len(fresh)

    def solve(self, budget: Budget) -> MasterSolution | None:
        """Optimum over the patterns so far; None when the time ends before."""
        remaining = budget.remaining()
        if budget.exhausted:
            return None
        if remaining != float("inf"):
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(0.01, remaining))
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._solver.getSolution()
        return MasterSolution(
            np.asarray(solution.col_value, dtype=float),
            np.asarray(solution.row_dual, dtype=float),
            float(self._solver.getInfo().objective_function_value),
        )
