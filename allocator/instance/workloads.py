"""Entities of what wants to run: classes with their demands and rules, teams, and flows between members.

Owns the vocabulary of workloads. Knows no topology beyond names. For amounts and units see ``entities``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from allocator.instance.empty import empty

__all__ = [
    "Conflict",
    "Demand",
    "Dependency",
    "Flow",
    "Gang",
    "Mode",
    "Placement",
    "Slo",
    "Spread",
    "Team",
    "Work",
    "WorkloadClass",
]


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one task by (mode, kind): ``compute`` in core-seconds, ``memory`` in bytes held for ``residence`` s.

    ``compute`` and ``memory`` map resource name to exact amounts in *base units* (times s for compute).
    """

    compute: Mapping[str, Fraction] = field(default_factory=empty)
    memory: Mapping[str, Fraction] = field(default_factory=empty)


@dataclass(frozen=True, slots=True)
class Demand:
    """Demand of one member: floors and ceilings (amounts; a missing ceiling is the node's capacity) and work."""

    requests: Mapping[str, int] = field(default_factory=empty)
    limits: Mapping[str, int] = field(default_factory=empty)
    work: Work = Work()


@dataclass(frozen=True, slots=True)
class Mode:
    """One alternative demand of a class. ``by_kind`` holds whole, merged demands for the kinds that differ."""

    name: str
    default: Demand
    by_kind: Mapping[str, Demand] = field(default_factory=empty)
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

    require: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
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
    cost: Mapping[str, Fraction] = field(default_factory=empty)  # by node path, else kind, else "default", else 0
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
