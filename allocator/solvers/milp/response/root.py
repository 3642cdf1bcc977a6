"""Rounds of tangents at the continuous relaxation, before a level that counts response times is searched.

Owns when to stop. Knows no family.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.solvers.budget import Budget
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun, Stop, ignore
from allocator.solvers.milp.response.cost import queues
from allocator.solvers.milp.response.lines import TangentRow
from allocator.solvers.milp.response.refine import at_relaxation
from allocator.solvers.milp.rows import Rows

__all__ = ["stated", "tighten"]

MOST_ROUNDS = 12
LEAST_TOLERANCE = 1e-4  # relative: finer errors are left to the plans that are met
ALLOWED = 0.3  # of the tolerance


def tighten(form: Formulation, run: HighsRun, cost: npt.NDArray[np.float64], *, scale: float, budget: Budget) -> None:
    """Add the tangents that the relaxation of a level breaks, until it breaks little. ``scale``: of the objective."""
    if not queues(form):
        return
    tolerance = max(float(form.compiled.model.linearization.tolerance), LEAST_TOLERANCE)
    relaxed = run.relaxation()
    for _ in range(MOST_ROUNDS):
        outcome = relaxed.run(
            cost,
            minimise=True,
            budget=budget,
            relative_gap=0.0,
            absolute_gap=0.0,
            start=None,
            on_incumbent=ignore,
            on_bound=ignore,
        )
        if outcome.stop is not Stop.OPTIMAL or outcome.solution is None or outcome.bound is None:
            return
        rows = stated(at_relaxation(form, outcome.solution, ALLOWED * tolerance * abs(outcome.bound) * scale))
        if not len(rows):
            return
        rows.add_to(relaxed)
        rows.add_to(run)


def stated(found: list[TangentRow]) -> Rows:
    """Tangents as rows for a solver."""
    rows = Rows()
    for row in found:
        rows.add(zip(row.columns, row.coefs, strict=True), row.upper)
    return rows
