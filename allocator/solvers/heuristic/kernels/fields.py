"""A part of a problem: some of its fields, and the flags that say what must be kept up to date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Part", "lists"]

Int = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Fields of a problem by name, and bits of ``indices``."""

    fields: Mapping[str, object]
    flags: int = 0


def lists(entries: Iterable[tuple[int, int]], number: int) -> tuple[Int, Int]:
    """CSR start and values of (owner, value) pairs, in order of the owners."""
    pairs = np.array(sorted(entries), dtype=np.int64).reshape(-1, 2)
    start = np.searchsorted(pairs[:, 0], np.arange(number + 1)).astype(np.int64)
    return start, np.ascontiguousarray(pairs[:, 1])
