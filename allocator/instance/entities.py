"""Entities of an instance: frozen, validated once by ``instance.load``, never re-checked later.

Owns the instance as a whole and names all of its parts: those of ``topology`` and ``workloads``, and what spans both.
Knows nothing of files, models, compiled arrays or solvers.

Numbers. An *amount* of a resource is an ``int`` in units of ``10**resource.exponent`` of the resource's base unit
(core, byte, bit/s, watt or none). Rates, times, weights and bandwidths of links are exact ``Fraction`` in base units
(1/s, s, bit/s).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

from allocator.instance.empty import empty
from allocator.instance.topology import Domain, Goodput, Power, Resource, Role, Uplink
from allocator.instance.workloads import (
    Conflict,
    Demand,
    Dependency,
    Flow,
    Gang,
    Mode,
    Placement,
    Slo,
    Spread,
    Team,
    Work,
    WorkloadClass,
)
from allocator.instance.zones import Zone, zones_in

__all__ = [
    "BalanceTriple",
    "Conflict",
    "CurrentPlacement",
    "Demand",
    "Dependency",
    "Distances",
    "Domain",
    "Flow",
    "Gang",
    "Goodput",
    "Instance",
    "Mode",
    "MoveCosts",
    "Placement",
    "Power",
    "Reserve",
    "Resource",
    "Role",
    "Slo",
    "Spread",
    "Team",
    "Uplink",
    "Work",
    "WorkloadClass",
]


@dataclass(frozen=True, slots=True)
class BalanceTriple:
    """w * max(0, target (C_r1 - U_r1) - (C_r2 - U_r2)) summed over the domains of ``level`` ("node": all nodes)."""

    first: str
    second: str
    target: Fraction
    weight: Fraction
    level: str


@dataclass(frozen=True, slots=True)
class Reserve:
    """Each domain of ``level`` must be replaceable: free capacity outside it, per node kind and resource."""

    level: str
    resources: tuple[str, ...]  # empty: every resource with a capacity at nodes


@dataclass(frozen=True, slots=True)
class MoveCosts:
    """Weights of the goal ``moves`` and the limits of family ``move_limit``. Bytes: floor of ``memory`` left behind."""

    process: Fraction = Fraction(1)
    service: Fraction = Fraction(0)
    machine: Fraction = Fraction(0)
    machine_cost: Mapping[tuple[str, str], Fraction] = field(default_factory=empty)  # old, new node path; missing: 0
    limit_members: int | None = None
    limit_bytes: int | None = None  # amount of resource ``memory``


@dataclass(frozen=True, slots=True)
class Distances:
    """Distance of two nodes: by ``matrix`` of node paths if given, else summed ``Uplink.weight`` of uplinks crossed.

    A missing entry of the matrix is an error at validation; the diagonal, too, may be non-zero (default 0).
    """

    matrix: Mapping[tuple[str, str], Fraction] | None = None


@dataclass(frozen=True, slots=True)
class CurrentPlacement:
    """Members [first, first + count) of a class that now run on ``node`` in ``mode``."""

    workload: str
    first: int
    count: int
    mode: str
    node: str


@dataclass(frozen=True)
class Instance:
    """A whole instance: what is there and what wants to run.

    ``link_load``: most of its bandwidth that an uplink may be offered in one direction (family ``link_load``).
    """

    name: str
    resources: Mapping[str, Resource]
    domains: tuple[Domain, ...]
    workloads: tuple[WorkloadClass, ...]
    teams: tuple[Team, ...] = ()
    flows: tuple[Flow, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    spreads: tuple[Spread, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    balance: tuple[BalanceTriple, ...] = ()
    reserves: tuple[Reserve, ...] = ()
    moves: MoveCosts | None = None
    distances: Distances = Distances()
    current: tuple[CurrentPlacement, ...] | None = None
    model: str | None = None
    services: tuple[Mapping[str, Any], ...] = field(default=())
    link_load: Fraction | None = None

    @cached_property
    def digest(self) -> str:
        """Names the content (sha256, hex); computed when first asked for: large instances take a second."""
        from allocator.instance.digest import digest_of

        return digest_of(self)

    @cached_property
    def nodes(self) -> tuple[Domain, ...]:
        """Leaves in preorder."""
        return tuple(domain for domain in self.domains if domain.is_node)

    @cached_property
    def domain_by_path(self) -> Mapping[str, Domain]:
        """Domains by path."""
        return MappingProxyType({domain.path: domain for domain in self.domains})

    @cached_property
    def node_index(self) -> Mapping[str, int]:
        """Index into ``nodes`` by path."""
        return MappingProxyType({node.path: index for index, node in enumerate(self.nodes)})

    @cached_property
    def workload_by_name(self) -> Mapping[str, WorkloadClass]:
        """Classes by name."""
        return MappingProxyType({workload.name: workload for workload in self.workloads})

    @cached_property
    def num_members(self) -> int:
        """Members of all classes."""
        return sum(workload.count for workload in self.workloads)

    def domains_of(self, level: str) -> tuple[Domain, ...]:
        """Domains of a level. "node" means every leaf, whatever its level is called."""
        if level == "node":
            return self.nodes
        return tuple(domain for domain in self.domains if domain.level == level)

    def zones_of(self, level: str) -> tuple[Zone, ...]:
        """Zones of a level of ``conflict``, ``spread`` or ``dependency``: its domains, or the values of a label."""
        if level not in self._zones:
            self._zones[level] = zones_in(self, level)
        return self._zones[level]

    @cached_property
    def _zones(self) -> dict[str, tuple[Zone, ...]]:
        return {}

    def ancestors(self, domain: Domain) -> tuple[Domain, ...]:
        """The domain itself, then its ancestors up to the root."""
        chain = [domain]
        while chain[-1].parent is not None:
            chain.append(self.domains[chain[-1].parent])
        return tuple(chain)
