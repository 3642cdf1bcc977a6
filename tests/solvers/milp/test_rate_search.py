"""A first plan for throughput: it fits, is worth at least what was promised, and better than what chance finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.use import overdrawn
from allocator.solvers.milp.rate_search import _problem, propose_rates
from allocator.solvers.shares.optimum import optimal_shares
from tests.bench.fabrics import COLLAPSE, Shape, bent_table, singles, teams

MODEL = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
Counts = dict[tuple[int, int, int], int]


def compiled_of(document: dict[str, Any]) -> Compiled:
    return compile_instance(instance_from_dict(document), MODEL)


def counts_of(compiled: Compiled, placed: list[int]) -> Counts:
    counts: Counts = {}
    owners = [block for block in compiled.blocks for _ in range(block.count)]
    for block, node in zip(owners, placed, strict=True):
        key = block.index, compiled.options_of(block.workload)[0], node
        counts[key] = counts.get(key, 0) + 1
    return counts


def value(compiled: Compiled, counts: Counts) -> float:
    plan = optimal_shares(compiled, counts)
    assert plan is not None
    return float(level_values(compiled, plan.assignment)[0])


CASES = [
    *(pytest.param(singles(seed, bent_table(seed), Shape(2, 3), 9, 10), id=f"singles-{seed}") for seed in range(3)),
    *(pytest.param(teams(seed, COLLAPSE, Shape(2, 3), 3, 3), id=f"teams-{seed}") for seed in range(3)),
    pytest.param(singles(7, {"curve": "knee", "p": 3}, Shape(2, 3), 9, 10), id="knee"),
]


@pytest.mark.parametrize("document", CASES)
def test_simple_sharing_promises_no_more_than_the_best_shares_give(document: dict[str, Any]) -> None:
    compiled = compiled_of(document)
    problem = _problem(compiled)
    rng = np.random.default_rng(1)
    placed = rng.integers(0, compiled.num_nodes, (40, len(problem.block)))
    promised = problem.values(placed)
    assert (promised > 0).any()
    for nodes, worth in zip(placed.tolist(), promised.tolist(), strict=True):
        counts = counts_of(compiled, nodes)
        if worth < 0:
            assert overdrawn(compiled, counts, {})
        else:
            assert not overdrawn(compiled, counts, {})
            assert worth <= value(compiled, counts) * (1 + 1e-6)


@pytest.mark.parametrize("document", CASES)
def test_the_plan_fits_and_beats_what_chance_finds(document: dict[str, Any]) -> None:
    compiled = compiled_of(document)
    counts = propose_rates(compiled, Limits(20, None).start(), 0)
    assert counts is not None
    assert not overdrawn(compiled, counts, {})
    members = sum(block.count for block in compiled.blocks)
    assert sum(counts.values()) == members
    rng = np.random.default_rng(2)
    others = [counts_of(compiled, rng.integers(0, compiled.num_nodes, members).tolist()) for _ in range(60)]
    fitting = [value(compiled, each) for each in others if not overdrawn(compiled, each, {})][:8]
    assert value(compiled, counts) > max(fitting)


def test_other_rules_are_left_to_others() -> None:
    document = singles(0, COLLAPSE, Shape(2, 2), 4, 4)
    document["workloads"][0]["placement"] = {"spread": [{"level": "rack", "at_least": 2}]}
    assert propose_rates(compiled_of(document), Limits(5, None).start(), 0) is None
