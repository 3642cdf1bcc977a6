"""Use of resources per domain, from a standing. Owns the sums; knows no limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.checker.standing import Standing
from allocator.instance.entities import Domain, Instance, Role
from allocator.plan.numbers import base_units

__all__ = ["POWER", "Usage", "chains", "drawn", "left_behind", "usage_of"]

POWER = "power"
"""Name of the resource whose use includes the draw of the nodes (equation 12)."""

PerDomain = tuple[Mapping[str, int], ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over the members below each domain, by domain index.

    Attributes
    ----------
    shares : U_dr, amounts.
    floors : the same of the floors.
    members : number of members.
    watts : draw of the nodes in use (equation 12), without the members' own shares of ``power``.
    """

    shares: PerDomain
    floors: PerDomain
    members: tuple[int, ...]
    watts: tuple[Fraction, ...]

    def own(self, instance: Instance, domain: int, resource: str) -> Fraction:
        """U_dr in base units: the members' shares."""
        return base_units(self.shares[domain].get(resource, 0), instance.resources[resource].exponent)

    def used(self, instance: Instance, domain: int, resource: str) -> Fraction:
        """What counts against a capacity, in base units: for ``power`` the draw of the nodes as well."""
        own = self.own(instance, domain, resource)
        return own + self.watts[domain] if resource == POWER else own


def chains(instance: Instance) -> tuple[tuple[int, ...], ...]:
    """For each node, the indices of the domains that hold it, itself first, the root last."""
    return tuple(tuple(domain.index for domain in instance.ancestors(node)) for node in instance.nodes)


def usage_of(instance: Instance, standing: Standing) -> Usage:
    """Sums of shares, floors, members and watts of a standing."""
    shares: list[dict[str, int]] = [{} for _ in instance.domains]
    floors: list[dict[str, int]] = [{} for _ in instance.domains]
    members = [0] * len(instance.domains)
    for batch in standing.batches:
        node_index = instance.nodes[batch.node].index
        members[node_index] += batch.count
        _add(shares[node_index], batch.shares, batch.count)
        _add(floors[node_index], batch.demand(instance).requests, batch.count)
    watts = [Fraction(0)] * len(instance.domains)
    for node in instance.nodes:
        if members[node.index]:
            watts[node.index] = _draw(instance, node.index, shares[node.index])
    _sum_upwards(instance, shares)
    _sum_upwards(instance, floors)
    for domain in reversed(instance.domains):
        if domain.parent is not None:
            members[domain.parent] += members[domain.index]
            watts[domain.parent] += watts[domain.index]
    return Usage(tuple(shares), tuple(floors), tuple(members), tuple(watts))


def left_behind(instance: Instance, before: Standing, after: Standing) -> PerDomain:
    """Old floors of transient resources that members who left their node still hold there (equation 8), by domain."""
    held: list[dict[str, int]] = [{} for _ in instance.domains]
    transient = [name for name, resource in instance.resources.items() if resource.transient]
    for workload, member, old in before.placed():
        if after.node_of(workload, member) != old.node:
            floors = old.shares
            _add(held[instance.nodes[old.node].index], {name: floors.get(name, 0) for name in transient}, 1)
    _sum_upwards(instance, held)
    return tuple(held)


def drawn(instance: Instance, domain: Domain, resource: str, *parts: PerDomain) -> int:
    """Amount that the nodes below a domain use beyond their own capacity, ``parts`` added up (equation 5)."""
    total = 0
    for node in instance.nodes[domain.first_node : domain.end_node]:
        used = sum(part[node.index].get(resource, 0) for part in parts)
        total += max(0, used - node.capacity.get(resource, 0))
    return total


def _draw(instance: Instance, domain: int, shares: Mapping[str, int]) -> Fraction:
    """Watts of a node in use with these shares."""
    node = instance.domains[domain]
    if node.power is None:
        return Fraction(0)
    for name, resource in instance.resources.items():
        capacity = node.capacity.get(name, 0)
        if resource.role is Role.COMPUTE and capacity > 0:
            return node.power.idle + (node.power.busy - node.power.idle) * Fraction(shares.get(name, 0), capacity)
    return node.power.idle


def _add(total: dict[str, int], amounts: Mapping[str, int], times: int) -> None:
    for name, amount in amounts.items():
        if amount:
            total[name] = total.get(name, 0) + amount * times


def _sum_upwards(instance: Instance, per_domain: list[dict[str, int]]) -> None:
    """Add every domain's sums to its parent's; ``instance.domains`` is in preorder."""
    for domain in reversed(instance.domains):
        if domain.parent is not None:
            _add(per_domain[domain.parent], per_domain[domain.index], 1)
