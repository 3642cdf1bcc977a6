"""Exact sums of many fractions, in integers. Owns the common denominators; knows nothing of what is added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

__all__ = ["common_denominator", "exact_sum", "unreduced_sum"]

LONGEST = 4096
"""Bits of a common denominator that is still worth using."""


def common_denominator(values: Iterable[Fraction]) -> int | None:
    """Least number whose product with each value is whole; None when it is very large."""
    found = 1
    for denominator in {value.denominator for value in values}:
        found = lcm(found, denominator)
        if found.bit_length() > LONGEST:
            return None
    return found


def exact_sum(terms: Iterable[tuple[Fraction, int]]) -> Fraction:
    """Sum of value times count."""
    return Fraction(*unreduced_sum(terms))


def unreduced_sum(terms: Iterable[tuple[Fraction, int]]) -> tuple[int, int]:
    """Sum of value times count as numerator and denominator, which may have common factors.

    Terms of one denominator are added as integers, the sums pair by pair without reducing in between: adding up
    thousands of unlike fractions one after the other would reduce ever longer numbers each time.
    """
    numerators: dict[int, int] = {}
    for value, count in terms:
        denominator = value.denominator
        numerators[denominator] = numerators.get(denominator, 0) + value.numerator * count
    sums = [(numerators[denominator], denominator) for denominator in sorted(numerators)]
    while len(sums) > 1:
        sums = [_added(sums[index : index + 2]) for index in range(0, len(sums), 2)]
    return sums[0] if sums else (0, 1)


def _added(pair: Sequence[tuple[int, int]]) -> tuple[int, int]:
    if len(pair) == 1:
        return pair[0]
    (a, b), (c, d) = pair
    return a * d + c * b, b * d
