"""The exact model as sparse arrays. Knows no family and no solver.

The rows were stated once, with exact coefficients, in ``Formulation``; this only lays them out. Why not through Pyomo:
docs/decisions/design.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.errors import MethodRefused
from allocator.solvers.milp.build import LevelObjective
from allocator.solvers.milp.formulation import Formulation

__all__ = ["Matrix", "compile_matrix"]

# HiGHS: options large_matrix_value, small_matrix_value and, with room for sums, infinite_bound
LARGEST_VALUE = 1e15
SMALLEST_VALUE = 1e-9
LARGEST_LIMIT = 1e19


@dataclass(frozen=True)
class Matrix:
    """Rows lower <= A x <= upper, by column; columns with bounds; ``objectives``: float64[L, columns].

    ``columns`` maps id(variable) to column. ``row_parts``: the family of every row.
    """

    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    row_lower: npt.NDArray[np.float64]
    row_upper: npt.NDArray[np.float64]
    column_lower: npt.NDArray[np.float64]
    column_upper: npt.NDArray[np.float64]
    integral: npt.NDArray[np.bool_]
    objectives: npt.NDArray[np.float64]
    columns: dict[int, int]
    row_parts: tuple[str, ...] = ()


def compile_matrix(form: Formulation, objectives: list[LevelObjective]) -> Matrix:
    """Lay out the stated rows and objectives.

    Raises
    ------
    MethodRefused
        Numbers are beyond what floating point can tell apart.
    """
    num_columns = len(form.variables)
    lengths = np.fromiter((len(row.columns) for row in form.rows), dtype=np.int64, count=len(form.rows))
    total = int(lengths.sum())
    columns = np.fromiter((c for row in form.rows for c in row.columns), dtype=np.int32, count=total)
    values = np.fromiter((v for row in form.rows for v in row.coefs), dtype=np.float64, count=total)
    rows = np.repeat(np.arange(len(form.rows), dtype=np.int32), lengths)
    by_column = np.argsort(columns, kind="stable")
    indptr = np.zeros(num_columns + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=num_columns), out=indptr[1:])
    dense = np.zeros((len(objectives), num_columns))
    for level, objective in zip(dense, objectives, strict=True):
        for coef, variable in zip(objective.terms.coefs, objective.terms.variables, strict=True):
            level[variable.column] = float(Fraction(coef) / objective.scale)
    matrix = Matrix(
        indptr=indptr,
        indices=rows[by_column],
        values=values[by_column],
        row_lower=np.array([-np.inf if row.lower is None else row.lower for row in form.rows], dtype=np.float64),
        row_upper=np.array([row.upper for row in form.rows], dtype=np.float64),
        column_lower=np.array([variable.lower for variable in form.variables], dtype=np.float64),
        column_upper=np.array([np.inf if v.upper is None else v.upper for v in form.variables], dtype=np.float64),
        integral=np.array([variable.integral for variable in form.variables], dtype=np.bool_),
        objectives=dense,
        columns={id(variable): variable.column for variable in form.variables},
        row_parts=tuple(row.part for row in form.rows),
    )
    _require_range(matrix)
    return matrix


def _require_range(matrix: Matrix) -> None:
    """Raise ``MethodRefused`` for numbers that a solver in floating point would refuse, drop or take for infinity."""
    sizes = np.abs(matrix.values[matrix.values != 0])
    costs = np.abs(matrix.objectives).max(initial=0.0)  # they become rows when a level is kept
    parts = (matrix.row_lower, matrix.row_upper, matrix.column_lower, matrix.column_upper)
    limits = np.abs(np.concatenate(parts))
    limits = limits[np.isfinite(limits)]
    too_large = max(costs, sizes.max(initial=0.0)) >= LARGEST_VALUE or limits.max(initial=0.0) >= LARGEST_LIMIT
    if too_large or float(sizes.min(initial=1.0)) <= SMALLEST_VALUE:
        raise MethodRefused(
            "method milp computes in floating point, and the sizes of the numbers of this instance are too far apart "
            "for it: state amounts, rates, costs or weights of more similar size, or use --method cpsat"
        )
