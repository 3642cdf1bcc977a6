"""A quotient x^2 / s of two linear expressions that must stay within a third: tangents as rows of floats.

x^2 / s >= 2 t x - t^2 s for every t > 0. Owns the layout: expressions over the same columns, as arrays.
Knows no family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.milp.terms import Terms

__all__ = ["Quotient", "TangentRow", "quotient"]

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TangentRow:
    """Coefs . columns <= upper, the largest coefficient near 1."""

    columns: list[int]
    coefs: list[float]
    upper: float


@dataclass(frozen=True)
class Quotient:
    """x^2 / s <= cost. ``coefs``: float64[3, C] of x, s and cost over ``columns``; ``constants``: float64[3]."""

    columns: npt.NDArray[np.int64]
    coefs: Float
    constants: Float

    def tangent(self, t: float) -> TangentRow:
        """2 t x - t^2 s <= cost."""
        weights = np.array([2 * t, -t * t, -1.0])
        row = weights @ self.coefs
        size = 2.0 ** math.floor(math.log2(float(np.abs(row).max())))
        upper = -float(weights @ self.constants) / size
        return TangentRow(self.columns.tolist(), (row / size).tolist(), upper)

    def values(self, solution: Float) -> tuple[float, float, float]:
        """X, s and cost of a solution."""
        x, s, cost = (self.coefs @ solution[self.columns] + self.constants).tolist()
        return x, s, cost


def quotient(x: Terms, s: Terms, cost: Terms) -> Quotient:
    """Lay the three expressions out."""
    place: dict[int, int] = {}
    for terms in (x, s, cost):
        for variable in terms.variables:
            place.setdefault(variable.column, len(place))
    coefs = np.zeros((3, len(place)))
    for row, terms in zip(coefs, (x, s, cost), strict=True):
        for coef, variable in zip(terms.coefs, terms.variables, strict=True):
            row[place[variable.column]] += float(coef)
    constants = np.array([float(terms.constant) for terms in (x, s, cost)])
    return Quotient(np.array(list(place), dtype=np.int64), coefs, constants)
