"""Goal ``balance`` (equation 23)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import positive_part
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum over triples and domains of weight * max(0, target (C_r1 - U_r1) - (C_r2 - U_r2)), base units."""
    compiled = symbols.compiled
    value = Linear()
    for triple in compiled.instance.balance:
        first, second = (compiled.resources.index(name) for name in (triple.first, triple.second))
        for domain in compiled.instance.domains_of(triple.level):
            symbols.budget.check()
            lacking = _free(symbols, domain.index, first).scaled(triple.target)
            lacking = lacking.plus(_free(symbols, domain.index, second), -1)
            value.add_scaled(positive_part(symbols.builder, lacking, "the goal balance"), triple.weight)
    return value


def _free(symbols: Symbols, domain: int, resource: int) -> Linear:
    """C_dr - U_dr, base units; a capacity not stated counts 0."""
    capacity = max(0, int(symbols.compiled.capacity[domain, resource]))
    return Linear(capacity).plus(symbols.use(domain, resource), -1).scaled(symbols.base(resource))
