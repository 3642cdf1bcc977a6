"""The tangents of n^2/s stay below it, within the error proven on the grid, and are as few as the formula says."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import ceil, log, sqrt

import pytest

from allocator.errors import ArgumentError
from allocator.linearization import geometric_tangents, grid_error, ln_100, share_range


def test_the_error_of_ratio_six_fifths_is_one_in_121() -> None:
    """((rho - 1) / (rho + 1))^2 = (0.2 / 2.2)^2 = 1/121, that is 0.826 %."""
    grid = [Fraction(6, 5) ** k for k in range(12)]
    error, where = grid_error(grid, grid[0], grid[-1])
    assert error == Fraction(1, 121)
    assert any(where == (a + b) / 2 for a, b in pairwise(grid))


@pytest.mark.parametrize("tolerance", [Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)])
def test_random_shares_keep_the_proven_error(tolerance: Fraction) -> None:
    source = random.Random(8)
    for _ in range(15):
        low, high = share_range(Fraction(source.randint(2, 400)), Fraction(1, source.randint(1, 500)))
        cost = geometric_tangents(low, high, tolerance)
        assert cost.max_error <= tolerance
        assert cost.certificate.num_pieces == len(cost.grid)
        for _ in range(15):
            n = Fraction(source.randint(1, 50))
            s = n / (low + (high - low) * Fraction(source.getrandbits(20), 2**20))
            true = n * n / s
            assert 0 <= true - cost.at(n, s) <= cost.max_error * true


def test_fewest_tangents_by_the_ratio_each_serves() -> None:
    for tolerance in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)):
        root = sqrt(tolerance)
        ratio = (1 + root) / (1 - root)
        cost = geometric_tangents(Fraction(1, 192), Fraction(500), tolerance)
        assert len(cost.grid) == ceil(log(192 * 500) / log(ratio))


def test_below_everywhere_and_useless_outside_the_grid() -> None:
    cost = geometric_tangents(Fraction(1), Fraction(10), Fraction(1, 100))
    n = Fraction(1)
    outside = n / 10**6  # n / s far beyond the grid
    assert cost.at(n, outside) < n * n / outside / 1000
    assert cost.at(Fraction(0), Fraction(5)) <= 0


def test_rows_carry_the_weight() -> None:
    cost = geometric_tangents(Fraction(1), Fraction(10), Fraction(1, 100))
    weight = 3 * ln_100().lower
    n, s = Fraction(4), Fraction(2)
    assert max(a * n - b * s for a, b in cost.rows(weight)) == weight * cost.at(n, s)
    with pytest.raises(ArgumentError, match="at least 0"):
        cost.rows(Fraction(-1))


def test_ranges_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ArgumentError, match="slack"):
        share_range(Fraction(1), Fraction(1))
    with pytest.raises(ArgumentError, match="low < high"):
        geometric_tangents(Fraction(1), Fraction(1), Fraction(1, 10))


def test_a_tolerance_below_what_floats_tell_apart_is_refused() -> None:
    with pytest.raises(ArgumentError, match="floats tell apart"):
        geometric_tangents(Fraction(1), Fraction(2), Fraction(1, 10**36))
