"""Entities of an instance: frozen, validated once by ``instance.load``, never re-checked later.

Owns the vocabulary of topology and workloads. Knows nothing of files, models, compiled arrays or solvers.

Numbers. An *amount* of a resource is an ``int`` in units of ``10**resource.exponent`` of the resource's base unit
(core, byte, bit/s, watt or none). Rates, times, weights and bandwidths of links are exact ``Fraction`` in base units
(1/s, s, bit/s).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

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

EMPTY: Mapping[Any, Any] = MappingProxyType({})


def _empty() -> Mapping[Any, Any]:
    # a mapping proxy cannot be a plain default before Python 3.12, where it became hashable
    return EMPTY


class Role(StrEnum):
    """What a resource is for; only ``compute`` and ``memory`` limit task rates."""

    COMPUTE = "compute"
    MEMORY = "memory"
    BANDWIDTH = "bandwidth"
    POWER = "power"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: ``exponent`` is the power of ten of one integer unit; ``overload`` the weight of the goal."""

    name: str
    role: Role
    unit: str  # base unit: "core", "B", "bit/s", "W" or "" (a plain number)
    exponent: int = 0
    transient: bool = False
    overload: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Goodput:
    """Goodput curve phi of an uplink, as stated (design family ``fabric``)."""

    curve: Literal["fair", "knee", "table"] = "fair"
    p: Fraction = Fraction(4)
    points: tuple[tuple[Fraction, Fraction], ...] = ()


@dataclass(frozen=True, slots=True)
class Uplink:
    """Full-duplex link to the parent: ``bandwidth`` in bit/s per direction, resolved (None: unlimited).

    ``oversubscription`` is kept when the capacity was derived from the children's.
    """

    bandwidth: Fraction | None = None
    oversubscription: Fraction | None = None
    latency: Fraction = Fraction(0)  # s
    goodput: Goodput = Goodput()
    weight: Fraction = Fraction(1)  # distance of one crossing


@dataclass(frozen=True, slots=True)
class Power:
    """Watts of a node in use: idle plus (busy - idle) times its compute utilisation."""

    idle: Fraction
    busy: Fraction


