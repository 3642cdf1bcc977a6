"""Exactness beyond floating point: a rounded solution that breaks a row of large numbers is cut off by a valid row.

Needed only where numbers exceed what the solver's tolerance resolves (bytes on large machines).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import highspy
import numpy as np
import numpy.typing as npt

from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.terms import Number, Terms, Variable

__all__ = ["broken_rows", "forbid"]


def broken_rows(form: Formulation, solution: npt.NDArray[np.float64]) -> list[Terms]:
    """Rows of large numbers that the solution, rounded to integers, breaks by exact arithmetic."""
    found = []
    for terms, upper in form.exact:
        total: Number = Fraction(0)
        for coef, variable in zip(terms.coefs, terms.variables, strict=True):
            total += coef * round(float(solution[variable.column]))
        if total > upper:
            found.append(terms)
    return found


def forbid(solver: HighsRun, rows: Iterable[Terms], solution: npt.NDArray[np.float64]) -> None:
    """Cut off every point that is at least as bad as the solution in each column of a broken row.

    With v the value of a column: "n >= v" for positive, "n <= v" for negative coefficients cannot all hold, for the row
    would be broken at least as much. One indicator a column (the column itself or its complement where it is binary).
    """
    for terms in rows:
        row: dict[int, float] = {}
        complements = 0
        for coef, variable in zip(terms.coefs, terms.variables, strict=True):
            value = round(float(solution[variable.column]))
            upper = round(variable.upper or 0)
            if (coef > 0 and value == 0) or (coef < 0 and value == upper):
                continue  # always as bad
            if upper == 1:
                row[variable.column] = 1.0 if coef > 0 else -1.0
                complements += coef < 0
            else:
                row[_indicator(solver, variable, value, upper, above=coef > 0)] = 1.0
        solver.add_row(-highspy.kHighsInf, len(row) - 1.0 - complements, row)


def _indicator(solver: HighsRun, variable: Variable, value: int, upper: int, *, above: bool) -> int:
    """A new binary that must be 1 where n >= value (above) or n <= value."""
    made: int = solver.solver.getNumCol()
    solver.solver.addCol(0.0, 0.0, 1.0, 0, [], [])
    solver.solver.changeColIntegrality(made, highspy.HighsVarType.kInteger)
    if above:  # n <= value - 1 + (upper - value + 1) z
        solver.add_row(-highspy.kHighsInf, value - 1.0, {variable.column: 1.0, made: -(upper - value + 1.0)})
    else:  # n >= value + 1 - (value + 1) z
        solver.add_row(value + 1.0, highspy.kHighsInf, {variable.column: 1.0, made: value + 1.0})
    return made
