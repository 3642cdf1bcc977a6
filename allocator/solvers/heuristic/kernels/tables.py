"""Arrays handed to compiled code by address.

A problem has over a hundred arrays. Handed over as a tuple each call would copy a kilobyte and each compilation take
minutes; instead kernels get one table per owner, a row of (address, three lengths) for every array, and look up the
arrays that they use. Who makes a table keeps its arrays alive and in place: ``Tabled``.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.extending import intrinsic

from allocator.errors import InternalError

__all__ = ["Table", "Tabled", "floats", "floats2", "ints", "ints2", "ints3", "marks", "marks2", "words"]

WIDTHS = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint8), np.dtype(np.uint64))
Table = npt.NDArray[np.int64]


class Tabled:
    """Arrays in order and the table of their addresses, int64[number, 4]."""

    def __init__(self, arrays: tuple[npt.NDArray[Any], ...]) -> None:
        self.arrays = arrays
        self.table: Table = np.zeros((len(arrays), 4), dtype=np.int64)
        for row, array in zip(self.table, arrays, strict=True):
            if not array.flags.c_contiguous or array.dtype not in WIDTHS:
                raise InternalError(f"arrays of kernels are contiguous and of few types, not {array.dtype}")
            row[0] = array.ctypes.data
            row[1 : 1 + array.ndim] = array.shape


def _address_to_pointer(_context, address):  # type: ignore[no-untyped-def]  # numba calls it with its own types
    """The address as a pointer."""
    del address

    def generate(_, builder, __, arguments):  # type: ignore[no-untyped-def]
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


_pointer: Any = intrinsic(_address_to_pointer)
_carray: Any = numba.carray  # type: ignore[attr-defined]  # exported, but not by name


def _lookup(function: Any) -> Any:
    return numba.njit(nogil=True, forceinline=True)(function)


@_lookup
def ints(table: Table, k: int) -> Any:
    """int64[.] number k of a table."""
    return _carray(_pointer(table[k, 0]), (table[k, 1],), np.int64)


@_lookup
def ints2(table: Table, k: int) -> Any:
    """int64[., .]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1], table[k, 2]), np.int64)


@_lookup
def ints3(table: Table, k: int) -> Any:
    """int64[., ., .]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1], table[k, 2], table[k, 3]), np.int64)


@_lookup
def floats(table: Table, k: int) -> Any:
    """float64[.]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1],), np.float64)


@_lookup
def floats2(table: Table, k: int) -> Any:
    """float64[., .]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1], table[k, 2]), np.float64)


@_lookup
def marks(table: Table, k: int) -> Any:
    """uint8[.]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1],), np.uint8)


@_lookup
def marks2(table: Table, k: int) -> Any:
    """uint8[., .]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1], table[k, 2]), np.uint8)


@_lookup
def words(table: Table, k: int) -> Any:
    """uint64[.]."""
    return _carray(_pointer(table[k, 0]), (table[k, 1],), np.uint64)
