"""Bounds of the number of bins that need no search: volumes and items that exclude each other."""

from __future__ import annotations

import numpy as np

from allocator.solvers.bounds.patterns.problem import BinPacking, Int64

__all__ = ["clique_bound", "volume_bound", "volume_prices"]

MAX_CLIQUE_TYPES = 3000


def volume_bound(problem: BinPacking) -> int:
    """Largest over the resources of ceil(demanded volume / capacity)."""
    best = 0
    for r, capacity in enumerate(problem.capacity):
        if capacity > 0:
            volume = sum(int(d) * int(s) for d, s in zip(problem.demand, problem.sizes[:, r], strict=True))
            best = max(best, -(-volume // int(capacity)))
    return best


def volume_prices(problem: BinPacking, scale: int) -> Int64:
    """int64[I]: relative size in the resource of the largest volume; no bin is worth more than ``scale``."""
    volume = problem.demand @ (problem.relative / 1.0)
    prices: Int64 = problem.relative[:, int(np.argmax(volume))] * scale // (1 << 20)
    return prices


def clique_bound(problem: BinPacking) -> int:
    """Units no two of which fit one bin, collected greedily by falling size and by the number of such partners."""
    if problem.num_types > MAX_CLIQUE_TYPES:
        return 0
    clash = np.zeros((problem.num_types, problem.num_types), dtype=np.bool_)
    for r, capacity in enumerate(problem.capacity):
        # size > capacity - other: the sum itself might not fit int64
        clash |= problem.sizes[:, None, r] > capacity - problem.sizes[None, :, r]
    relative = problem.relative / 1.0
    best = 0
    for key in (relative.max(axis=1), relative.sum(axis=1), clash @ problem.demand):
        candidates = np.ones(problem.num_types, dtype=np.bool_)
        count = 0
        for item in np.argsort(-key, kind="stable"):
            if candidates[item]:
                count += int(problem.demand[item]) if clash[item, item] else 1
                candidates &= clash[item]
        best = max(best, count)
    return best
