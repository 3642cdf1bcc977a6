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
    """``terms`` equal the goal's value at an optimum; ``step``: the value is always a multiple of it, None: unknown."""

    terms: Terms
    step: Fraction | None


def greatest_common_divisor(numbers: Iterable[Number]) -> Fraction:
    """Largest g such that all numbers are multiples of it; 0 when all are 0."""
    found = Fraction(0)
    for number in numbers:
        value = Fraction(number)
        denominator = math.lcm(found.denominator, value.denominator)
        found = Fraction(math.gcd(int(found * denominator), int(value * denominator)), denominator)
    return found
