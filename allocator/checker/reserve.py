"""Equation (11), ``reserve``: what stands in a domain would fit, kind by kind and summed up, into the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from allocator.checker.situation import Situation
from allocator.instance.entities import Domain, Instance, Reserve
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["reserve"]


def reserve(situation: Situation) -> Iterator[Violation]:
    """Domains of a level whose members the free capacity outside could not take up."""
    instance = situation.instance
    for rule in instance.reserves:
        for resource in _resources(instance, rule):
            total = _by_kind(situation, instance.nodes, resource)
            for domain in instance.domains_of(rule.level):
                inner = _by_kind(situation, instance.nodes[domain.first_node : domain.end_node], resource)
                for kind, (free, _) in total.items():
                    free_inside, held = inner.get(kind, (0, 0))
                    outside = free - free_inside
                    if outside < held:
                        missing = situation.base(resource, held - outside)
                        message = (
                            f"{resource} on {kind}: {situation.told_amount(resource, held)} stand here, "
                            f"{situation.told_amount(resource, outside)} are free elsewhere"
                        )
                        yield Violation(Family.RESERVE, domain.path, message, missing)


def _resources(instance: Instance, rule: Reserve) -> tuple[str, ...]:
    """Resources of a rule; by default those that nodes state a capacity of."""
    if rule.resources:
        return rule.resources
    return tuple(name for name in instance.resources if any(name in node.capacity for node in instance.nodes))


def _by_kind(situation: Situation, nodes: Sequence[Domain], resource: str) -> dict[str, tuple[int, int]]:
    """Free amount (where a capacity is stated) and floors, by node kind."""
    found: dict[str, tuple[int, int]] = {}
    for node in nodes:
        kind = str(node.kind)
        floors = situation.usage.floors[node.index].get(resource, 0)
        free, held = found.get(kind, (0, 0))
        if resource in node.capacity:
            free += node.capacity[resource] - floors
        found[kind] = (free, held + floors)
    return found
