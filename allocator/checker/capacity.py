"""Equations (4), (8) and (12): ``capacity`` of every domain, ``transient`` use, and ``power`` as a resource.

Includes the overfull start: where the current placement exceeds a capacity, its use is the limit and nobody enters.
"""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.overfull import entering, overfull_capacities, pooled
from allocator.checker.situation import Situation
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["capacity"]


def capacity(situation: Situation) -> Iterator[Violation]:
    """Domains used beyond their limit, members that enter overfull ones, and resources that a node has none of."""
    instance, usage = situation.instance, situation.usage
    overfull = overfull_capacities(situation)
    for domain in instance.domains:
        for resource in domain.capacity:
            if pooled(situation, domain.index, resource):
                continue
            stated = situation.base(resource, domain.capacity[resource])
            limit = overfull.get((domain.index, resource), stated)
            used = usage.used(instance, domain.index, resource)
            held = situation.base(resource, situation.left_behind[domain.index].get(resource, 0))
            if used + held > limit:
                # capacity that suffices for the plan but not for the change towards it is the family transient
                family = Family.CAPACITY if used > limit or not held else Family.TRANSIENT
                also = f", {situation.told(resource, held)} of it still held by members that leave" if held else ""
                total, most = situation.told(resource, used + held), situation.told(resource, limit)
                message = f"{resource}: {total} used{also}, the limit is {most}"
                yield Violation(family, domain.path, message, used + held - limit)
    for index, count in entering(situation, {index for index, _ in overfull}):
        message = f"{count} members enter, though the current placement exceeds its capacity already"
        yield Violation(Family.CAPACITY, instance.domains[index].path, message)
    yield from _nowhere_stated(situation)


def _nowhere_stated(situation: Situation) -> Iterator[Violation]:
    """Use of a resource that no domain at or above the node states: the node has none of it."""
    instance = situation.instance
    for node, chain in zip(instance.nodes, situation.chains, strict=True):
        used = dict(situation.usage.shares[node.index])
        for resource, amount in situation.usage.floors[node.index].items():
            used[resource] = max(amount, used.get(resource, 0))
        for resource, amount in used.items():
            domains = [instance.domains[index] for index in chain]
            stated = any(resource in domain.capacity for domain in domains)
            if situation.holds(Family.POOL):
                stated = stated or any(resource in domain.pool for domain in domains)
            if amount > 0 and not stated:
                excess = situation.base(resource, amount)
                message = f"{resource}: {situation.told(resource, excess)} used, the node has none of it"
                yield Violation(Family.CAPACITY, node.path, message, excess)
