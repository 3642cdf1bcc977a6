"""Alike domains in one order: no plan is lost, and what is not alike is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.use import overdrawn
from allocator.solvers.milp.build import build
from allocator.solvers.milp.fabric.sibling_order import in_sibling_order
from allocator.solvers.milp.fabric.team_order import in_team_order, order_teams
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix, compile_matrix
from allocator.solvers.shares.optimum import optimal_shares
from tests.bench.fabrics import COLLAPSE, Shape, bent_table, singles, teams
from tests.oracle.brute_force import brute_force

MODEL = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
COST = Model("cost", "", (Level((Goal(GoalId.THROUGHPUT),)), Level((Goal(GoalId.COST),))))
Counts = dict[tuple[int, int, int], int]


def ordered(document: dict[str, Any], model: Model = MODEL) -> tuple[Formulation, Matrix, HighsRun, int]:
    """The formulation with its rows of order, and how many rows there were before."""
    form, objectives = build(compile_instance(instance_from_dict(document), model), Limits(None, None).start())
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    before = run.solver.getNumRow()
    order_teams(form, matrix, run)
    return form, matrix, run, before


@pytest.mark.parametrize("seed", range(4))
def test_every_plan_can_be_put_in_order_and_is_worth_the_same(seed: int) -> None:
    document = teams(seed, bent_table(seed), Shape(3, 2), 4, 2) if seed % 2 else singles(seed, COLLAPSE, Shape(2, 3), 7)
    form, matrix, run, before = ordered(document)
    compiled = form.compiled
    rng = np.random.default_rng(seed)
    rows = run.solver.getLp()
    tried = 0
    for _ in range(80):
        counts: Counts = {}
        for block in compiled.blocks:
            for _ in range(block.count):
                key = block.index, compiled.options_of(block.workload)[0], int(rng.integers(compiled.num_nodes))
                counts[key] = counts.get(key, 0) + 1
        if overdrawn(compiled, counts, {}):
            continue
        found = dict(in_team_order(form, counts))
        values = []
        for each in (counts, found):
            plan = optimal_shares(compiled, each)
            assert plan is not None
            values.append(level_values(compiled, plan.assignment)[0])
        assert float(values[1]) == pytest.approx(float(values[0]), rel=1e-9)
        assert sorted(found.values()) == sorted(counts.values())
        point = np.zeros(run.solver.getNumCol())
        for entry in form.entries:
            at = entry.block, entry.option, entry.node
            point[matrix.columns[id(entry.variable)]] = found.get(at, 0)
        activity = np.zeros(run.solver.getNumRow())
        for column in range(len(point)):
            start, end = rows.a_matrix_.start_[column], rows.a_matrix_.start_[column + 1]
            activity[rows.a_matrix_.index_[start:end]] += np.array(rows.a_matrix_.value_[start:end]) * point[column]
        assert (activity[before:] <= np.array(rows.row_upper_)[before:] + 1e-9).all()
        tried += 1
    assert tried >= 10


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_all_placements(seed: int) -> None:
    document = (
        teams(seed, bent_table(seed), Shape(2, 2), 2, 2) if seed % 2 else singles(seed, COLLAPSE, Shape(2, 2), 4, 5)
    )
    instance = instance_from_dict(document)
    truth = brute_force(instance, MODEL)
    result = solve(instance, MODEL, method="milp", time_limit=60, seed=0, threads=1)
    assert result.levels[0].value is not None
    assert float(result.levels[0].value) == pytest.approx(float(truth.values[0]), rel=1e-6)


def test_what_is_not_alike_has_no_order() -> None:
    document = singles(0, COLLAPSE, Shape(2, 2), 6, 5)
    _, _, run, before = ordered(document)
    assert run.solver.getNumRow() - before == 3  # two racks, and two nodes in each
    document["topology"][0]["children"][0] = dict(document["topology"][0]["children"][0], count=1)
    document["topology"][0]["children"].append(
        dict(document["topology"][0]["children"][0], name="other", capacity={"cpu": 9})
    )
    _, _, run, before = ordered(document)
    assert run.solver.getNumRow() - before == 1  # the racks
    _, _, run, before = ordered(document, COST)
    assert run.solver.getNumRow() == before, "a cost may name a node"


def test_rules_about_places_turn_it_off() -> None:
    document = singles(0, COLLAPSE, Shape(2, 2), 6, 5)
    document["workloads"][0]["placement"] = {"within": ["rack0"]}
    form, _, run, before = ordered(document)
    assert run.solver.getNumRow() - before == 2, "racks differ by who may stand there, nodes in a rack do not"
    assert in_sibling_order(form, {}) == {}
    document["workloads"][0]["placement"] = {"spread": [{"level": "rack", "at_least": 2}]}
    _, _, run, before = ordered(document)
    assert run.solver.getNumRow() == before


def test_a_current_plan_turns_it_off() -> None:
    document = singles(0, COLLAPSE, Shape(2, 2), 6, 5)
    document["current"] = [{"class": "c0", "node": "rack0/node0", "count": 1}]
    form, _, run, before = ordered(document)
    assert form.compiled.instance.current is not None
    assert run.solver.getNumRow() == before
