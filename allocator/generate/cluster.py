"""Racks for a number of agents: full ones of 96 sleds of 4 CPUs for 40,000 agents each, a slice for fewer.

Owns how large the topology is. Every number that the catalog has is the catalog's; a slice smaller than two sleds keeps
part of each CPU for other work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allocator import catalog

__all__ = ["AGENTS_PER_RACK", "Cluster", "cluster_of"]

AGENTS_PER_RACK = 40_000
SLEDS = 96
CPUS = 4
SMALL = 400  # agents, below which a sled holds two CPUs
MIB_PER_GIB = 1024


@dataclass(frozen=True, slots=True)
class Cluster:
    """``racks`` racks of ``sleds`` sleds of ``cpus`` CPUs each, of which ``part`` (0 to 1) is ours."""

    racks: int
    sleds: int
    cpus: int
    part: float

    def num_sleds(self, share: float = 1.0) -> int:
        """Sleds of all racks, or of a share of each."""
        return self.racks * round(self.sleds * share)

    def node(self, profile: str) -> tuple[int, int]:
        """Millicores and MiB that a CPU of a catalog profile offers here."""
        capacity = catalog.show(profile).domain["capacity"]
        cores = math.ceil(int(str(_stated(capacity["cpu"]))) * self.part)
        gib = math.ceil(int(str(_stated(capacity["memory"])).removesuffix(" GiB")) * self.part)
        return 1000 * cores, MIB_PER_GIB * gib


def _stated(value: Any) -> Any:
    return value["value"] if isinstance(value, Mapping) else value


def cluster_of(agents: int, even_sleds: bool = False) -> Cluster:
    """Return the racks for a number of agents. ``even_sleds``: two halves of a rack must be equal."""
    racks = math.ceil(agents / AGENTS_PER_RACK)
    wanted = agents / racks / AGENTS_PER_RACK * SLEDS * CPUS  # CPUs in a rack
    cpus = CPUS if agents >= SMALL else 2
    step = 2 if even_sleds else 1
    sleds = min(SLEDS, max(2 * step, step * math.ceil(wanted / cpus / step)))
    return Cluster(racks, sleds, cpus, min(1.0, wanted / (sleds * cpus)))
