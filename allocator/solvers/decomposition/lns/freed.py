"""A part of a plan that is set free, and what the rest holds: use of resources, watts, members of groups in zones.

Owns the split of a placement in two. Must not know how a part is chosen or solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.power import node_watts

__all__ = ["Freed", "Rest"]

Int64 = npt.NDArray[np.int64]
Spot = tuple[int, int, int]  # block, option, node


@dataclass(frozen=True)
class Freed:
    """Members taken off a plan (``counts``), unplaced ones by block (``unplaced``), and where they may go (``nodes``).

    Nodes ascend. A gang is freed with all of its unit.
    """

    counts: Mapping[Spot, int]
    unplaced: Mapping[int, int]
    nodes: tuple[int, ...]

    def members(self) -> dict[int, int]:
        """Freed members by block."""
        total = dict(self.unplaced)
        for (block, _, _), count in self.counts.items():
            total[block] = total.get(block, 0) + count
        return dict(sorted(total.items()))


class Rest:
    """What stays where it is.

    Attributes
    ----------
    counts : members by (block, option, node).
    use : int64[N, R], their shares. held : int64[N, R], old floors of transient resources of those that have left.
    moved : number of members that have left; moved_bytes : amount of memory they left.
    """

    def __init__(self, compiled: Compiled, assignment: Assignment, freed: Freed) -> None:
        self.compiled = compiled
        self.counts = {
            spot: count - freed.counts.get(spot, 0)
            for spot, count in assignment.counts.items()
            if count > freed.counts.get(spot, 0)
        }
        self.use: Int64 = np.zeros((compiled.num_nodes, len(compiled.resources)), dtype=np.int64)
        spots = np.array(list(self.counts) or np.zeros((0, 3)), dtype=np.int64).reshape(-1, 3)
        numbers = np.fromiter(self.counts.values(), dtype=np.int64, count=len(self.counts))
        if len(spots):
            floors = compiled.floor[spots[:, 1], compiled.node_kind[spots[:, 2]]] * numbers[:, None]
            np.add.at(self.use, spots[:, 2], floors)
        for (block, option, node, r), total in assignment.shares.items():
            whole, kept = assignment.counts[block, option, node], self.counts.get((block, option, node), 0)
            if kept:
                floor = int(compiled.floor[option, compiled.node_kind[node], r])
                part = -(-total * kept // whole)  # shares are split evenly
                self.use[node, r] += part - floor * kept
        self._leave(freed)

    def _leave(self, freed: Freed) -> None:
        """Members that run now and stand elsewhere, or nowhere."""
        compiled = self.compiled
        self.held: Int64 = np.zeros_like(self.use)
        self.moved = self.moved_bytes = 0
        if compiled.instance.current is None:
            return
        transient = np.array([compiled.instance.resources[name].transient for name in compiled.resources])
        transient &= Family.TRANSIENT not in compiled.model.ignore
        memory = compiled.resources.index("memory") if "memory" in compiled.resources else -1
        stay: dict[int, int] = {}
        for (block, _, node), count in self.counts.items():
            if compiled.blocks[block].current_node == node:
                stay[block] = stay.get(block, 0) + count
        free = freed.members()
        for entity in compiled.blocks:
            left = entity.count - free.get(entity.index, 0) - stay.get(entity.index, 0)
            if entity.current_node < 0 or left <= 0:
                continue
            floor = compiled.floor[entity.current_option, compiled.node_kind[entity.current_node]]
            self.held[entity.current_node] += floor * transient * left
            self.moved += left
            self.moved_bytes += int(floor[memory]) * left if memory >= 0 else 0

    def by_domain(self, amounts: Int64) -> Int64:
        """int64[D, R] from int64[N, R]."""
        prefix = np.vstack([np.zeros((1, amounts.shape[1]), dtype=np.int64), np.cumsum(amounts, axis=0)])
        total: Int64 = prefix[self.compiled.end_node] - prefix[self.compiled.first_node]
        return total

    def used_nodes(self) -> set[int]:
        """Nodes that hold somebody."""
        return {node for _, _, node in self.counts}

    def watts(self) -> list[Fraction]:
        """Draw of every domain, what is held included."""
        compiled = self.compiled
        p = compiled.resources.index("power") if "power" in compiled.resources else -1
        unit = Fraction(10) ** compiled.instance.resources["power"].exponent if p >= 0 else Fraction(0)
        used = self.used_nodes()
        total = [Fraction(0)] * compiled.num_domains
        for node in range(compiled.num_nodes):
            watts = node_watts(compiled, node, self.use[node].tolist()) if node in used else Fraction(0)
            if p >= 0:
                watts += int(self.use[node, p] + self.held[node, p]) * unit
            domain = int(compiled.node_domain[node])
            while watts and domain >= 0:
                total[domain] += watts
                domain = int(compiled.parent[domain])
        return total

    def group_members(self) -> dict[str, Int64]:
        """int64[N] members on each node by group."""
        compiled = self.compiled
        found: dict[str, Int64] = {}
        for (block, _, node), count in self.counts.items():
            group = compiled.instance.workloads[compiled.blocks[block].workload].group
            if group not in found:
                found[group] = np.zeros(compiled.num_nodes, dtype=np.int64)
            found[group][node] += count
        return found
