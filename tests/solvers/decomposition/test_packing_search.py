"""Packing against enumeration: packings are packings, bounds never exceed the optimum, the enumeration decides."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from allocator.solvers.bounds.patterns.problem import BinPacking, is_packing
from allocator.solvers.budget import Limits
from allocator.solvers.decomposition.packing.enumeration import cover, sufficient_patterns
from allocator.solvers.decomposition.packing.search import pack
from tests.solvers.bounds.tiny_packings import all_patterns, fewest_bins, random_packing


@pytest.mark.parametrize("seed", range(300))
def test_enumeration_decides_for_any_prices_with_items_worth_nothing(seed: int) -> None:
    """The sufficient patterns hold a packing into K bins exactly when there is one, whatever the prices.

    Items of price 0 once were left out of the patterns: others then seemed maximal or were missing, and K bins were
    "refuted" although they suffice.
    """
    rng = np.random.default_rng(seed)
    problem = random_packing(rng)
    optimum = fewest_bins(problem)
    prices = rng.integers(0, 1000, problem.num_types)
    prices[rng.integers(problem.num_types)] = 0
    prices[rng.random(problem.num_types) < 0.3] = 0
    worth = max(1, *(int(np.array(p) @ prices) for p in all_patterns(problem)))
    for bins in range(max(1, optimum - 2), optimum + 2):
        patterns = sufficient_patterns(problem, prices, worth, bins, Limits().start(), threads=1)
        assert patterns is not None
        found = cover(problem, patterns, bins, Limits().start(), threads=1, seed=0)
        assert found.refuted == (bins < optimum)
        if bins >= optimum:
            assert found.packing is not None
            assert is_packing(problem, found.packing)
            assert len(found.packing) <= bins


@pytest.mark.parametrize("seed", range(80))
@pytest.mark.parametrize("scale", [1, 10**15])
def test_packings_are_optimal(seed: int, scale: int) -> None:
    problem = random_packing(np.random.default_rng(seed), scale)
    values: list[int] = []
    bounds: list[int] = []
    bins = pack(problem, Limits().start(), seed=seed, on_value=values.append, on_bound=bounds.append)
    assert is_packing(problem, bins.packing)
    assert bins.value == bins.lower == fewest_bins(problem) == values[-1] == bounds[-1]
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("looks", [0, 1, 2, 5, 10, 20, 40, 80])
def test_a_stop_at_any_moment_leaves_a_packing_and_a_bound(looks: int) -> None:
    for seed in range(15):
        problem = random_packing(np.random.default_rng(seed))
        ticks = itertools.count()
        budget = Limits(looks + 0.5).start(clock=lambda ticks=ticks: float(next(ticks)))  # type: ignore[misc]
        bins = pack(problem, budget)
        assert is_packing(problem, bins.packing)
        assert bins.lower <= fewest_bins(problem) <= bins.value


def test_same_seed_same_packing() -> None:
    rng = np.random.default_rng(7)
    problem = BinPacking.of(rng.integers(20, 60, (30, 3)), np.ones(30, dtype=np.int64), np.full(3, 130))
    first, second = (pack(problem, Limits().start(), seed=3) for _ in range(2))
    assert first.packing.tolist() == second.packing.tolist()
    assert first.lower == second.lower
