"""Instance to Pyomo model: calls every family and goal in a fixed order, and compiles the matrix.

Owns the tables of families and goals. Must not know HiGHS.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId, sense_of
from allocator.solvers.budget import Budget
from allocator.solvers.milp.assignment import add_assignment
from allocator.solvers.milp.capacity import add_capacity
from allocator.solvers.milp.fabric.grants import add_grants
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.gang import add_gangs
from allocator.solvers.milp.goals import placement, rates, traffic, use
from allocator.solvers.milp.goals.base import GoalTerms, greatest_common_divisor
from allocator.solvers.milp.groups import add_groups
from allocator.solvers.milp.moves import add_move_limit
from allocator.solvers.milp.power import add_power_caps
from allocator.solvers.milp.rates import add_rates
from allocator.solvers.milp.reserve import add_reserve
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import add_shares

__all__ = ["FAMILIES", "GOALS", "LevelObjective", "Matrix", "build", "compile_matrix"]

# order matters: shares before capacity, rates before grants
FAMILIES: tuple[Callable[[Formulation], None], ...] = (
    add_assignment,
    add_shares,
    add_capacity,
    add_power_caps,
    add_groups,
    add_gangs,
    add_move_limit,
    add_reserve,
    add_rates,
    add_grants,
)

GOALS: dict[GoalId, Callable[[Formulation, Goal], GoalTerms]] = {
    GoalId.PLACED: placement.placed,
    GoalId.COST: placement.cost,
    GoalId.NODES: placement.nodes,
    GoalId.MOVES: placement.moves,
    GoalId.PEAK: use.peak,
    GoalId.OVERLOAD: use.overload,
    GoalId.BALANCE: use.balance,
    GoalId.POWER: use.power,
    GoalId.THROUGHPUT: rates.throughput,
    GoalId.FAIRNESS: rates.fairness,
    GoalId.TRAFFIC: traffic.traffic,
    GoalId.CONGESTION: traffic.congestion,
}


@dataclass(frozen=True)
class LevelObjective:
    """Objective of one level: value = scale * (coefs . x + constant), minimised when ``minimise``.

    ``step``: the value is a multiple of it (then ``scale`` = step and the scaled objective is integral), or None.
    """

    level: Level
    minimise: bool
    scale: Fraction
    step: Fraction | None
    constant: Fraction
    terms: Terms


def build(compiled: Compiled, budget: Budget) -> tuple[Formulation, list[LevelObjective]]:
    """State the whole model in Pyomo; one objective a level. Raises ``BudgetExhausted``."""
    collecting = gc.isenabled()
    gc.disable()  # millions of small long-lived objects: the collector would only re-read them
    try:
        form = Formulation(compiled, budget)
        for add in FAMILIES:
            add(form)
            budget.check()
        return form, [_objective(form, level) for level in compiled.model.levels]
    finally:
        if collecting:
            gc.enable()


def _objective(form: Formulation, level: Level) -> LevelObjective:
    terms = Terms()
    steps: list[Fraction | None] = []
    single = len(level.goals) == 1
    for goal in level.goals:
        made = GOALS[goal.id](form, goal)
        sign = 1 if single or sense_of(goal.id) == "min" else -1
        terms.extend(made.terms, sign * goal.weight)
        steps.append(None if made.step is None else made.step * abs(goal.weight))
    step = None if None in steps else greatest_common_divisor(s for s in steps if s is not None)
    terms = terms.merged()
    if step:
        # the constant may shift the lattice of values: fold it in
        step = greatest_common_divisor([step, Fraction(terms.constant)])
    scale = step or _magnitude(terms)
    return LevelObjective(level, level.sense == "min", scale, step or None, Fraction(terms.constant), terms)


def _magnitude(terms: Terms) -> Fraction:
    """A power of two near the largest coefficient, so that the scaled objective has coefficients near 1."""
    largest = max((abs(float(coef)) for coef in terms.coefs), default=1.0) or 1.0
    return Fraction(2) ** int(np.floor(np.log2(largest)))


@dataclass(frozen=True)
class Matrix:
    """Sparse standard form: rows lower <= A x <= upper, columns with bounds; ``objectives``: float64[L, columns].

    ``columns`` maps id(Pyomo variable) to column; ``rows`` are the Pyomo constraints, by row.
    """

    indptr: npt.NDArray[np.int32]  # by column
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    row_lower: npt.NDArray[np.float64]
    row_upper: npt.NDArray[np.float64]
    column_lower: npt.NDArray[np.float64]
    column_upper: npt.NDArray[np.float64]
    integral: npt.NDArray[np.bool_]
    objectives: npt.NDArray[np.float64]
    columns: dict[int, int]
    rows: tuple[Any, ...] = ()


def compile_matrix(form: Formulation, objectives: list[LevelObjective]) -> Matrix:
    """Compile the Pyomo model with Pyomo's own standard form compiler."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _compile(form, objectives)
    finally:
        if collecting:
            gc.enable()


def _compile(form: Formulation, objectives: list[LevelObjective]) -> Matrix:
    model = form.model
    first = objectives[0] if objectives else None
    model.objective = pyo.Objective(
        expr=0.0 if first is None or not first.terms else _expression(first),
        sense=pyo.minimize if first is None or first.minimise else pyo.maximize,
    )
    form.budget.check()
    repn = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
    columns = {id(variable): index for index, variable in enumerate(repn.columns)}
    variables: list[Any] = list(repn.columns)
    for variable in _all_variables(form, objectives):
        if id(variable) not in columns:  # in no row and not in the first objective
            columns[id(variable)] = len(variables)
            variables.append(variable)
    rhs = np.asarray(repn.rhs, dtype=np.float64)
    sense = np.array([kind for _, kind in repn.rows], dtype=np.int8)  # 0: equal, 1: upper, -1: lower
    matrix = repn.A.tocsc()
    matrix.resize((len(rhs), len(variables)))
    dense = np.zeros((len(objectives), len(variables)))
    for row, objective in zip(dense, objectives, strict=True):
        for coef, variable in zip(objective.terms.coefs, objective.terms.variables, strict=True):
            row[columns[id(variable)]] = float(Fraction(coef) / objective.scale)
    return Matrix(
        indptr=matrix.indptr.astype(np.int32),
        indices=matrix.indices.astype(np.int32),
        values=matrix.data.astype(np.float64),
        row_lower=np.where(sense <= 0, rhs, -np.inf),
        row_upper=np.where(sense >= 0, rhs, np.inf),
        column_lower=np.array([v.lb if v.lb is not None else -np.inf for v in variables], dtype=np.float64),
        column_upper=np.array([v.ub if v.ub is not None else np.inf for v in variables], dtype=np.float64),
        integral=np.array([v.is_integer() or v.is_binary() for v in variables], dtype=np.bool_),
        objectives=dense,
        columns=columns,
        rows=tuple(constraint for constraint, _ in repn.rows),
    )


def _expression(objective: LevelObjective) -> LinearExpression:
    coefs = [float(Fraction(coef) / objective.scale) for coef in objective.terms.coefs]
    return LinearExpression(linear_coefs=coefs, linear_vars=objective.terms.variables)


def _all_variables(form: Formulation, objectives: list[LevelObjective]) -> Iterator[Any]:
    yield from (entry.variable for entry in form.entries)
    for objective in objectives:
        yield from objective.terms.variables
