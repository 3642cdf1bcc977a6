"""Sizes of demands from nominal ones, such that their sum is the load asked for. Owns what ``load`` means."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["scaled", "whole_amounts"]


def scaled(nominal: Sequence[float], counts: Sequence[int], capacity: float) -> list[int]:
    """Whole amounts in proportion to nominal ones; count times amount sums to just below the capacity.

    Parameters
    ----------
    nominal : wanted size of one member by class, in any unit.
    counts : members by class.
    capacity : what the sum may reach, in the unit of the result.

    Returns
    -------
    list of int
        At least 1 where the nominal size is positive. The sum misses the capacity by less than the smallest class with
        a size has members, unless a size had to be raised to 1.
    """
    total = sum(size * count for size, count in zip(nominal, counts, strict=True))
    factor = capacity / total if total else 0.0
    return whole_amounts([size * factor for size in nominal], counts, capacity)


def whole_amounts(exact: Sequence[float], counts: Sequence[float], capacity: float) -> list[int]:
    """Round sizes down, then up again class by class, larger classes first, while the sum stays within capacity."""
    amounts = [max(1, int(size)) if size > 0 else 0 for size in exact]
    left = capacity - sum(amount * count for amount, count in zip(amounts, counts, strict=True))
    for index in sorted(range(len(amounts)), key=lambda i: -counts[i]):
        if amounts[index] and 0 < counts[index] <= left:
            amounts[index] += 1
            left -= counts[index]
    return amounts
