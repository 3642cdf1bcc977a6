"""CP-SAT and SCIP on an MPS file, through OR-Tools' MathOpt. Knows nothing of where the file comes from.

CP-SAT knows whole numbers only: MathOpt rounds continuous columns to a grid. Its plans count (they are judged like all
others), but what it proves of such a program holds on the grid alone, so no bound is taken from it.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from ortools.math_opt.io.python import mps_converter
from ortools.math_opt.python import mathopt

from allocator.benchmark.external.program import Program, ProgramAnswer
from allocator.errors import InternalError
from allocator.plan.result import Status

__all__ = ["solve_by_cpsat", "solve_by_scip"]

_REASON = mathopt.TerminationReason
_STATUS = {
    _REASON.OPTIMAL: Status.OPTIMAL,
    _REASON.INFEASIBLE: Status.INFEASIBLE,
    _REASON.INFEASIBLE_OR_UNBOUNDED: Status.INFEASIBLE,  # every objective of ours is bounded
    _REASON.FEASIBLE: Status.UNKNOWN,
    _REASON.NO_SOLUTION_FOUND: Status.UNKNOWN,
    _REASON.IMPRECISE: Status.UNKNOWN,
    _REASON.NUMERICAL_ERROR: Status.UNKNOWN,
    _REASON.OTHER_ERROR: Status.UNKNOWN,
}


def solve_by_cpsat(program: Program) -> ProgramAnswer:
    """CP-SAT with default parameters but for limits, gap, seed and workers."""
    return _solve(program, mathopt.SolverType.CP_SAT, "CP-SAT")


def solve_by_scip(program: Program) -> ProgramAnswer:
    """SCIP with default parameters but for limits, gap, seed and threads."""
    return _solve(program, mathopt.SolverType.GSCIP, "SCIP")


def _solve(program: Program, solver: Any, name: str) -> ProgramAnswer:
    text = program.path.read_text(encoding="utf-8")
    model = mathopt.Model.from_model_proto(mps_converter.mps_to_model_proto(text))
    parameters = mathopt.SolveParameters(
        time_limit=timedelta(seconds=program.seconds),
        relative_gap_tolerance=program.gap,
        absolute_gap_tolerance=0.0,
        random_seed=program.seed,
        threads=program.threads,
    )

    def progress(data: Any) -> Any:
        bound = data.mip_stats.dual_bound if data.mip_stats is not None else None
        value = None
        if data.solution is not None:
            value = model.objective.offset + sum(
                term.coefficient * data.solution.get(term.variable, 0.0) for term in model.objective.linear_terms()
            )
        program.tell(value, bound)
        return mathopt.CallbackResult(terminate=program.stopped())

    result = mathopt.solve(
        model,
        solver,
        params=parameters,
        callback_reg=mathopt.CallbackRegistration(events={mathopt.Event.MIP_SOLUTION}),
        cb=progress,
    )
    reason = result.termination.reason
    if reason not in _STATUS:
        raise InternalError(f"{name} ended with a status that is not known here: {reason}")
    values = None
    if result.has_primal_feasible_solution():
        values = {variable.name: value for variable, value in result.variable_values().items()}
    status = _STATUS[reason]
    bound = result.termination.objective_bounds.dual_bound
    detail = f"{name}: {reason.name.replace('_', ' ').lower()}"
    if solver is mathopt.SolverType.CP_SAT and not all(variable.integer for variable in model.variables()):
        status, bound = Status.UNKNOWN, math.inf
        detail += ", continuous columns rounded to a grid, so nothing is proven"
    size = {"variables": model.get_num_variables(), "constraints": model.get_num_linear_constraints()}
    return ProgramAnswer(status, values, bound if math.isfinite(bound) else None, detail, size)
