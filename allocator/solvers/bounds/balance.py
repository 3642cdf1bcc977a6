"""Bound of the goal ``balance`` from totals: what is free of two resources, summed over all domains of a level.

Owns no solver; exact. Knows nothing of other goals.
"""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.instance.entities import BalanceTriple
from allocator.model.families import Family
from allocator.plan.numbers import base_units
from allocator.solvers.bounds.room import extreme_floors

__all__ = ["balance_bound", "greatest_uses"]


def balance_bound(compiled: Compiled) -> Fraction:
    """Lower bound of the goal where everybody is placed, else 0.

    For each triple, sum_d max(0, t (C_d1 - U_d1) - (C_d2 - U_d2)) >= max(0, t (C_1 - U_1) - (C_2 - U_2)) with the
    totals over domains that hold every node once (max(0, .) is subadditive). U_1 is at most the sum of everybody's
    greatest floors, where no share may exceed its floor, and U_2 at least that of the least.
    """
    total = Fraction(0)
    open_model = compiled.model.may_leave_out or Family.ASSIGNMENT in compiled.model.ignore
    if open_model or not compiled.instance.balance:
        return total
    greatest, least = greatest_uses(compiled), _uses(compiled, least=True)
    for triple in compiled.instance.balance:
        most = greatest[compiled.resources.index(triple.first)]
        if most is None or not _covers(compiled, triple):
            continue
        free = [
            _capacity(compiled, triple, triple.first) - _base(compiled, triple.first, most),
            _capacity(compiled, triple, triple.second)
            - _base(compiled, triple.second, least[compiled.resources.index(triple.second)]),
        ]
        total += triple.weight * max(Fraction(0), triple.target * free[0] - free[1])
    return total


def greatest_uses(compiled: Compiled) -> list[int | None]:
    """Most that all members together can use, by resource, when everybody is placed; None where shares may grow."""
    instance = compiled.instance
    targets = Family.SLO not in compiled.model.ignore and any(w.slo.p99 is not None for w in instance.workloads)
    found: list[int | None] = []
    for r, total in enumerate(_uses(compiled, least=False)):
        grows = targets or any(compiled.uses_shares(w.index, r) for w in instance.workloads)
        found.append(None if grows else total)
    return found


def _uses(compiled: Compiled, *, least: bool) -> list[int]:
    """Sum over all members of their least, or greatest, floor where they may stand, by resource; exact."""
    counts = [workload.count for workload in compiled.instance.workloads]
    return [sum(map(operator.mul, counts, column)) for column in extreme_floors(compiled, least=least).T.tolist()]


def _covers(compiled: Compiled, triple: BalanceTriple) -> bool:
    """Whether the domains of the level hold every node exactly once."""
    held = np.zeros(compiled.num_nodes, dtype=np.int64)
    for domain in compiled.instance.domains_of(triple.level):
        held[domain.first_node : domain.end_node] += 1
    return bool((held == 1).all())


def _capacity(compiled: Compiled, triple: BalanceTriple, resource: str) -> Fraction:
    domains = compiled.instance.domains_of(triple.level)
    return _base(compiled, resource, sum(domain.capacity.get(resource, 0) for domain in domains))


def _base(compiled: Compiled, resource: str, amount: int) -> Fraction:
    return base_units(amount, compiled.instance.resources[resource].exponent)
