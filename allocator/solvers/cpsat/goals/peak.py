"""Goal ``peak`` (equation 21)."""

from __future__ import annotations

from fractions import Fraction

from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import largest
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, goal: Goal) -> Linear:
    """Highest U_dr / C_dr over the named resources and level; 0 when no domain of it states a positive capacity."""
    compiled = symbols.compiled
    wanted = goal.resources or tuple(name for name in compiled.resources if name != "power")
    names = [name for name in wanted if name in compiled.resources]  # of others no domain states a capacity
    level = goal.at_level
    domains = compiled.instance.domains if level is None else compiled.instance.domains_of(level)
    utilizations = [Linear()]
    for domain in domains:
        symbols.budget.check()
        for name in names:
            resource = compiled.resources.index(name)
            capacity = int(compiled.capacity[domain.index, resource])
            if capacity > 0:
                utilizations.append(symbols.use(domain.index, resource).scaled(Fraction(1, capacity)))
    return largest(symbols.builder, utilizations, "the goal peak")
