"""How kernels are compiled: cached on disk, free of the interpreter's lock, without fast-math."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

__all__ = ["kernel", "part"]

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a loop; it releases the interpreter's lock, so that independent walks run on several cores."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def part(function: F) -> F:
    """Compile a part of a loop into its callers: a problem has too many arrays to hand over at each call."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
