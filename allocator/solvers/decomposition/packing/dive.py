"""Rounding the pattern program up step by step, with new patterns for what is left. Knows no exact search."""

from __future__ import annotations

import math

import numpy as np

from allocator.solvers.bounds.patterns.generation import ROUNDING, Root, generate
from allocator.solvers.bounds.patterns.master import Master
from allocator.solvers.bounds.patterns.problem import BinPacking, Float, Int64
from allocator.solvers.budget import Budget

__all__ = ["dive"]

BEAM = 1000
SHARE_OF_BINS = 0.05  # that are fixed at once, at most


def dive(
    problem: BinPacking,
    pool: Master,
    root: Root,
    target: int,
    *,
    budget: Budget,
    rng: np.random.Generator | None,
    threads: int,
) -> Int64 | None:
    """A packing int64[bins, I] with at most ``target`` bins, or None.

    Parameters
    ----------
    pool : patterns to begin with; those found on the way are added to it.
    root : the pool's master solution, from which the first patterns are fixed.
    rng : disturbs the order in which patterns are fixed; None: the largest first.
    """
    left = problem.demand.copy()
    chosen: list[Int64] = []
    patterns = pool.patterns
    use, value, full = root.use, root.value, patterns
    while True:
        if budget.exhausted or not len(use) or len(chosen) + math.ceil(value - ROUNDING) > target:
            return None
        for pick in _picks(use, max(1, int(SHARE_OF_BINS * (target - len(chosen)))), rng):
            taken = np.minimum(full[pick], left)
            if taken.any():
                chosen.append(taken)
                left -= taken
        if not left.any():
            return np.array(chosen, dtype=np.int64) if len(chosen) <= target else None
        active = np.flatnonzero(left)
        rest = problem.restricted(active, left[active])
        master = Master(rest.demand, threads)
        clipped = np.minimum(patterns[:, active], rest.demand)
        master.add(np.unique(clipped[clipped.sum(axis=1) > 1], axis=0))
        again = generate(rest, master, budget, threads=threads, exact=False, beam=BEAM)
        use, value = again.use, again.value
        full = np.zeros((len(master), problem.num_types), dtype=np.int64)
        full[:, active] = master.patterns
        pool.add(full)


def _picks(use: Float, most: int, rng: np.random.Generator | None) -> list[int]:
    """Patterns to fix, with repetition: whole uses, and the largest fractions; at least one."""
    whole = np.floor(use + ROUNDING).astype(np.int64)
    fraction: Float = use - whole
    if rng is not None:
        fraction = np.where(fraction > ROUNDING, fraction * rng.uniform(0.6, 1.0, len(fraction)), 0.0)
    picks: list[int] = np.repeat(np.arange(len(whole)), whole).tolist()
    ranked = np.argsort(-fraction, kind="stable")
    large = [int(p) for p in ranked[:most] if fraction[p] > (0.5 if picks else ROUNDING)]
    if not picks and not large:
        return [int(np.argmax(use))]
    return picks + large
