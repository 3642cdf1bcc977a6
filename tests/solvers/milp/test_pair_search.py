"""The first plan: feasible, reproducible, near the optimum; nothing where other rules hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from allocator.compiled.compile import compile_instance
from allocator.model.families import Family
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.use import overdrawn
from allocator.solvers.milp import pair_search
from allocator.solvers.milp.pair_search import propose
from tests.oracle.brute_force import brute_force
from tests.solvers.milp.fabric.pair_instances import (
    COST_AND_TRAFFIC,
    PLACED_THEN_TRAFFIC,
    compiled,
    pair_instance,
)


def test_proposals_are_feasible_and_mostly_optimal_on_small_instances() -> None:
    optimal = 0
    for seed in range(10):
        instance = pair_instance(seed, matrix=seed % 2 == 0, room=1.4)
        arrays = compile_instance(instance, COST_AND_TRAFFIC)
        counts = propose(arrays, Limits(60).start(), seed=1)
        assert counts is not None
        assert not overdrawn(arrays, counts, {})
        assert all(arrays.eligible[option, node] for _, option, node in counts)
        value, best = level_values(arrays, Assignment(counts))[0], brute_force(instance, COST_AND_TRAFFIC).values[0]
        assert value >= Fraction(best)
        optimal += value == best
    assert optimal >= 8


def test_the_same_seed_gives_the_same_plan() -> None:
    arrays = compiled(5, COST_AND_TRAFFIC)
    first, second = (propose(arrays, Limits(600).start(), seed=7) for _ in range(2))
    assert first == second is not None


def test_nothing_is_proposed_where_members_may_stay_out() -> None:
    assert propose(compiled(1, PLACED_THEN_TRAFFIC), Limits(60).start(), seed=0) is None


def test_nothing_is_proposed_where_nothing_fits() -> None:
    assert propose(compiled(1, COST_AND_TRAFFIC, room=0.5), Limits(60).start(), seed=0) is None


def test_the_gains_of_one_step_are_those_of_recomputation() -> None:
    problem = pair_search._problem(compiled(3, COST_AND_TRAFFIC, matrix=True), COST_AND_TRAFFIC.levels[0])
    assert problem is not None
    rng = np.random.default_rng(0)
    num_members, num_nodes = problem.cost.shape
    for _ in range(20):
        placed = rng.integers(0, num_nodes, num_members)
        shifts, swaps = pair_search._gains(problem, placed)
        now = _priced(problem, placed)
        for i in range(num_members):
            for h in range(num_nodes):
                after = placed.copy()
                after[i] = h
                assert np.isclose(shifts[i, h], _priced(problem, after) - now, rtol=1e-9, atol=1e-6)
            for j in range(num_members):
                after = placed.copy()
                after[[i, j]] = placed[[j, i]]
                assert np.isclose(swaps[i, j], _priced(problem, after) - now, rtol=1e-9, atol=1e-6)


def _priced(problem: pair_search._Problem, placed: pair_search.Int) -> float:
    return problem.value(placed) + problem.penalty * float(np.maximum(0.0, problem.loads(placed) - 1.0).sum())


def test_ignored_capacity_is_no_limit() -> None:
    model = replace(COST_AND_TRAFFIC, ignore=frozenset({Family.CAPACITY}))
    arrays = compiled(2, model, room=0.6)
    counts = propose(arrays, Limits(60).start(), seed=0)
    assert counts is not None
    assert level_values(arrays, Assignment(counts))[0] >= Fraction(brute_force(arrays.instance, model).values[0])
