"""The 0/1 knapsack problem in one resource by dynamic programming, exact integers."""

from __future__ import annotations

import numpy as np

from allocator.solvers.decomposition.assignment.problem import Int64

__all__ = ["knapsack"]


def knapsack(profit: Int64, weight: Int64, capacity: int) -> tuple[int, Int64]:
    """Best profit within the capacity, and the items that reach it (Bellman 1957).

    ``profit`` int64[J], also below 0; ``weight`` int64[J], at least 0. Time and space: items of profit times capacity.
    """
    useful = np.flatnonzero((profit > 0) & (weight <= capacity))
    if weight[useful].sum() <= capacity:
        return int(profit[useful].sum()), useful
    best = np.zeros(capacity + 1, dtype=np.int64)
    taken = np.zeros((len(useful), capacity + 1), dtype=np.bool_)
    for row, item in enumerate(useful):
        size = int(weight[item])
        candidate = best[: capacity + 1 - size] + profit[item]
        better = candidate > best[size:]
        taken[row, size:] = better
        best[size:] = np.where(better, candidate, best[size:])
    left, chosen = capacity, []
    for row in range(len(useful) - 1, -1, -1):
        if taken[row, left]:
            chosen.append(int(useful[row]))
            left -= int(weight[useful[row]])
    return int(best[capacity]), np.array(sorted(chosen), dtype=np.int64)
