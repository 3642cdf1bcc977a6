"""The spots (block, option, node) of a placement as arrays. Owns nothing else; every evaluation starts from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.use import Counts

__all__ = ["SpotTable", "spot_table"]

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SpotTable:
    """Occupied spots in the order of ``counts``; all arrays are int64[S], row i = ``keys[i]``."""

    keys: tuple[tuple[int, int, int], ...]
    block: Int64
    option: Int64
    node: Int64
    count: Int64
    kind: Int64
    workload: Int64


def spot_table(compiled: Compiled, counts: Counts) -> SpotTable:
    """Spots that hold at least one member."""
    keys = tuple(key for key, count in counts.items() if count)
    rows = np.array(keys, dtype=np.int64).reshape(-1, 3)
    block, option, node = rows[:, 0], rows[:, 1], rows[:, 2]
    count = np.array([counts[key] for key in keys], dtype=np.int64)
    return SpotTable(keys, block, option, node, count, compiled.node_kind[node], compiled.option_workload[option])
