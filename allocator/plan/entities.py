"""A plan: where members run, with which shares, and which fraction of its offered rate each flow is granted.

Knows the names used in an instance, nothing of how a plan is found or judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

__all__ = ["FlowGrant", "PlacedGroup", "Plan", "UnplacedGroup", "flow_endpoint"]


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """Members [first, first + count) of ``workload`` in one ``mode``, each with the same ``shares``.

    ``nodes``: one path where all of them run, or ``count`` paths, member first + i on nodes[i].
    ``shares``: amount (integer units of the resource) of one member, every resource it has a share of.
    """

    workload: str
    first: int
    count: int
    mode: str
    nodes: tuple[str, ...]
    shares: Mapping[str, int]

    def node_of(self, offset: int) -> str:
        """Path of the node of member ``first + offset``."""
        return self.nodes[0] if len(self.nodes) == 1 else self.nodes[offset]


@dataclass(frozen=True, slots=True)
class FlowGrant:
    """``granted``: fraction theta in [0, 1] of the offered rate of the flow or team that gets through.

    A team j of entry "claim" is source = target = "claim/j"; a pair flow "intake/0" to "judge/4" (class/member); a
    spread or broadcast entry "intake" to "judge". Names are escaped as in JSON Pointer (``flow_endpoint``).
    """

    source: str
    target: str
    granted: Fraction


@dataclass(frozen=True, slots=True)
class UnplacedGroup:
    """Members [first, first + count) of ``workload`` that have no node; ``short``: amounts missing, where known."""

    workload: str
    first: int
    count: int
    reason: str
    short: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan. A flow without a grant is granted nothing (0)."""

    instance_name: str
    instance_digest: str
    placements: tuple[PlacedGroup, ...]
    flows: tuple[FlowGrant, ...] = ()
    unplaced: tuple[UnplacedGroup, ...] = ()
    model: str | None = None
    result: Mapping[str, Any] | None = None  # the --json document, when the plan came from ``solve``

    def members(self) -> Iterator[tuple[str, int, str, str]]:
        """Yield (workload, member number, mode, node path) of every placed member."""
        for group in self.placements:
            for offset in range(group.count):
                yield group.workload, group.first + offset, group.mode, group.node_of(offset)


def flow_endpoint(name: str, number: int | None = None) -> str:
    """Name of a flow's end: the escaped class or team name, with "/number" for one member or one team."""
    escaped = name.replace("~", "~0").replace("/", "~1")
    return escaped if number is None else f"{escaped}/{number}"
