"""In which order a first placement takes the items. Knows the arrays of a problem alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import Problem

__all__ = ["order_of", "sizes_of"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


def sizes_of(problem: Problem) -> Float:
    """Largest part of a resource that each item takes of all there is, in its first option on the first node kind."""
    rows = problem.first_option[problem.workload] * int(problem.sizes[at.KINDS])
    total = np.where(problem.limit < 2**60, problem.limit, 0)[problem.leaf].sum(axis=0)
    width = int(problem.sizes[at.RESOURCES])
    part = problem.need[:, :width] / np.maximum(1, total[:width])
    found: Float = part.max(axis=1, initial=0.0)[rows] if len(rows) else np.zeros(0)
    return found


def order_of(problem: Problem) -> Int:
    """Items in the order of a first placement: of units that talk most, with partners, large, of much value."""
    size = sizes_of(problem)
    talk = np.zeros(len(size))
    placed_whole = problem.unit >= 0
    if placed_whole.any():
        sizes = np.diff(problem.unit_start)
        heavy = (problem.unit_rate + 1e-9) * sizes * sizes
        talk[placed_whole] = heavy[problem.unit[placed_whole]]
    partners = np.diff(problem.pair_start)
    value = problem.value[problem.workload]
    return np.lexsort((np.arange(len(size)), -value, -size, partners == 0, -talk)).astype(np.int64)
