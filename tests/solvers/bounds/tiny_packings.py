"""Packings small enough to enumerate, and their optimum without any of the package's algorithms."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from allocator.solvers.bounds.patterns.problem import BinPacking

__all__ = ["all_patterns", "fewest_bins", "random_packing"]

Pattern = tuple[int, ...]


def random_packing(rng: np.random.Generator, scale: int = 1) -> BinPacking:
    """Up to five types of up to three units in up to three resources; sizes 0 occur, items without any size do not."""
    num_types, num_resources = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    capacity = rng.integers(20, 40, num_resources)
    sizes = rng.integers(0, 21, (num_types, num_resources))
    sizes[rng.random(sizes.shape) < 0.2] = 0
    sizes[~sizes.any(axis=1), 0] = 7
    sizes = np.unique(sizes, axis=0)
    demand = rng.integers(1, 4, len(sizes))
    return BinPacking.of(sizes * scale, demand, capacity * scale)


def all_patterns(problem: BinPacking) -> list[Pattern]:
    """Every content of a bin within the demand, the empty one included."""
    capacity = problem.capacity.tolist()
    sizes = problem.sizes.tolist()
    return [
        counts
        for counts in itertools.product(*(range(units + 1) for units in problem.demand.tolist()))
        if all(
            sum(count * size[r] for count, size in zip(counts, sizes, strict=True)) <= room
            for r, room in enumerate(capacity)
        )
    ]


def fewest_bins(problem: BinPacking) -> int:
    """Optimum by recursion over what is left."""
    patterns = [p for p in all_patterns(problem) if any(p)]

    @functools.cache
    def bins(left: Pattern) -> int:
        if not any(left):
            return 0
        first = next(i for i, units in enumerate(left) if units)
        return 1 + min(
            bins(tuple(a - b for a, b in zip(left, p, strict=True)))
            for p in patterns
            if p[first] and all(b <= a for a, b in zip(left, p, strict=True))
        )

    return bins(tuple(problem.demand.tolist()))
