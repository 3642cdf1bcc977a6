"""The Pyomo model says what the matrix says: solved by Pyomo's own interface it has the same optimum."""

from __future__ import annotations

from fractions import Fraction

import pyomo.environ as pyo
import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model.entities import Model
from allocator.solvers.budget import Limits
from allocator.solvers.milp.build import build
from allocator.solvers.milp.pyomo_model import pyomo_model
from tests.builders import build as build_instance
from tests.builders import model, node, workload
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import same
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import random_case


def optimum(instance: object, goals: Model, level: int = 0) -> float | None:
    """Optimal objective by Pyomo's interface to HiGHS; None when infeasible."""
    form, objectives = build(compile_instance(instance, goals), Limits().start())  # type: ignore[arg-type]
    made = pyomo_model(form, objectives, level)
    solver = pyo.SolverFactory("appsi_highs")
    solver.highs_options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0}
    ended = solver.solve(made, load_solutions=False).solver.termination_condition
    if ended == pyo.TerminationCondition.infeasible:
        return None
    assert ended == pyo.TerminationCondition.optimal
    solver.load_vars()
    return float(pyo.value(made.objective))


def test_pyomos_optimum_of_the_first_level_is_that_of_trying_everything() -> None:
    compared = infeasible = 0
    for seed in range(90):
        case = random_case(seed)
        if "gib" in case.features:
            continue  # large numbers need the exact cuts of the method itself
        instance = instance_from_dict(case.document)
        goals = Model("first", "", case.model.levels[:1])
        try:
            truth = brute_force(instance, goals)
        except TooMany:
            continue
        found = optimum(instance, goals)
        if not truth.feasible:
            assert found is None, f"seed {seed}"
            infeasible += 1
            continue
        assert found is not None, f"seed {seed}"
        value = truth.values[0]
        assert same(found, float(value) if isinstance(value, Fraction) else value), f"seed {seed}"
        compared += 1
    assert compared > 40
    assert infeasible > 5


def test_rows_are_named_by_family_and_every_level_can_be_the_objective() -> None:
    nodes = [node("n", capacity={"cpu": 4}), node("m", capacity={"cpu": 4})]
    costs = {"n": Fraction(1), "m": Fraction(2)}
    instance = build_instance(*nodes, workloads=[workload("a", 3, {"cpu": 2}, cost=costs)])
    goals = model("cost", "nodes")
    form, objectives = build(compile_instance(instance, goals), Limits().start())
    made = pyomo_model(form, objectives)
    assert {c.local_name for c in made.component_objects(pyo.Constraint)} == {"assignment", "capacity", "nodes"}
    assert len(made.x) == len(form.variables)
    assert optimum(instance, goals, 0) == pytest.approx(2 * 1 + 1 * 2)
    assert optimum(instance, goals, 1) == pytest.approx(2)
