"""Goals on the use of resources: ``peak`` (21), ``overload`` (22) and ``balance`` (23).

They count the members' shares alone: neither what leaving members still hold nor, for ``power``, the draw of nodes.
"""

from __future__ import annotations

from fractions import Fraction

from allocator.checker.situation import Situation
from allocator.checker.usage import POWER
from allocator.model.entities import Goal

__all__ = ["balance", "overload", "peak"]


def peak(situation: Situation, goal: Goal) -> Fraction:
    """Highest utilisation over the named resources and the level; 0 when nothing states a capacity."""
    instance = situation.instance
    domains = instance.domains if goal.at_level is None else instance.domains_of(goal.at_level)
    highest = Fraction(0)
    for domain in domains:
        for resource, capacity in domain.capacity.items():
            wanted = resource in goal.resources if goal.resources else resource != POWER
            if wanted and capacity > 0:
                used = situation.usage.own(instance, domain.index, resource)
                highest = max(highest, used / situation.base(resource, capacity))
    return highest


def overload(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Weighted use beyond the safety amounts."""
    instance, total = situation.instance, Fraction(0)
    for domain in instance.domains:
        for resource, safety in domain.safety.items():
            excess = situation.usage.own(instance, domain.index, resource) - situation.base(resource, safety)
            total += instance.resources[resource].overload * max(Fraction(0), excess)
    return total


def balance(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Weighted shortfall of what is free of one resource against what is free of another."""
    instance, total = situation.instance, Fraction(0)
    for triple in instance.balance:
        for domain in instance.domains_of(triple.level):
            free = [
                situation.base(resource, domain.capacity.get(resource, 0))
                - situation.usage.own(instance, domain.index, resource)
                for resource in (triple.first, triple.second)
            ]
            total += triple.weight * max(Fraction(0), triple.target * free[0] - free[1])
    return total
