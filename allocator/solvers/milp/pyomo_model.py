"""The exact model as a Pyomo model, for any other solver that Pyomo knows. Nothing else here uses Pyomo."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from allocator.solvers.milp.build import LevelObjective
from allocator.solvers.milp.formulation import Formulation

__all__ = ["pyomo_model"]


def pyomo_model(form: Formulation, objectives: list[LevelObjective], level: int = 0) -> Any:
    """A ``ConcreteModel``: ``x[column]``, one ``Constraint`` container a family, the objective of one level.

    The objective is in the level's own units, its constant included.
    """
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(len(form.variables)))
    for variable in form.variables:
        made = model.x[variable.column]
        made.domain = pyo.Integers if variable.integral else pyo.Reals
        made.setlb(variable.lower)
        made.setub(variable.upper)
    for row in form.rows:
        if not hasattr(model, row.part):
            setattr(model, row.part, pyo.ConstraintList())
        body = LinearExpression(linear_coefs=row.coefs, linear_vars=[model.x[column] for column in row.columns])
        upper = None if row.upper == float("inf") else row.upper
        getattr(model, row.part).add((row.lower, body, upper))
    chosen = objectives[level]
    coefs = [float(Fraction(coef)) for coef in chosen.terms.coefs]
    used = [model.x[variable.column] for variable in chosen.terms.variables]
    expression = LinearExpression(constant=float(chosen.constant), linear_coefs=coefs, linear_vars=used)
    model.objective = pyo.Objective(expr=expression, sense=pyo.minimize if chosen.minimise else pyo.maximize)
    return model
