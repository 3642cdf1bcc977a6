"""Rows that every plan satisfies and the relaxation does not: added to HiGHS before a level of traffic or throughput.

The Pyomo model is exact without them; they only raise the bound. Owns when they are added; docs: traffic-formulation.
"""

from __future__ import annotations

from dataclasses import replace

from allocator.errors import BudgetExhausted
from allocator.model.families import GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.milp.build import LevelObjective
from allocator.solvers.milp.fabric.envelopes import add_envelopes
from allocator.solvers.milp.fabric.node_pairs import add_node_pairs
from allocator.solvers.milp.fabric.together import add_together
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun, Outcome
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.separation import separate

__all__ = ["strengthen", "with_root_bound"]

COUNTING = {GoalId.TRAFFIC, GoalId.CONGESTION}
SHARE_OF_TIME = 0.25


def strengthen(
    form: Formulation,
    matrix: Matrix,
    run: HighsRun,
    objective: LevelObjective,
    index: int,
    *,
    budget: Budget,
    target: float | None,
) -> float | None:
    """Add products and rows for pairs of single members, once, before the first level that counts their traffic.

    For a level of throughput the rows are those of ``envelopes``. Returns the value of the relaxation, a bound on the
    scaled objective, where one was solved. ``target``: scaled objective of a known plan, or None. Raises
    ``BudgetExhausted``.
    """
    if "envelopes" not in form.cache and {goal.id for goal in objective.level.goals} == {GoalId.THROUGHPUT}:
        form.cache["envelopes"] = True
        try:
            return add_envelopes(form, matrix, run, objective, index, budget=budget.portion(SHARE_OF_TIME))
        except BudgetExhausted:
            budget.check()
            return None  # the share of time alone is used up
    if "strengthened" in form.cache or not COUNTING & {goal.id for goal in objective.level.goals}:
        return None
    form.cache["strengthened"] = True
    add_node_pairs(form, matrix, run)
    together = add_together(form, matrix, run)
    if together is None:
        return None
    rows, bound = separate(
        together,
        run.relaxation(),
        matrix.objectives[index],
        minimise=objective.minimise,
        budget=budget.portion(SHARE_OF_TIME),
        target=target,
    )
    rows.add_to(run)
    return bound


def with_root_bound(outcome: Outcome, root: float | None, *, minimise: bool) -> Outcome:
    """The outcome with the better of its own bound and that of the relaxation: a search cut short may have none."""
    if root is None:
        return outcome
    bound = root if outcome.bound is None else max(root, outcome.bound) if minimise else min(root, outcome.bound)
    return replace(outcome, bound=bound)
