"""The overfull start of equation (4): where the current placement exceeds a capacity or a pool.

There the use now is the limit, and no member that was not below the domain may enter it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from allocator.checker.situation import Situation
from allocator.checker.standing import NOWHERE
from allocator.checker.usage import drawn
from allocator.model.families import Family

__all__ = ["entering", "overfull_capacities", "overfull_pools", "overfull_warnings", "pooled"]


def overfull_capacities(situation: Situation) -> dict[tuple[int, str], Fraction]:
    """Use now, in base units, by (domain index, resource) where it exceeds the capacity."""
    instance = situation.instance
    if not instance.current:
        return {}
    found = {}
    for domain in instance.domains:
        for resource, amount in domain.capacity.items():
            if not pooled(situation, domain.index, resource):
                used = situation.usage_before.used(instance, domain.index, resource)
                if used > situation.base(resource, amount):
                    found[domain.index, resource] = used
    return found


def overfull_pools(situation: Situation) -> dict[tuple[int, str], int]:
    """Amount drawn now by (domain index, resource) where it exceeds the pool."""
    instance = situation.instance
    if not instance.current:
        return {}
    found = {}
    for domain in instance.domains:
        for resource, size in domain.pool.items():
            taken = drawn(instance, domain, resource, situation.usage_before.shares)
            if taken > size:
                found[domain.index, resource] = taken
    return found


def overfull_warnings(situation: Situation) -> Iterator[str]:
    """A sentence for each overfull capacity and pool."""
    starts = []
    if situation.holds(Family.CAPACITY):
        for (index, resource), used in overfull_capacities(situation).items():
            starts.append((index, resource, used, situation.instance.domains[index].capacity[resource], "capacity"))
    if situation.holds(Family.POOL):
        for (index, resource), taken in overfull_pools(situation).items():
            size = situation.instance.domains[index].pool[resource]
            starts.append((index, resource, situation.base(resource, taken), size, "pool"))
    for index, resource, used, stated, what in starts:
        now, limit = situation.told(resource, used), situation.told_amount(resource, stated)
        yield (
            f"{situation.instance.domains[index].path or 'the root'}: the current placement uses {now} of {resource}, "
            f"its {what} is {limit}: no member may enter, and the use may not grow"
        )


def entering(situation: Situation, overfull: set[int]) -> Iterator[tuple[int, int]]:
    """Yield (domain index, number of members that stand there and did not before)."""
    if not overfull:
        return
    counts = dict.fromkeys(sorted(overfull), 0)
    for workload, member, batch in situation.standing.placed():
        source = situation.before.node_of(workload, member)
        if source == batch.node:
            continue
        before = () if source == NOWHERE else situation.chains[source]
        for domain in situation.chains[batch.node]:
            if domain in counts and domain not in before:
                counts[domain] += 1
    yield from ((domain, count) for domain, count in counts.items() if count)


def pooled(situation: Situation, domain: int, resource: str) -> bool:
    """Whether the domain is a node whose own capacity of the resource is replaced by a pool."""
    instance = situation.instance
    if not instance.domains[domain].is_node or not situation.holds(Family.POOL):
        return False
    return any(resource in above.pool for above in instance.ancestors(instance.domains[domain]))
