"""Random numbers of a walk: xorshift64* (Vigna 2016), its state in the search state, so that runs repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from allocator.solvers.heuristic.kernels.jit import part

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["below", "uniform"]


@part
def draw(random: npt.NDArray[np.uint64]) -> np.uint64:
    """The next 64 bits."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return x * np.uint64(2685821657736338717)


@part
def uniform(random: npt.NDArray[np.uint64]) -> float:
    """A number in [0, 1)."""
    return np.float64(draw(random) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@part
def below(random: npt.NDArray[np.uint64], number: int) -> int:
    """An integer in [0, number), number < 2^31."""
    return np.int64(((draw(random) >> np.uint64(33)) * np.uint64(number)) >> np.uint64(31))  # type: ignore[return-value]  # the compiler's integer
