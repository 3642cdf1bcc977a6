"""Compiled instance to the exact model: calls every family and goal in a fixed order.

Owns the tables of families and goals. Must not know any solver.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId, sense_of
from allocator.solvers.budget import Budget
from allocator.solvers.milp.assignment import add_assignment
from allocator.solvers.milp.capacity import add_capacity
from allocator.solvers.milp.fabric.grants import add_grants
from allocator.solvers.milp.fabric.limits import add_link_load
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.gang import add_gangs
from allocator.solvers.milp.goals import placement, rates, traffic, use
from allocator.solvers.milp.goals.base import GoalTerms, greatest_common_divisor
from allocator.solvers.milp.groups import add_groups
from allocator.solvers.milp.moves import add_move_limit
from allocator.solvers.milp.power import add_power_caps
from allocator.solvers.milp.rates import add_rates
from allocator.solvers.milp.reserve import add_reserve
from allocator.solvers.milp.response import cost, worst
from allocator.solvers.milp.response.floors import add_slo
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import add_shares

__all__ = ["FAMILIES", "GOALS", "LevelObjective", "build"]

# of the size of a row's numbers: what its violation may be in floats, as HiGHS is set up and with finer tolerances
LEAST_SHARE = 2**17  # largest coefficient over smallest from where on the smallest sets the scale of an objective
COARSE_ERROR, FINE_ERROR = Fraction(1, 10**6), Fraction(1, 10**8)

# order matters: least shares before shares, shares before capacity, rates before grants
FAMILIES: tuple[Callable[[Formulation], None], ...] = (
    add_assignment,
    add_slo,
    add_shares,
    add_capacity,
    add_power_caps,
    add_groups,
    add_gangs,
    add_move_limit,
    add_reserve,
    add_link_load,
    add_rates,
    add_grants,
)


def _p99(form: Formulation, goal: Goal) -> GoalTerms:
    return worst.nothing(form, goal) if goal.worst else cost.add_cost(form, goal)


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
    GoalId.P99: _p99,
    GoalId.TRAFFIC: traffic.traffic,
    GoalId.CONGESTION: traffic.congestion,
}


@dataclass(frozen=True)
class LevelObjective:
    """Objective of one level: value = scale * (coefs . x + constant), minimised when ``minimise``.

    ``step``: the value is a multiple of it (then ``scale`` = step and the scaled objective is integral), or None.
    ``noise``: how far floats may leave the value from the truth, where large numbers cancel in it. ``fine``: the solver
    needs finer tolerances than its own.
    """

    level: Level
    minimise: bool
    scale: Fraction
    step: Fraction | None
    constant: Fraction
    terms: Terms
    noise: Fraction = Fraction(0)
    fine: bool = False


def build(compiled: Compiled, budget: Budget) -> tuple[Formulation, list[LevelObjective]]:
    """State the whole model; one objective a level. Raises ``BudgetExhausted``."""
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
    span = Fraction(0)
    single = len(level.goals) == 1
    for goal in level.goals:
        made = GOALS[goal.id](form, goal)
        sign = 1 if single or sense_of(goal.id) == "min" else -1
        terms.extend(made.terms, sign * goal.weight)
        steps.append(None if made.step is None else made.step * abs(goal.weight))
        span += abs(goal.weight) * made.span
    step = None if None in steps else greatest_common_divisor(s for s in steps if s is not None)
    terms = terms.merged()
    if step:
        # the constant may shift the lattice of values: fold it in
        step = greatest_common_divisor([step, Fraction(terms.constant)])
    noise, fine = Fraction(0), False
    if not step or span * COARSE_ERROR * 4 > step:
        fine = True
        if not step or span * FINE_ERROR * 4 > step:  # floats cannot tell neighbouring values apart
            least = min((abs(Fraction(coef)) for coef in terms.coefs), default=Fraction(0))
            between = step is not None and any(not variable.integral for variable in terms.variables)
            noise = span * FINE_ERROR if between or span * COARSE_ERROR > least else noise
            step = None
    scale = step or _magnitude(terms)
    return LevelObjective(
        level, level.sense == "min", scale, step or None, Fraction(terms.constant), terms, noise, fine
    )


def _magnitude(terms: Terms) -> Fraction:
    """A power of two: the largest coefficient becomes about 1, unless that made the smallest vanish in tolerances."""
    sizes = [abs(float(coef)) for coef in terms.coefs if coef] or [1.0]
    return Fraction(2) ** int(np.floor(np.log2(min(max(sizes), min(sizes) * LEAST_SHARE))))
