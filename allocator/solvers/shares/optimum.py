"""Best shares and granted fractions for a fixed placement, level by level, rounded to exact integers; and prices.

Nothing to do when the model has no rate goal: then every share is its floor (equation 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import highspy
import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.errors import InternalError, MethodRefused
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.use import Counts
from allocator.solvers.shares.goals import fixed_value, level_terms
from allocator.solvers.shares.placement_program import PlacementProgram, placement_program
from allocator.solvers.shares.rounding import rounded

__all__ = ["SharePlan", "optimal_shares"]

INFEASIBLE = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
SAFE = 1e-10  # relative allowance for keeping a level that floating point reached


@dataclass(frozen=True)
class SharePlan:
    """``assignment`` with exact shares; ``prices[domain, resource]``: first share level's value per base unit more."""

    assignment: Assignment
    prices: Mapping[tuple[int, str], float] = field(default_factory=dict)


def optimal_shares(compiled: Compiled, counts: Counts, reached: Sequence[Fraction] = ()) -> SharePlan | None:
    """Shares of a placement that are best for the model's levels in order.

    ``reached``: values of the first levels reached before; they are kept within their slack, the rest is optimised.
    None when no shares keep them (or none fit at all).
    """
    plain = Assignment(dict(counts))
    if not compiled.model.has_rate_goals or not counts:
        return SharePlan(plain)
    made = placement_program(compiled, counts)
    if not made.program.upper:
        return SharePlan(plain)  # nobody can use more than the floors
    objectives = [level_terms(made, level) for level in compiled.model.levels]
    solver = made.program.solver()
    solution: npt.NDArray[np.float64] | None = None
    prices: dict[tuple[int, str], float] = {}
    for index, (level, terms) in enumerate(zip(compiled.model.levels, objectives, strict=True)):
        if not terms:
            continue
        minimise = level.sense == "min"
        largest = max(abs(coef) for coef in terms.values())
        if index < len(reached):
            fixed = fixed_value(compiled, plain, level)
            kept = float(reached[index] - fixed) / largest
            allowance = float(level.slack.allowance(reached[index])) / largest
        else:
            solution, value, first = _optimise(made, solver, terms, minimise=minimise)
            if solution is None:
                return None
            prices = prices or first
            kept, allowance = value / largest, 0.0
        allowance += SAFE * max(1.0, abs(kept))
        columns = np.fromiter(terms, dtype=np.int32, count=len(terms))
        values = np.fromiter(terms.values(), dtype=np.float64, count=len(terms)) / largest
        low, high = (-np.inf, kept + allowance) if minimise else (kept - allowance, np.inf)
        solver.addRow(low, high, len(terms), columns, values)
    if solution is None:
        solution, _, _ = _optimise(made, solver, {}, minimise=True)
        if solution is None:
            return None
    shares, theta = rounded(made, solution)
    return SharePlan(Assignment(dict(counts), shares, theta), prices)


def _optimise(
    made: PlacementProgram, solver: highspy.Highs, terms: Mapping[int, float], *, minimise: bool
) -> tuple[npt.NDArray[np.float64] | None, float, dict[tuple[int, str], float]]:
    num_columns = solver.getNumCol()
    cost = np.zeros(num_columns)
    for column, coef in terms.items():
        cost[column] = coef
    solver.changeColsCost(num_columns, np.arange(num_columns, dtype=np.int32), cost)
    solver.changeObjectiveSense(highspy.ObjSense.kMinimize if minimise else highspy.ObjSense.kMaximize)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        solver.clearSolver()  # once more from nothing, before believing it
        solver.setOptionValue("presolve", "off")
        solver.run()
    status = solver.getModelStatus()
    if status in INFEASIBLE:
        return None, 0.0, {}
    if status == highspy.HighsModelStatus.kUnbounded:
        raise MethodRefused("the sizes of the numbers of this instance are too far apart to share by floating point")
    if status != highspy.HighsModelStatus.kOptimal:
        raise InternalError(f"HiGHS ends the share program with {status}")
    found = solver.getSolution()
    prices: dict[tuple[int, str], float] = {}
    for row, dual in zip(made.program.rows, found.row_dual, strict=False):
        if row.names is not None:
            # both directions of a link have one bandwidth: one more unit relaxes both
            prices[row.names] = prices.get(row.names, 0.0) + abs(dual) / row.unit
    return np.array(found.col_value), float(solver.getInfo().objective_function_value), prices
