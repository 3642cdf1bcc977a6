"""Rows for rates cut off no plan, and bring the relaxation near to the optimum."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import highspy
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
from allocator.solvers.milp.build import build
from allocator.solvers.milp.fabric.envelopes import add_envelopes
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import compile_matrix
from allocator.solvers.shares.optimum import optimal_shares
from tests.bench.fabrics import COLLAPSE, Shape, bent_table, singles, teams

MODEL = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
SMALL = Shape(2, 2)
CURVES: list[Any] = [COLLAPSE, {"curve": "fair"}, {"curve": "knee", "p": 3}]


def compiled_of(document: dict[str, Any]) -> Compiled:
    return compile_instance(instance_from_dict(document), MODEL)


def spread_pairs(seed: int) -> dict[str, Any]:
    """Beside pairs an entry that has load of its own, so that states do not count every flow; one node is another."""
    document = singles(seed, bent_table(seed), SMALL, 6, 4)
    document["flows"].append({"from": "c0", "to": "c1", "pattern": "spread", "rate": "700 Mbit/s"})
    return document


def documents() -> list[Any]:
    found = []
    for seed in range(3):
        found.append(pytest.param(singles(seed, bent_table(seed), SMALL, 6, 7), id=f"singles-{seed}"))
        found.append(pytest.param(singles(seed, CURVES[seed], SMALL, 6, 4), id=f"few-flows-{seed}"))
        found.append(pytest.param(teams(seed, bent_table(seed), SMALL, 3, 3), id=f"teams-{seed}"))
        found.append(pytest.param(spread_pairs(seed), id=f"spread-{seed}"))
    return found


@pytest.mark.parametrize("document", documents())
def test_no_row_cuts_off_a_plan(document: dict[str, Any]) -> None:
    compiled = compiled_of(document)
    form, objectives = build(compiled, Limits(None, None).start())
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    before = run.solver.getNumRow()
    add_envelopes(form, matrix, run, objectives[0], 0, budget=Limits(None, None).start())
    assert run.solver.getNumRow() > before
    solver, num = run.solver, run.solver.getNumCol()
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    solver.changeColsCost(num, np.arange(num, dtype=np.int32), matrix.objectives[0])
    rng = np.random.default_rng(0)
    tried = 0
    for _ in range(60):
        nodes = rng.integers(0, compiled.num_nodes, sum(block.count for block in compiled.blocks))
        counts: dict[tuple[int, int, int], int] = {}
        owners = [block for block in compiled.blocks for _ in range(block.count)]
        for block, node in zip(owners, nodes.tolist(), strict=True):
            key = block.index, compiled.options_of(block.workload)[0], node
            counts[key] = counts.get(key, 0) + 1
        if overdrawn(compiled, counts, {}):
            continue
        plan = optimal_shares(compiled, counts)
        assert plan is not None
        (true,) = level_values(compiled, plan.assignment)
        for entry in form.entries:
            here = float(counts.get((entry.block, entry.option, entry.node), 0))
            solver.changeColBounds(matrix.columns[id(entry.variable)], here, here)
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        found = solver.getInfo().objective_function_value * float(objectives[0].scale)
        assert found >= float(true) * (1 - 1e-6)
        tried += 1
        if tried == 12:
            break
    assert tried >= 3


def root_bounds(document: dict[str, Any]) -> tuple[float, float]:
    """Values of the relaxation without and with the rows."""
    form, objectives = build(compiled_of(document), Limits(None, None).start())
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    values = []
    for _ in range(2):
        relaxed = run.relaxation()
        num = relaxed.solver.getNumCol()
        relaxed.solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        relaxed.solver.changeColsCost(num, np.arange(num, dtype=np.int32), matrix.objectives[0])
        relaxed.solver.run()
        values.append(relaxed.solver.getInfo().objective_function_value * float(objectives[0].scale))
        if len(values) < 2:
            bound = add_envelopes(form, matrix, run, objectives[0], 0, budget=Limits(None, None).start())
    assert bound is not None
    assert float(bound) * float(objectives[0].scale) >= values[1] * (1 - 1e-6) - 1e-6
    return values[0], values[1]


def test_the_relaxation_knows_what_nodes_can_hold() -> None:
    """Three members of three cores each for two nodes of four: 8 cores of work, of which a node alone does 3 or 4."""
    leaf = {"level": "node", "name": "n", "count": 2, "kind": "k", "capacity": {"cpu": 4}}
    work = {"rate": "3/s", "cpu": "1 s", "parallel": 4}
    classes = [{"class": name, "count": 1, "requests": {"cpu": 1}, "work": work} for name in "abc"]
    flow = {"from": "a", "to": "b", "pattern": "pair", "rate": "1 Gbit/s"}
    plain, tight = root_bounds({"format": "allocator/v1", "topology": [leaf], "workloads": classes, "flows": [flow]})
    assert plain == pytest.approx(8)
    assert tight == pytest.approx(7, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_relaxation_comes_near_to_the_best_known(seed: int) -> None:
    plain, tight = root_bounds(singles(seed, bent_table(seed), Shape(4, 4), 24, 30))
    assert tight < plain * Fraction(97, 100)
