"""All patterns that a packing with a given number of bins may use, and the integer program over them.

If a packing with K bins exists, every bin filled up to a maximal pattern makes a cover with K of them. With prices u at
which no bin is worth more than P, and u times the demand worth V, each of those K patterns is worth at least
V - (K - 1) P: the others are worth at most P each. So the maximal patterns worth that much suffice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from allocator.solvers.bounds.patterns.generation import ROUNDING
from allocator.solvers.bounds.patterns.master import sparse_columns
from allocator.solvers.bounds.patterns.pricing import price
from allocator.solvers.bounds.patterns.problem import BinPacking, Int64
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.programs import Columns, Rows, minimise
from allocator.solvers.milp.highs import Stop

__all__ = ["Cover", "cover", "sufficient_patterns"]

MOST_PATTERNS = 150_000


@dataclass(frozen=True)
class Cover:
    """``packing`` int64[bins, I] or None; ``refuted``: the solver proved that these patterns need more bins."""

    packing: Int64 | None
    refuted: bool


def sufficient_patterns(
    problem: BinPacking, prices: Int64, worth: int, bins: int, budget: Budget, *, threads: int
) -> Int64 | None:
    """Maximal patterns int64[P, I] that suffice for any packing into ``bins`` bins; None: too many or out of time.

    ``prices``, ``worth``: no bin is worth more than ``worth`` at those prices.
    """
    total = sum(int(d) * int(u) for d, u in zip(problem.demand, prices, strict=True))
    least = total - (bins - 1) * worth
    found = price(problem, prices, least - 1, budget, threads=threads, maximal=True, most_patterns=MOST_PATTERNS)
    return found.patterns if found.complete else None


def cover(problem: BinPacking, patterns: Int64, bins: int, budget: Budget, *, threads: int, seed: int) -> Cover:
    """Look for a cover with ``bins`` of the patterns."""
    if not len(patterns) or (patterns.sum(axis=0) == 0).any():
        return Cover(None, refuted=True)
    begin, index, coefficient = sparse_columns(patterns)
    number = len(patterns)
    columns = Columns(
        np.concatenate([begin, [len(index)]]).astype(np.int32),
        index,
        coefficient,
        np.ones(number),
        np.full(number, float(problem.demand.max())),
    )
    rows = Rows(problem.demand.astype(float), np.full(problem.num_types, np.inf))
    outcome = minimise(columns, rows, budget=budget, threads=threads, seed=seed, target=bins + ROUNDING)
    packing = None
    if outcome.solution is not None:
        counts = np.rint(outcome.solution).astype(np.int64)
        packing = _without_surplus(np.repeat(patterns, counts, axis=0), problem.demand)
    if packing is not None and len(packing) <= bins:
        return Cover(packing, refuted=False)
    bound = outcome.bound
    refuted = outcome.stop is Stop.INFEASIBLE or (bound is not None and math.ceil(bound - ROUNDING) > bins)
    return Cover(packing, refuted)


def _without_surplus(patterns: Int64, demand: Int64) -> Int64 | None:
    """Take surplus units out of a cover and drop bins left empty; None: it does not cover."""
    left = demand.copy()
    packing: list[Int64] = []
    for pattern in patterns:
        taken = np.minimum(pattern, left)
        if taken.any():
            packing.append(taken)
            left -= taken
    return np.array(packing, dtype=np.int64) if not left.any() else None
