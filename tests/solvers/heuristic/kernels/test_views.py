"""Arrays looked up in tables: read, written, measured in compiled code; a build that asks every index."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from allocator.errors import InternalError
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.tables import Table, Tabled, floats, floats2, ints, ints3, marks, words

OUTSIDE = """
import numpy as np
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.tables import Tabled, ints2

@part
def entry(table, i, j):
    return ints2(table, 0)[i, j]

tabled = Tabled((np.arange(6, dtype=np.int64).reshape(2, 3),))
assert entry(tabled.table, 1, 2) == 5
for i, j in ((2, 0), (0, 3), (-1, 0)):
    try:
        entry(tabled.table, i, j)
    except IndexError:
        continue
    raise SystemExit(f"{i}, {j} is read")
"""


@part
def rearranged(table: Table) -> float:
    """Use every kind of array once."""
    first, cube, bits = ints(table, 0), ints3(table, 2), words(table, 4)
    grid = floats2(table, 1)
    for i in range(len(grid)):
        grid[i, 1] += first[i]
    first[0], first[2] = first[2], first[0]
    cube[1, 0, 2] = 7
    bits[0] = bits[0] >> np.uint64(63)
    total = 0.0
    for mark in range(len(marks(table, 3))):
        if marks(table, 3)[mark]:
            total += floats(table, 5)[mark]
    return total


def test_arrays_are_read_and_written_in_place() -> None:
    arrays = (
        np.array([3, 4, 5]),
        np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]]),
        np.zeros((2, 1, 3), dtype=np.int64),
        np.array([1, 0, 1], dtype=np.uint8),
        np.array([2**63], dtype=np.uint64),
        np.array([0.25, 8.0, 1.0]),
    )
    tabled = Tabled(arrays)
    assert rearranged(tabled.table) == 1.25
    assert arrays[0].tolist() == [5, 4, 3]
    assert arrays[1].tolist() == [[0.5, 4.5], [2.5, 7.5], [4.5, 10.5]]
    assert arrays[2].tolist() == [[[0, 0, 0]], [[0, 0, 7]]]
    assert arrays[4].tolist() == [1]


@pytest.mark.parametrize("array", [np.zeros((4, 4))[:, ::2], np.zeros(3, dtype=np.int32)])
def test_other_arrays_are_refused(array: np.ndarray) -> None:
    with pytest.raises(InternalError):
        Tabled((array,))


def test_every_index_is_asked_where_that_is_wanted() -> None:
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run([sys.executable, "-c", OUTSIDE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
