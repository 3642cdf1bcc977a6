"""Placements in the columns of the exact model: counts of a solution, columns of a start. Knows no solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from allocator.solvers.base import Assignment
from allocator.solvers.milp.fabric.team_order import in_team_order
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.recorder import Recorder

__all__ = ["placements_to", "read_counts", "start_values"]

Float = npt.NDArray[np.float64]


def read_counts(form: Formulation, matrix: Matrix, solution: Float) -> dict[tuple[int, int, int], int]:
    """Counts of a solution, rounded to integers."""
    counts: dict[tuple[int, int, int], int] = {}
    for entry in form.entries:
        count = round(float(solution[matrix.columns[id(entry.variable)]]))
        if count:
            counts[entry.block, entry.option, entry.node] = count
    return counts


def placements_to(recorder: Recorder, form: Formulation, matrix: Matrix) -> Callable[[Float], None] | None:
    """What hands the placements of solutions to the recorder; None where shares would have to be found for them."""
    if form.compiled.model.has_rate_goals or recorder.keeper is None:
        return None
    return lambda solution: recorder.offer(lambda: Assignment(read_counts(form, matrix, solution)))


def start_values(form: Formulation, matrix: Matrix, assignment: Assignment | None) -> Float | None:
    """Placement columns of a start, NaN elsewhere: the solver completes the rest."""
    if assignment is None:
        return None
    values = np.full(len(matrix.column_lower), np.nan)
    counts = in_team_order(form, assignment.counts)
    for entry in form.entries:
        key = entry.block, entry.option, entry.node
        values[matrix.columns[id(entry.variable)]] = float(counts.get(key, 0))
    return values
