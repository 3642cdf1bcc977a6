"""Which compiled instances are bin packings, and the way there and back. Owns the conditions, no algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.bounds.patterns.problem import BinPacking, Int64
from allocator.solvers.support import used_families

__all__ = ["NodePacking", "is_packing_instance", "node_groups", "node_packing"]

HARMLESS = frozenset(
    {Family.ASSIGNMENT, Family.ELIGIBILITY, Family.SHARES, Family.CAPACITY, Family.RATES, Family.FABRIC}
)
"""Families under which every placement within the capacities is allowed (traffic loads links and forbids nothing)."""

MAX_UNITS = 50_000
MAX_CELLS = 40_000_000  # item types times units: the size of a packing written out
MAX_RESOURCES = 512


@dataclass(frozen=True)
class NodePacking:
    """A bin packing whose bins are nodes.

    ``weight``: value of one node in use; ``num_nodes``: how many there are; ``blocks[i]``: blocks of item type i;
    ``free``: blocks that need nothing and may stand anywhere. ``problem`` is None when all are such.
    """

    problem: BinPacking | None
    blocks: tuple[tuple[int, ...], ...]
    free: tuple[int, ...]
    weight: Fraction
    num_nodes: int

    def value(self, bins: int) -> Fraction:
        """Value of the first level with so many nodes in use."""
        return self.weight * bins

    def assignment(self, compiled: Compiled, packing: Int64) -> Assignment | None:
        """Bins int64[bins, I] on the first nodes; None when there are fewer nodes."""
        if len(packing) > self.num_nodes:
            return None
        counts: dict[tuple[int, int, int], int] = {}
        for i, blocks in enumerate(self.blocks):
            waiting = [[b, compiled.blocks[b].count] for b in blocks]
            for node in np.flatnonzero(packing[:, i]).tolist():
                units = int(packing[node, i])
                while units:
                    block, left = waiting[-1]
                    taken = min(units, left)
                    counts[block, _option(compiled, block), node] = taken
                    units -= taken
                    waiting[-1][1] -= taken
                    if not waiting[-1][1]:
                        waiting.pop()
        return Assignment({**counts, **self.together(compiled).counts})

    def together(self, compiled: Compiled) -> Assignment:
        """The members that need nothing, on the first node."""
        return Assignment({(b, _option(compiled, b), 0): compiled.blocks[b].count for b in self.free})


def _option(compiled: Compiled, block: int) -> int:
    return int(compiled.first_option[compiled.blocks[block].workload])


def is_packing_instance(compiled: Compiled) -> bool:
    """Whether the first level counts nodes and nothing but their own capacities limits who stands together.

    Later levels may hold anything that leaves nobody unplaced: what is found is then a start and a bound.
    """
    model = compiled.model
    first = model.levels[0].goals if model.levels else ()
    if len(first) != 1 or first[0].id is not GoalId.NODES or model.may_leave_out:
        return False
    if not used_families(compiled.instance, model) <= HARMLESS or any(w is not None for w in compiled.power_limit):
        return False
    if min((node.weight for node in compiled.instance.nodes), default=Fraction(0)) <= 0:
        return False
    if (np.diff(compiled.first_option) != 1).any() or not compiled.blocks:
        return False
    inner = np.ones(compiled.num_domains, dtype=np.bool_)
    inner[compiled.node_domain] = False
    if (compiled.limit[inner] >= 0).any() or (compiled.pool_limit >= 0).any() or compiled.overfull.any():
        return False
    return bool(compiled.eligible.any(axis=1).all()) and _small_enough(compiled)


def node_groups(compiled: Compiled) -> tuple[tuple[int, ...], ...]:
    """Nodes alike in weight, limits, floors and in who may stand there; in order of their first nodes."""
    floors = [compiled.floor[:, kind].tobytes() for kind in range(len(compiled.kinds))]
    groups: dict[tuple[Fraction, bytes, bytes, bytes], list[int]] = {}
    for node, kind in enumerate(compiled.node_kind.tolist()):
        limits = compiled.limit[compiled.node_domain[node]].tobytes()
        key = compiled.instance.nodes[node].weight, limits, floors[kind], compiled.eligible[:, node].tobytes()
        groups.setdefault(key, []).append(node)
    return tuple(map(tuple, groups.values()))


def _small_enough(compiled: Compiled) -> bool:
    units = sum(block.count for block in compiled.blocks)
    types = min(len(compiled.instance.workloads), units)
    return units <= MAX_UNITS and units * types <= MAX_CELLS and len(compiled.resources) <= MAX_RESOURCES


def node_packing(compiled: Compiled) -> NodePacking:
    """The packing of an instance whose nodes are one group. Classes of equal demand become one item type."""
    limit = compiled.limit[compiled.node_domain[0]]
    limited = np.flatnonzero(limit >= 0)
    kind = compiled.node_kind[0]
    types: dict[tuple[int, ...], list[int]] = {}
    for block in compiled.blocks:
        sizes = compiled.floor[_option(compiled, block.index), kind, limited]
        types.setdefault(tuple(sizes.tolist()), []).append(block.index)
    free = tuple(b for sizes, blocks in types.items() if not any(sizes) for b in blocks)
    sized = {sizes: blocks for sizes, blocks in types.items() if any(sizes)}
    problem = None
    if sized:
        demand = [sum(compiled.blocks[b].count for b in blocks) for blocks in sized.values()]
        problem = BinPacking.of(
            np.array(list(sized), dtype=np.int64), np.array(demand, dtype=np.int64), limit[limited].copy()
        )
    weight = compiled.model.levels[0].goals[0].weight * compiled.instance.nodes[0].weight
    return NodePacking(problem, tuple(map(tuple, sized.values())), free, weight, compiled.num_nodes)
