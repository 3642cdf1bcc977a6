"""Axes: from numbers to places, and which round numbers to write beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

__all__ = ["Scale", "linear", "logarithmic"]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps [low, high] to [start, end] in user units, linear or logarithmic; ``ticks`` are inside [low, high]."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Where the value stands; values outside stand at the edge."""
        inside = min(max(value, self.low), self.high)
        if self.log:
            part = (log10(inside) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            part = (inside - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def linear(values: Sequence[float], start: float, end: float, *, most: int = 5, zero: bool = False) -> Scale:
    """Linear scale over the finite values, widened to round numbers; ``zero``: it begins at 0 where all are >= 0."""
    finite = [value for value in values if isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if zero and low >= 0:
        low = 0.0
    if high - low <= max(abs(low), abs(high)) * 1e-9:
        high = low + (abs(low) * 0.1 or 1.0)
    step = _round_step((high - low) / most)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    ticks = tuple(float(f"{index * step:.12g}") for index in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def logarithmic(values: Sequence[float], start: float, end: float, *, most: int = 6) -> Scale:
    """Logarithmic scale over the positive finite values, widened to powers of ten (or 1, 2, 5 within a decade)."""
    positive = [value for value in values if isfinite(value) and value > 0]
    low, high = (min(positive), max(positive)) if positive else (1.0, 10.0)
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    if last <= first:
        last = first + 1
    decades = last - first
    stride = max(1, ceil(decades / most))
    ticks = [10.0**power for power in range(first, last + 1, stride)]
    if decades == 1:
        ticks = [10.0**first * factor for factor in (1, 2, 5, 10)]
    return Scale(10.0**first, 10.0**last, start, end, tuple(ticks), log=True)


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5, 10 times a power of ten that is at least that."""
    power = 10.0 ** floor(log10(rough))
    for factor in (1, 2, 2.5, 5):
        if factor * power >= rough * (1 - 1e-9):
            return factor * power
    return 10 * power
