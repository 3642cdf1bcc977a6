"""Rows that every plan satisfies and the relaxation does not: added to HiGHS before a level that counts traffic.

The Pyomo model is exact without them; they only raise the bound. Owns when they are added; docs: traffic-formulation.
"""

from __future__ import annotations

from allocator.model.families import GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.milp.build import LevelObjective
from allocator.solvers.milp.fabric.node_pairs import add_node_pairs
from allocator.solvers.milp.fabric.together import add_together
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.separation import separate

__all__ = ["strengthen"]

COUNTING = {GoalId.TRAFFIC, GoalId.CONGESTION}
SHARE_OF_TIME = 0.25


def strengthen(
    form: Formulation,
    matrix: Matrix,
    run: HighsRun,
    objective: LevelObjective,
    index: int,
    budget: Budget,
    target: float | None,
) -> None:
    """Add products and rows for pairs of single members, once, before the first level that counts their traffic.

    ``target``: scaled objective of a known plan, or None. Raises ``BudgetExhausted``.
    """
    if "strengthened" in form.cache or not COUNTING & {goal.id for goal in objective.level.goals}:
        return
    form.cache["strengthened"] = True
    add_node_pairs(form, matrix, run)
    together = add_together(form, matrix, run)
    if together is not None:
        rows = separate(
            together,
            run.relaxation(),
            matrix.objectives[index],
            minimise=objective.minimise,
            budget=budget.portion(SHARE_OF_TIME),
            target=target,
        )
        rows.add_to(run)
