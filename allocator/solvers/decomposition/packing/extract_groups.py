"""Instances with several groups of nodes as grouped packings, and the way there and back. Owns no algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.solvers.base import Assignment
from allocator.solvers.bounds.patterns.problem import BinPacking
from allocator.solvers.decomposition.packing.grouped import MAX_WEIGHT, Bin, GroupedPacking, Kind

__all__ = ["GroupedNodes", "grouped_nodes"]

MAX_GROUPS = 40
MAX_TYPES = 2000


@dataclass(frozen=True)
class GroupedNodes:
    """``blocks[i]``: blocks of item type i; ``nodes[k]``: nodes of group k. A weight c has value ``unit`` * c."""

    packing: GroupedPacking
    blocks: tuple[tuple[int, ...], ...]
    nodes: tuple[tuple[int, ...], ...]
    unit: Fraction

    def assignment(self, compiled: Compiled, bins: Sequence[Bin]) -> Assignment:
        """Bins on the first nodes of their groups."""
        waiting = [[[b, compiled.blocks[b].count] for b in blocks] for blocks in self.blocks]
        unused = [list(reversed(nodes)) for nodes in self.nodes]
        counts: dict[tuple[int, int, int], int] = {}
        for kind, pattern in bins:
            node = unused[kind].pop()
            for i in np.flatnonzero(pattern).tolist():
                units = int(pattern[i])
                while units:
                    block, left = waiting[i][-1]
                    taken = min(units, left)
                    counts[block, int(compiled.first_option[compiled.blocks[block].workload]), node] = taken
                    units -= taken
                    waiting[i][-1][1] -= taken
                    if not waiting[i][-1][1]:
                        waiting[i].pop()
        return Assignment(counts)

    def bins(self, assignment: Assignment) -> tuple[Bin, ...]:
        """An assignment as bins."""
        type_of = {block: i for i, blocks in enumerate(self.blocks) for block in blocks}
        kind_of = {node: k for k, nodes in enumerate(self.nodes) for node in nodes}
        contents: dict[int, Bin] = {}
        for (block, _, node), count in sorted(assignment.counts.items()):
            _, pattern = contents.setdefault(node, (kind_of[node], np.zeros(len(self.blocks), dtype=np.int64)))
            pattern[type_of[block]] += count
        return tuple(contents.values())


def grouped_nodes(compiled: Compiled, groups: tuple[tuple[int, ...], ...]) -> GroupedNodes | None:
    """The packing of an instance with those groups; None when there are too many or their weights too unlike."""
    if len(groups) > MAX_GROUPS:
        return None
    weights = [compiled.instance.nodes[nodes[0]].weight for nodes in groups]
    denominator = math.lcm(*(w.denominator for w in weights))
    whole = [int(w * denominator) for w in weights]
    common = math.gcd(*whole)
    if max(whole) // common > MAX_WEIGHT:
        return None
    firsts = [nodes[0] for nodes in groups]
    limits = compiled.limit[compiled.node_domain[firsts]]
    limited = np.flatnonzero((limits >= 0).any(axis=0))
    types: dict[tuple[bytes, bytes], list[int]] = {}
    for block in compiled.blocks:
        option = int(compiled.first_option[block.workload])
        floors = compiled.floor[option, compiled.node_kind[firsts]][:, limited]
        types.setdefault((floors.tobytes(), compiled.eligible[option, firsts].tobytes()), []).append(block.index)
    if len(types) > MAX_TYPES:
        return None
    options = [int(compiled.first_option[compiled.blocks[blocks[0]].workload]) for blocks in types.values()]
    demand = np.array([sum(compiled.blocks[b].count for b in blocks) for blocks in types.values()], dtype=np.int64)
    kinds = []
    for k, node in enumerate(firsts):
        able = np.flatnonzero(compiled.eligible[options, node])
        bound = np.flatnonzero(limits[k] >= 0)
        sizes = compiled.floor[options, compiled.node_kind[node]][able][:, bound]
        problem = BinPacking.of(sizes, demand[able], limits[k][bound])
        kinds.append(Kind(problem, able, whole[k] // common, len(groups[k])))
    unit = compiled.model.levels[0].goals[0].weight * Fraction(common, denominator)
    return GroupedNodes(GroupedPacking(demand, tuple(kinds)), tuple(map(tuple, types.values())), groups, unit)
