"""Equation (5), ``pool``: what the nodes below a pool use beyond their own capacity fits into the pool.

Includes the overfull start of equation (4) for pools.
"""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.overfull import entering, overfull_pools
from allocator.checker.situation import Situation
from allocator.checker.usage import drawn
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["pool"]


def pool(situation: Situation) -> Iterator[Violation]:
    """Pools drawn on beyond their size, and members that enter an overdrawn one."""
    instance = situation.instance
    overfull = overfull_pools(situation)
    for domain in instance.domains:
        for resource, size in domain.pool.items():
            limit = overfull.get((domain.index, resource), size)
            taken = drawn(instance, domain, resource, situation.usage.shares, situation.left_behind)
            if taken > limit:
                excess = situation.base(resource, taken - limit)
                message = (
                    f"{resource}: {situation.told_amount(resource, taken)} drawn from the pool, "
                    f"the limit is {situation.told_amount(resource, limit)}"
                )
                yield Violation(Family.POOL, domain.path, message, excess)
    for domain_index, count in entering(situation, {index for index, _ in overfull}):
        message = f"{count} members enter, though the current placement overdraws its pool already"
        yield Violation(Family.POOL, instance.domains[domain_index].path, message)
