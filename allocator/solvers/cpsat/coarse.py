"""A coarse first pass over shares: the same formulation in few large units, whose plans start the exact one.

CP-SAT searches an integer share of 10^12 units poorly, one of a few dozen well. Every coarse plan is a plan, so this
costs time only, never a value or a bound. Owns the choice of the units.
"""

from __future__ import annotations

import math

from allocator.compiled.entities import Compiled
from allocator.errors import BudgetExhausted, MethodRefused
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.engine import Controls
from allocator.solvers.cpsat.formulation import formulate
from allocator.solvers.cpsat.levels import Search, solve_levels
from allocator.solvers.cpsat.shares import law_of
from allocator.solvers.recorder import Recorder

__all__ = ["coarse_plans", "grains"]

SMALL_ENOUGH = 1000  # shares with no more units than this are left alone
PARTS = (24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2)  # of the common unit, so that halves and thirds of it can be given
TIME_SHARE = 0.2
CONFLICTS = 20_000


def grains(compiled: Compiled, budget: Budget) -> dict[int, int]:
    """A unit for each resource that members share: a part of what all stated amounts of it are multiples of."""
    found: dict[int, int] = {}
    for resource in range(len(compiled.resources)):
        users = [w.index for w in compiled.instance.workloads if compiled.uses_shares(w.index, resource)]
        if not users:
            continue
        tables = compiled.floor, compiled.ceiling, compiled.capacity, compiled.limit, compiled.pool, compiled.safety
        amounts = {int(amount) for table in tables for amount in table[..., resource].flat if amount > 0}
        largest = max(amounts, default=0)
        for option in range(compiled.num_options):
            budget.check()
            for node in range(compiled.num_nodes):
                law = law_of(compiled, option, node)
                amounts |= {int(law.cap / s) for r, s in law.limits if r == resource and not (law.cap / s) % 1}
        unit = math.gcd(*amounts) if amounts else 1
        part = next((part for part in PARTS if unit % part == 0), 1)
        if largest > SMALL_ENOUGH and unit // part > 1:
            found[resource] = unit // part
    return found


def coarse_plans(compiled: Compiled, budget: Budget, seed: int, threads: int) -> list[Assignment]:
    """The plan after each level of the coarse model, as far as they are found in a part of the time."""
    if not compiled.model.has_rate_goals:
        return []
    portion = budget.portion(TIME_SHARE)
    try:
        grain = grains(compiled, portion)
        if not grain:
            return []
        formulation = formulate(compiled, portion, grain)
    except (BudgetExhausted, MethodRefused):
        return []
    search = Search(formulation, portion, Recorder(portion.elapsed), Controls(seed, threads, 0.0, CONFLICTS))
    solve_levels(search)
    return [formulation.assignment(values) for values in search.reached]
