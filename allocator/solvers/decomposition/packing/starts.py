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
    found = []
    for key in (relative.max(axis=1), relative @ weights):
        for best_fit in (False, True):
            found.append(_first_fit(problem, relative, key, best_fit))
            if budget.exhausted or len(found[-1]) <= lower:
                return sorted(found, key=len)
    for weighting in (weights, np.ones_like(weights)):
        packing = _bin_by_bin(problem, relative, weighting, budget)
        if packing is None:
            break
        found.append(packing)
    return sorted(found, key=len)


def _first_fit(problem: BinPacking, relative: Float, key: Float, best_fit: bool) -> Int64:
    """First fit, or best fit by the least relative room left, by falling key."""
    order = np.argsort(-key, kind="stable")
    residual = np.tile(problem.capacity, (64, 1))
    room = np.full(64, float(problem.num_resources))
    bins: list[dict[int, int]] = []
    for item in np.repeat(order, problem.demand[order]):
        opened = len(bins)
        if opened == len(residual):
            residual = np.concatenate([residual, np.tile(problem.capacity, (opened, 1))])
            room = np.concatenate([room, np.full(opened, float(problem.num_resources))])
        fitting = np.flatnonzero((residual[:opened] >= problem.sizes[item]).all(axis=1))
        if not len(fitting):
            target = opened
            bins.append({})
        else:
            target = int(fitting[np.argmin(room[fitting])] if best_fit else fitting[0])
        residual[target] -= problem.sizes[item]
        room[target] -= relative[item].sum()
        bins[target][int(item)] = bins[target].get(int(item), 0) + 1
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
