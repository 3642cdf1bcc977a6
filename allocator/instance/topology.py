"""Entities of what is there: resources, and the tree of domains with their capacities and links.

Owns the vocabulary of the topology. Knows no workload. For amounts and units see ``entities``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from allocator.instance.empty import empty

__all__ = ["Domain", "Goodput", "Power", "Resource", "Role", "Uplink"]


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
    capacity: Mapping[str, int] = field(default_factory=empty)  # amounts
    safety: Mapping[str, int] = field(default_factory=empty)  # amounts
    pool: Mapping[str, int] = field(default_factory=empty)  # amounts
    uplink: Uplink | None = None  # None for the root alone
    internal: Fraction | None = None  # bit/s
    labels: Mapping[str, str] = field(default_factory=empty)
    taints: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    power: Power | None = None
    weight: Fraction = Fraction(1)  # of the goal ``nodes``

    @property
    def is_node(self) -> bool:
        """Whether the domain is a leaf."""
        return self.kind is not None