@dataclass(frozen=True, slots=True)
class Domain:
    """A vertex of the topology tree. ``Instance.domains`` is in preorder, the implicit root (path "") first.

    A leaf is a *node*; ``kind`` is then its hardware kind. ``labels``, ``taints`` and ``capabilities`` are already
    inherited from the ancestors. ``first_node`` and ``end_node`` delimit the nodes below (self for a leaf) as indices
    into ``Instance.nodes``; ``end_domain`` is the index after the last descendant.
    """

    index: int
    path: str
    level: str
    parent: int | None
    children: tuple[int, ...]
    kind: str | None  # None for an inner domain
    first_node: int
    end_node: int
    end_domain: int
    capacity: Mapping[str, int] = field(default_factory=_empty)  # amounts
    safety: Mapping[str, int] = field(default_factory=_empty)  # amounts
    pool: Mapping[str, int] = field(default_factory=_empty)  # amounts
    uplink: Uplink | None = None  # None for the root alone
    internal: Fraction | None = None  # bit/s
    labels: Mapping[str, str] = field(default_factory=_empty)
    taints: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    power: Power | None = None
    weight: Fraction = Fraction(1)  # of the goal ``nodes``

    @property
    def is_node(self) -> bool:
        """Whether the domain is a leaf."""
        return self.kind is not None


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one task by (mode, kind): ``compute`` in core-seconds, ``memory`` in bytes held for ``residence`` s.

    ``compute`` and ``memory`` map resource name to exact amounts in *base units* (times s for compute).
    """

    compute: Mapping[str, Fraction] = field(default_factory=_empty)
    memory: Mapping[str, Fraction] = field(default_factory=_empty)


@dataclass(frozen=True, slots=True)
class Demand:
    """Demand of one member: floors and ceilings (amounts; a missing ceiling is the node's capacity) and work."""

    requests: Mapping[str, int] = field(default_factory=_empty)
    limits: Mapping[str, int] = field(default_factory=_empty)
    work: Work = Work()


@dataclass(frozen=True, slots=True)
class Mode:
    """One alternative demand of a class. ``by_kind`` holds whole, merged demands for the kinds that differ."""

    name: str
    default: Demand
    by_kind: Mapping[str, Demand] = field(default_factory=_empty)
    quality: Fraction = Fraction(1)

    def demand(self, kind: str) -> Demand:
        """Demand of a member in this mode on a node of that kind."""
        found: Demand = self.by_kind.get(kind, self.default)
        return found


@dataclass(frozen=True, slots=True)
class Slo:
    """Latency target, P99 in seconds."""

    p99: Fraction | None = None
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """Placed members of ``group`` cover at least min(at_least, placed) zones of ``level`` (``Instance.zones_of``)."""

    group: str
    level: str
    at_least: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """At most ``at_most`` members of ``group`` in one zone of ``level``."""

    group: str
    level: str
    at_most: int


@dataclass(frozen=True, slots=True)
class Dependency:
    """Where ``group`` is in a zone of ``level``, ``on`` is too."""

    group: str
    on: str
    level: str


@dataclass(frozen=True, slots=True)
class Gang:
    """``size`` members, consecutive in number, on distinct nodes of one domain of ``level``, in one mode."""

    size: int
    level: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Where members of a class may go. ``require``: label to accepted values. ``within``: paths of domains."""

    require: Mapping[str, tuple[str, ...]] = field(default_factory=_empty)
    tolerations: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()
    gang: Gang | None = None


@dataclass(frozen=True, slots=True)
class WorkloadClass:
    """``count`` identical members. ``rate``: tasks/s offered to one member. Members are numbered from 0."""

    index: int
    name: str
    count: int
    group: str
    modes: tuple[Mode, ...]  # at least one; the unnamed single mode is called "default"
    value: Fraction = Fraction(1)  # goal ``placed``
    weight: Fraction = Fraction(1)  # goals ``throughput`` and ``p99``
    rate: Fraction = Fraction(0)  # 1/s
    parallel: Fraction = Fraction(1)  # base units of compute that one member can use at once
    residence: Fraction | None = None  # s a task stays in memory
    slo: Slo = Slo()
    cost: Mapping[str, Fraction] = field(default_factory=_empty)  # by node path, else kind, else "default", else 0
    move_cost: Fraction = Fraction(1)
    placement: Placement = Placement()


@dataclass(frozen=True, slots=True)
class Team:
    """``count`` teams; one team takes ``members[class]`` members of each class, in order of number.

    ``rate``: bit/s per ordered pair of distinct members. Team j takes members [offset + j n, offset + (j + 1) n) of a
    class, ``offset`` being what earlier entries of ``Instance.teams`` took of that class. ``message``: bits of one.
    """

    name: str
    count: int
    members: Mapping[str, int]
    offsets: Mapping[str, int]
    rate: Fraction
    message: Fraction = Fraction(0)

    @property
    def size(self) -> int:
        """Members of one team."""
        return sum(self.members.values())


@dataclass(frozen=True, slots=True)
class Flow:
    """One ``flows`` entry with its pattern resolved.

    pattern ``pairs``: ``pairs`` lists directed (i, j, rate): member i of ``source`` to member j of ``target``, bit/s.
    pattern ``spread``: every source member sends ``rate`` bit/s in all, split evenly over the target members.
    pattern ``broadcast``: every source member sends ``rate`` bit/s to each target member.
    A member never sends to itself. With ``source == target``, ``spread`` splits over the other members.
    ``message``: bits of one message; 0 where none is stated.
    """

    source: str
    target: str
    pattern: Literal["pairs", "spread", "broadcast"]
    rate: Fraction = Fraction(0)
    pairs: tuple[tuple[int, int, Fraction], ...] = ()
    message: Fraction = Fraction(0)


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
    machine_cost: Mapping[tuple[str, str], Fraction] = field(default_factory=_empty)  # old, new node path; missing: 0
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
    """A whole instance: what is there and what wants to run. ``digest`` names its content (sha256, hex).

    ``link_load``: most of its bandwidth that an uplink may be offered in one direction (family ``link_load``).
    """

    name: str
    digest: str
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
