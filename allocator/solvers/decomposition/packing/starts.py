"""Packings by the usual constructive rules: first fit, best fit and dot products. Knows no bound."""

from __future__ import annotations

import numpy as np

from allocator.solvers.bounds.patterns.problem import SIZE_SCALE, BinPacking, Float, Int64
from allocator.solvers.budget import Budget

__all__ = ["constructed"]


def constructed(problem: BinPacking, budget: Budget, lower: int) -> list[Int64]:
    """Packings int64[bins, I], fewest bins first; at least one. Stops at ``lower`` bins or when the time ends."""
    relative = problem.relative / SIZE_SCALE
    load = problem.demand @ relative
    weights: Float = load / max(float(load.max()), 1e-12)
    found: list[Int64] = []
    largest, weighted = relative.max(axis=1), relative @ weights
    as_listed = -np.arange(problem.num_types, dtype=np.float64)
    for key, best_fit in ((largest, False), (largest, True), (weighted, False), (weighted, True), (as_listed, False)):
        packing = _first_fit(problem, relative, key, budget, best_fit=best_fit)
        if packing is not None:
            found.append(packing)
        if packing is None or len(packing) <= lower:
            return sorted(found, key=len) or [_next_fit(problem)]
    for weighting in (weights, np.ones_like(weights)):
        greedy = _bin_by_bin(problem, relative, weighting, budget)
        if greedy is None:
            break
        found.append(greedy)
    return sorted(found, key=len)


def _first_fit(problem: BinPacking, relative: Float, key: Float, budget: Budget, *, best_fit: bool) -> Int64 | None:
    """First fit, or best fit by the least relative room left, by falling key; None: out of time.

    A bin that is chosen takes as many units of the type as fit.
    """
    residual = np.tile(problem.capacity, (64, 1))
    room = np.full(64, float(problem.num_resources))
    bins: list[dict[int, int]] = []
    for item in np.argsort(-key, kind="stable").tolist():
        size = problem.sizes[item]
        needed = size > 0
        units = int(problem.demand[item])
        while units:
            if budget.exhausted:
                return None
            opened = len(bins)
            if opened == len(residual):
                residual = np.concatenate([residual, np.tile(problem.capacity, (opened, 1))])
                room = np.concatenate([room, np.full(opened, float(problem.num_resources))])
            fitting = np.flatnonzero((residual[:opened] >= size).all(axis=1))
            if not len(fitting):
                target = opened
                bins.append({})
            else:
                target = int(fitting[np.argmin(room[fitting])] if best_fit else fitting[0])
            taken = min(units, int((residual[target, needed] // size[needed]).min()))
            residual[target] -= taken * size
            room[target] -= taken * relative[item].sum()
            bins[target][item] = bins[target].get(item, 0) + taken
            units -= taken
    return _written_out(problem, bins)


def _next_fit(problem: BinPacking) -> Int64:
    """Fill the last bin, then open another: takes no time to speak of."""
    bins: list[dict[int, int]] = []
    residual = np.zeros_like(problem.capacity)
    for item, (size, demand) in enumerate(zip(problem.sizes, problem.demand.tolist(), strict=True)):
        needed = size > 0
        units = demand
        while units:
            taken = min(units, int((residual[needed] // size[needed]).min()))
            if taken:
                bins[-1][item] = taken
                residual = residual - taken * size
                units -= taken
            else:
                bins.append({})
                residual = problem.capacity.copy()
    return _written_out(problem, bins)


def _written_out(problem: BinPacking, bins: list[dict[int, int]]) -> Int64:
    """int64[bins, I]."""
    patterns = np.zeros((len(bins), problem.num_types), dtype=np.int64)
    for number, content in enumerate(bins):
        patterns[number, list(content)] = list(content.values())
    return patterns


def _bin_by_bin(problem: BinPacking, relative: Float, weighting: Float, budget: Budget) -> Int64 | None:
    """Fill one bin after another with the item of the largest dot product with the room left; None: out of time.

    Source: Panigrahy, Talwar, Uyeda and Wieder (2011).
    """
    left = problem.demand.copy()
    patterns: list[Int64] = []
    opening = relative @ weighting
    scale = np.maximum(problem.capacity, 1)
    while left.any():
        if budget.exhausted:
            return None
        residual = problem.capacity.copy()
        pattern = np.zeros(problem.num_types, dtype=np.int64)
        score = opening
        while True:
            fitting = (left > 0) & (problem.sizes <= residual).all(axis=1)
            if not fitting.any():
                break
            item = int(np.argmax(np.where(fitting, score, -1.0)))
            pattern[item] += 1
            left[item] -= 1
            residual = residual - problem.sizes[item]
            score = relative @ (weighting * (residual / scale))
        patterns.append(pattern)
    return np.array(patterns, dtype=np.int64)
