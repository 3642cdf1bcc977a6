"""What a goal hands to the level that holds it. Knows no goal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from allocator.solvers.milp.terms import Number, Terms

__all__ = ["GoalTerms", "greatest_common_divisor"]


@dataclass(frozen=True)
class GoalTerms:
    """``terms`` equal the goal's value at an optimum; ``step``: the value is always a multiple of it, None: unknown.

    ``span``: size of the numbers that cancel in the rows that define the value, in the value's own units; 0 where the
    value is a plain sum of columns. A solver's tolerance is relative to it.
    """

    terms: Terms
    step: Fraction | None
    span: Fraction = Fraction(0)


def greatest_common_divisor(numbers: Iterable[Number]) -> Fraction:
    """Largest g such that all numbers are multiples of it; 0 when all are 0."""
    found = Fraction(0)
    for number in numbers:
        value = Fraction(number)
        denominator = math.lcm(found.denominator, value.denominator)
        found = Fraction(math.gcd(int(found * denominator), int(value * denominator)), denominator)
    return found
