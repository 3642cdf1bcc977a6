"""Vector bin packing in integers: item types with demands, identical bins. Knows no instance and no solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["SIZE_SCALE", "BinPacking", "Float", "Int64", "is_cover", "is_packing"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

SIZE_SCALE = 1 << 20  # a whole bin in ``BinPacking.relative``


@dataclass(frozen=True)
class BinPacking:
    """Item types and identical bins. Every item fits an empty bin; no item has only zero sizes.

    Attributes
    ----------
    sizes : int64[I, R], at least 0.
    demand : int64[I], units of each type, at least 1.
    capacity : int64[R].
    relative : int64[I, R], floor(size * SIZE_SCALE / capacity): a relaxation of the sizes, every product of which with
        a price fits int64.
    """

    sizes: Int64
    demand: Int64
    capacity: Int64
    relative: Int64

    @staticmethod
    def of(sizes: Int64, demand: Int64, capacity: Int64) -> BinPacking:
        """The problem with its relative sizes, computed in Python integers: amounts may be as large as int64."""
        bins = [max(int(amount), 1) for amount in capacity]
        relative = [[int(s) * SIZE_SCALE // c for s, c in zip(row, bins, strict=True)] for row in sizes]
        return BinPacking(sizes, demand, capacity, np.array(relative, dtype=np.int64).reshape(sizes.shape))

    @property
    def num_types(self) -> int:
        """I."""
        return len(self.demand)

    @property
    def num_resources(self) -> int:
        """R."""
        return len(self.capacity)

    def restricted(self, types: Int64, demand: Int64) -> BinPacking:
        """The same bins with some of the types and other demands for them."""
        return BinPacking(self.sizes[types], demand, self.capacity, self.relative[types])


def fits(problem: BinPacking, patterns: Int64) -> bool:
    """Whether every row of int[P, I] is the content of one bin."""
    if (patterns < 0).any():
        return False
    for pattern in patterns:
        types = np.flatnonzero(pattern)
        for r, capacity in enumerate(problem.capacity):
            if sum(int(pattern[i]) * int(problem.sizes[i, r]) for i in types) > capacity:
                return False
    return True


def is_packing(problem: BinPacking, patterns: Int64) -> bool:
    """Whether the rows of int[P, I] are bins that hold exactly the demand."""
    return bool((patterns.sum(axis=0) == problem.demand).all()) and fits(problem, patterns)


def is_cover(problem: BinPacking, patterns: Int64) -> bool:
    """Whether the rows of int[P, I] are bins that hold at least the demand."""
    return bool((patterns.sum(axis=0) >= problem.demand).all()) and fits(problem, patterns)
