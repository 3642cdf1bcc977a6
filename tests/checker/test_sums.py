"""Sums in integers equal sums of fractions one by one."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from allocator.checker.sums import common_denominator, exact_sum


@pytest.mark.parametrize("seed", range(20))
def test_a_sum_is_that_of_the_fractions_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    terms = [
        (Fraction(rng.randint(-50, 50), rng.randint(1, 40)), rng.randint(-3, 3)) for _ in range(rng.randint(0, 30))
    ]
    assert exact_sum(terms) == sum((value * count for value, count in terms), Fraction(0))


def test_the_common_denominator_is_the_least() -> None:
    assert common_denominator([Fraction(1, 4), Fraction(5, 6), Fraction(2)]) == 12
    assert common_denominator([]) == 1


def test_a_very_large_common_denominator_is_not_used() -> None:
    primes = [n for n in range(2, 5000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert common_denominator(Fraction(1, prime) for prime in primes) is None
