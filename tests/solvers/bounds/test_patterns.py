"""Pricing and generation of bin patterns against enumeration: patterns, upper bounds and bounds of the bins."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from allocator.solvers.bounds.patterns.generation import DUAL_SCALE, farley_bound, generate
from allocator.solvers.bounds.patterns.master import Master
from allocator.solvers.bounds.patterns.pricing import price
from allocator.solvers.bounds.patterns.problem import BinPacking, Int64, is_cover, is_packing
from allocator.solvers.bounds.patterns.simple import clique_bound, volume_bound, volume_prices
from allocator.solvers.budget import Limits
from tests.solvers.bounds.tiny_packings import all_patterns, fewest_bins, random_packing

SEEDS = range(120)


def values_with_zeros(rng: np.random.Generator, problem: BinPacking) -> Int64:
    values = rng.integers(0, DUAL_SCALE, problem.num_types)
    values[rng.random(problem.num_types) < 0.4] = 0
    return values


@pytest.mark.parametrize("seed", SEEDS)
def test_all_maximal_patterns_above_a_threshold_are_found(seed: int) -> None:
    """Types of value 0 included: they fill patterns up and decide which are maximal."""
    rng = np.random.default_rng(seed)
    problem = random_packing(rng)
    values = values_with_zeros(rng, problem)
    threshold = int(rng.integers(-5, DUAL_SCALE))
    everything = all_patterns(problem)
    known = set(everything)
    units = np.eye(problem.num_types, dtype=np.int64)
    expected = {
        p
        for p in everything
        if int(np.array(p) @ values) > threshold and not any(tuple(np.array(p) + unit) in known for unit in units)
    }
    found = price(problem, values, threshold, Limits().start(), maximal=True)
    assert found.complete
    assert {tuple(p) for p in found.patterns.tolist()} == expected
    assert len(found.patterns) == len(expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("beam", [None, 1])
def test_upper_bound_of_a_bin_holds_however_the_search_ends(seed: int, beam: int | None) -> None:
    rng = np.random.default_rng(seed)
    problem = random_packing(rng)
    values = values_with_zeros(rng, problem)
    best = max(int(np.array(p) @ values) for p in all_patterns(problem))
    found = price(problem, values, 0, Limits().start(), beam=beam)
    assert found.upper >= best
    if found.complete:
        assert found.upper == best
        assert not best or int(found.patterns[0] @ values) == best
    assert is_cover(BinPacking.of(problem.sizes, np.zeros_like(problem.demand), problem.capacity), found.patterns)
    cut = price(problem, values, 0, Limits().start(), beam=beam, most_patterns=1)
    assert cut.upper >= best
    stopped = Limits().start()
    stopped.interrupt()
    assert price(problem, values, 0, stopped, beam=beam).upper >= best


@pytest.mark.parametrize("seed", SEEDS)
def test_generation_bounds_the_bins_after_any_number_of_looks_at_the_clock(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_packing(rng)
    optimum = fewest_bins(problem)
    assert volume_bound(problem) <= optimum
    assert clique_bound(problem) <= optimum
    ticks = itertools.count()
    end = int(rng.integers(2, 40))
    for budget in (Limits().start(), Limits(float(end)).start(clock=lambda: float(next(ticks)))):
        root = generate(problem, Master(problem.demand, 1), budget, threads=1, known=None)
        assert root.lower <= optimum
        if root.complete:
            assert root.lower == -(-Fraction(root.value).limit_denominator(10_000) // 1)


def test_farley_bound_is_exact_where_floats_are_not() -> None:
    demand, prices = np.array([3, 1]), np.array([1 << 62, 1])
    assert farley_bound(demand, prices, 1 << 62) == 4
    assert farley_bound(demand[:1], prices[:1], 1 << 62) == 3


def test_no_bin_is_worth_more_than_one_at_volume_prices() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        problem = random_packing(rng)
        prices = volume_prices(problem, DUAL_SCALE)
        assert max(int(np.array(p) @ prices) for p in all_patterns(problem)) <= DUAL_SCALE


def test_amounts_as_large_as_int64_are_compared_exactly() -> None:
    """Two halves fill a bin; one unit more than a half does not fit beside a half."""
    half = 1 << 61
    exact = BinPacking.of(np.array([[half]]), np.array([4]), np.array([2 * half]))
    above = BinPacking.of(np.array([[half + 1]]), np.array([4]), np.array([2 * half]))
    for problem, bins in ((exact, 2), (above, 4)):
        root = generate(problem, Master(problem.demand, 1), Limits().start(), threads=1, known=None)
        assert max(root.lower, clique_bound(problem)) == bins
    assert is_packing(exact, np.array([[2], [2]]))
    assert not is_packing(above, np.array([[2], [2]]))
