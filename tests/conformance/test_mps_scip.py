"""The exported MPS, solved by another solver (SCIP in the OR-Tools wheel), has the optimum of the brute force.

Cases that bend are solved by a series of programs: one file does not hold them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ortools.linear_solver.python import model_builder

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model.entities import Model
from allocator.solvers.milp.export import export_mps
from tests.conformance.cases import CASES, Case
from tests.oracle.brute_force import brute_force


def solve_mps(path: Path) -> float:
    """Optimal objective of an MPS file by SCIP."""
    model = model_builder.Model()
    assert model.import_from_mps_file(str(path))
    solver = model_builder.Solver("SCIP")
    assert solver.solver_is_supported()
    assert solver.solve(model) == model_builder.SolveStatus.OPTIMAL
    return float(solver.objective_value)


@pytest.mark.parametrize("case", [case for case in CASES if not case.bent], ids=lambda case: case.name)
def test_scip_finds_the_optimum_of_the_first_level(case: Case, tmp_path: Path) -> None:
    model = Model(case.name, "", case.levels[:1])
    instance = instance_from_dict(case.document)
    truth = brute_force(instance, model)
    path = tmp_path / "case.mps"
    export_mps(compile_instance(instance, model), path)
    # an MPS file is minimised: a maximised level stands in it negated
    true = float(truth.values[0]) * (-1 if case.levels[0].sense == "max" else 1)
    tolerance = 1e-5 if model.has_rate_goals else 1e-6  # continuous shares meet SCIP's own tolerance
    assert abs(solve_mps(path) - true) <= tolerance * max(1.0, abs(true))
