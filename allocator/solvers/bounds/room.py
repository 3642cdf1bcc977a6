"""What the nodes that a set of classes can use hold together, against what those classes need at the very least.

Owns the sums over the topology: valid for every plan, whatever moves where. Knows neither packing nor group rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.plan.numbers import base_units

__all__ = ["Aggregate", "aggregates", "least_floor", "room", "usable_nodes"]

POWER = "power"
MAX_SETS = 64  # sets of nodes that are summed up; more would cost more than they tell


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Classes that can only stand on certain nodes, the least they need of a resource, and what is there (amounts).

    ``workloads``, ``resource``: indices; ``nodes``: bool[N].
    """

    workloads: tuple[int, ...]
    resource: int
    demand: int
    room: int
    nodes: npt.NDArray[np.bool_]

    @property
    def short(self) -> int:
        """Amount missing; 0 or less when the sums fit."""
        return self.demand - self.room


def usable_nodes(compiled: Compiled, workload: int) -> npt.NDArray[np.bool_]:
    """bool[N]: one member of the class, alone, may stand on the node in some mode."""
    options = compiled.options_of(workload)
    return np.asarray(compiled.eligible[options.start : options.stop].any(axis=0), dtype=np.bool_)


def least_floor(compiled: Compiled, workload: int, resource: int) -> int | None:
    """Smallest floor of one member over the modes and nodes it may stand in; None when it may stand nowhere."""
    floors = [
        int(compiled.floor[option, compiled.node_kind[compiled.eligible[option]], resource].min())
        for option in compiled.options_of(workload)
        if compiled.eligible[option].any()
    ]
    return min(floors, default=None)


def room(compiled: Compiled, resource: int, nodes: npt.NDArray[np.bool_]) -> int | None:
    """Amount of a resource that members on these nodes can use in all; None when nothing limits it.

    Each domain passes on at most its own limit and the sum of what is below it, pools included.
    """
    if Family.CAPACITY in compiled.model.ignore:
        return None
    limit, pool = _limits(compiled, resource), compiled.pool_limit[:, resource].tolist()
    stated, pooled = _above(compiled, limit, pool)
    total: list[int | None] = [0] * compiled.num_domains
    for node in np.nonzero(nodes)[0].tolist():
        domain = int(compiled.node_domain[node])
        own = max(0, int(compiled.capacity[domain, resource]))
        total[domain] = own if pooled[domain] or not stated[domain] else None
    for domain in range(compiled.num_domains - 1, -1, -1):
        inside = bool(nodes[compiled.first_node[domain] : compiled.end_node[domain]].any())
        here = total[domain]
        if here is not None and pool[domain] >= 0 and inside:
            here += pool[domain]
        if limit[domain] >= 0:
            here = limit[domain] if here is None else min(here, limit[domain])
        total[domain] = here = here if inside else 0
        parent = int(compiled.parent[domain])
        if parent >= 0:
            sofar = total[parent]
            total[parent] = None if here is None or sofar is None else sofar + here
    return total[0]


def _limits(compiled: Compiled, resource: int) -> list[int]:
    """Limit of each domain, -1 where there is none; of power, what the present draw may keep where it is higher."""
    stated: list[int] = compiled.limit[:, resource].tolist()
    name = compiled.resources[resource]
    if name != POWER:
        return stated
    unit = base_units(1, compiled.instance.resources[name].exponent)
    return [
        own if watts is None else int(watts // unit) for own, watts in zip(stated, compiled.power_limit, strict=True)
    ]


def _above(compiled: Compiled, limit: Sequence[int], pool: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """By domain: whether a limit or pool is stated at or above it; whether a pool is."""
    stated, pooled = [False] * compiled.num_domains, [False] * compiled.num_domains
    for domain in range(compiled.num_domains):
        parent = int(compiled.parent[domain])
        pooled[domain] = pool[domain] >= 0 or (parent >= 0 and pooled[parent])
        stated[domain] = limit[domain] >= 0 or pooled[domain] or (parent >= 0 and stated[parent])
    return stated, pooled


def aggregates(compiled: Compiled, counts: Sequence[int]) -> Iterator[Aggregate]:
    """Sums for sets of classes that share their nodes, for every resource that they need and that is limited.

    Parameters
    ----------
    counts : members by workload that have to stand somewhere; classes that can stand nowhere are left out.
    """
    usable = {w: usable_nodes(compiled, w) for w, count in enumerate(counts) if count}
    usable = {w: nodes for w, nodes in usable.items() if nodes.any()}
    floors = {(w, r): least_floor(compiled, w, r) or 0 for w in usable for r in range(len(compiled.resources))}
    sets = {nodes.tobytes(): nodes for nodes in usable.values()}
    if usable:
        union: npt.NDArray[np.bool_] = np.any(list(usable.values()), axis=0)
        sets = dict(list(sets.items())[:MAX_SETS]) | {union.tobytes(): union}
    for nodes in sets.values():
        inside = tuple(w for w, own in usable.items() if not (own & ~nodes).any())
        for r in range(len(compiled.resources)):
            needing = tuple(w for w in inside if floors[w, r])
            if not needing:
                continue
            held = room(compiled, r, nodes)
            if held is not None:
                yield Aggregate(needing, r, sum(counts[w] * floors[w, r] for w in needing), held, nodes)
