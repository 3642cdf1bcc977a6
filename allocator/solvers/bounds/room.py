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

__all__ = ["Aggregate", "aggregates", "extreme_floors", "least_floor", "room", "usable_nodes"]

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
    needs = extreme_floors(compiled, least=True)
    stands = np.logical_or.reduceat(compiled.eligible, compiled.first_option[:-1], axis=0) if len(counts) else needs
    usable = np.nonzero((np.asarray(counts, dtype=object) != 0) & stands.any(axis=1))[0].tolist()
    classes: dict[bytes, list[int]] = {}  # by the nodes they can use
    for w in usable:
        classes.setdefault(stands[w].tobytes(), []).append(w)
    sets = {key: stands[members[0]] for key, members in classes.items()}
    chosen = dict(list(sets.items())[:MAX_SETS])
    if usable:
        union: npt.NDArray[np.bool_] = np.any(list(sets.values()), axis=0)
        chosen |= {union.tobytes(): union}
    for nodes in chosen.values():
        inside = np.array(
            sorted(w for key, members in classes.items() if not (sets[key] & ~nodes).any() for w in members),
            dtype=np.int64,
        )
        for r in range(len(compiled.resources)):
            needing = tuple(inside[needs[inside, r] > 0].tolist())
            if not needing:
                continue
            held = room(compiled, r, nodes)
            if held is not None:
                yield Aggregate(needing, r, sum(counts[w] * int(needs[w, r]) for w in needing), held, nodes)


def extreme_floors(compiled: Compiled, *, least: bool) -> npt.NDArray[np.int64]:
    """int64[W, R]: least, or greatest, floor of one member over the modes and nodes it may use; 0 where it may none."""
    num_options, num_kinds, num_resources = compiled.floor.shape
    open_kind = np.zeros((num_options, num_kinds), dtype=np.bool_)
    for kind in range(num_kinds):
        open_kind[:, kind] = compiled.eligible[:, compiled.node_kind == kind].any(axis=1)
    never = np.iinfo(np.int64).max if least else -1
    extreme = np.minimum if least else np.maximum
    floors = extreme.reduce(np.where(open_kind[:, :, None], compiled.floor, never), axis=1, initial=never)
    best = np.full((len(compiled.instance.workloads), num_resources), never, dtype=np.int64)
    extreme.at(best, compiled.option_workload, floors)
    best[best == never] = 0
    return best
