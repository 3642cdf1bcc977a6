"""Small integer programs from arrays, run in HiGHS with the clock watched. Knows no family."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.budget import Budget
from allocator.solvers.milp.highs import HighsRun, Outcome
from allocator.solvers.milp.matrix import Matrix

__all__ = ["Columns", "Rows", "minimise"]

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Binary or integer columns, 0 <= x <= upper, by sparse column: starts int32[C + 1], rows, coefficients, costs."""

    starts: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    coefficients: Float
    costs: Float
    upper: Float


@dataclass(frozen=True)
class Rows:
    """lower <= A x <= upper."""

    lower: Float
    upper: Float


def minimise(
    columns: Columns,
    rows: Rows,
    *,
    budget: Budget,
    threads: int,
    seed: int,
    start: Float | None = None,
    target: float | None = None,
) -> Outcome:
    """Minimise integer costs over integer columns; stops within a whole unit of the bound, or at the target."""
    number = len(columns.costs)
    matrix = Matrix(
        indptr=columns.starts,
        indices=columns.rows,
        values=columns.coefficients,
        row_lower=rows.lower,
        row_upper=rows.upper,
        column_lower=np.zeros(number),
        column_upper=columns.upper,
        integral=np.ones(number, dtype=np.bool_),
        objectives=columns.costs[None, :],
        columns={},
    )
    run = HighsRun(matrix, seed=seed, threads=threads)
    return run.run(
        columns.costs,
        minimise=True,
        budget=budget,
        relative_gap=0.0,
        absolute_gap=0.999,
        start=start,
        on_incumbent=lambda _: None,
        on_bound=lambda _: None,
        options={} if target is None else {"objective_target": target},
    )
