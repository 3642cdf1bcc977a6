"""Arrays handed to compiled code by address.

A problem has over a hundred arrays. Handed over as a tuple each call would copy a kilobyte and each compilation take
minutes; instead kernels get the address of one table per owner, a row of (address, three lengths) for every array, and
look up the arrays that they use. Who makes a table keeps it and its arrays alive and in place: ``Tabled``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types

from allocator.errors import InternalError
from allocator.solvers.heuristic.kernels.views import looked_up

__all__ = ["Table", "Tabled", "floats", "floats2", "ints", "ints2", "ints3", "marks", "marks2", "words"]

WIDTHS = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint8), np.dtype(np.uint64))
Table = int  # the address of one

# each: array number k of a table
ints: Any = looked_up(types.int64, 1)
ints2: Any = looked_up(types.int64, 2)
ints3: Any = looked_up(types.int64, 3)
floats: Any = looked_up(types.float64, 1)
floats2: Any = looked_up(types.float64, 2)
marks: Any = looked_up(types.uint8, 1)
marks2: Any = looked_up(types.uint8, 2)
words: Any = looked_up(types.uint64, 1)


class Tabled:
    """Arrays in order and the address of the table of their addresses, int64[number, 4]."""

    def __init__(self, arrays: tuple[npt.NDArray[Any], ...]) -> None:
        self.arrays = arrays
        self._rows = np.zeros((len(arrays), 4), dtype=np.int64)
        for row, array in zip(self._rows, arrays, strict=True):
            if not array.flags.c_contiguous or array.dtype not in WIDTHS:
                raise InternalError(f"arrays of kernels are contiguous and of few types, not {array.dtype}")
            row[0] = array.ctypes.data
            row[1 : 1 + array.ndim] = array.shape
        self.table: Table = self._rows.ctypes.data
