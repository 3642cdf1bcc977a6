"""Nodes and domains that nothing tells apart, so that a relaxation needs one variable for all of them.

A convex relaxation that treats two nodes alike has an optimum that uses them alike (the mean over all exchanges), so
that summing over alike nodes loses nothing; and since only sums of valid rows are stated, summing over nodes that
differ would be valid too. Owns what makes nodes alike. Knows no goal and no linear program.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled

__all__ = ["DomainOrbit", "Orbits", "orbits_of"]

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DomainOrbit:
    """``size`` domains alike, ``domain`` one of them; together they hold the nodes of ``groups``, all of them."""

    domain: int
    size: int
    groups: tuple[int, ...]


@dataclass(frozen=True)
class Orbits:
    """Partition of the nodes.

    Attributes
    ----------
    group : int64[N], group of each node.
    sizes : int64[G], nodes of each group.
    nodes : int64[G], one node of each group.
    domains : orbits of the domains, nodes included, whose nodes are whole groups.
    """

    group: Int64
    sizes: Int64
    nodes: Int64
    domains: tuple[DomainOrbit, ...]

    @property
    def num_groups(self) -> int:
        """G."""
        return len(self.sizes)


def orbits_of(compiled: Compiled, most: int) -> Orbits:
    """Nodes alike with all their ancestors; where that leaves more than ``most`` groups, nodes alike by themselves."""
    labels = _labels(compiled, deep=True)
    if len({labels[d] for d in compiled.node_domain.tolist()}) > most:
        labels = _labels(compiled, deep=False)
    return _partition(compiled, labels)


def _labels(compiled: Compiled, *, deep: bool) -> list[int]:
    """Orbit of each domain: by what is stated at it and below it and, when ``deep``, by the orbit of its parent."""
    below = _below(compiled)
    if not deep:
        return below
    labels = [0] * compiled.num_domains
    known: dict[tuple[int, int], int] = {}
    for domain in range(1, compiled.num_domains):
        key = labels[int(compiled.parent[domain])], below[domain]
        labels[domain] = known.setdefault(key, len(known) + 1)
    return labels


def _below(compiled: Compiled) -> list[int]:
    """Number of the kind of subtree that each domain is the top of."""
    known: dict[Hashable, int] = {}
    kinds = [0] * compiled.num_domains
    children: list[list[int]] = [[] for _ in range(compiled.num_domains)]
    node_at = {int(domain): node for node, domain in enumerate(compiled.node_domain.tolist())}
    columns = np.ascontiguousarray(compiled.eligible.T)
    for domain in range(compiled.num_domains - 1, -1, -1):
        entity = compiled.instance.domains[domain]
        own: tuple[Hashable, ...] = (
            entity.level,
            tuple(compiled.limit[domain].tolist()),
            tuple(compiled.pool_limit[domain].tolist()),
            tuple(compiled.capacity[domain].tolist()),
            tuple(compiled.safety[domain].tolist()),
            tuple(compiled.pool[domain].tolist()),
            compiled.power_limit[domain],
            entity.uplink,
            entity.internal,
        )
        node = node_at.get(domain)
        if node is not None:
            costs = () if compiled.cost is None else tuple(compiled.cost[:, node])
            own += (entity.kind, columns[node].tobytes(), costs, entity.power, entity.weight)
        kinds[domain] = known.setdefault((*own, tuple(sorted(children[domain]))), len(known))
        if domain:
            children[int(compiled.parent[domain])].append(kinds[domain])
    return kinds


def _partition(compiled: Compiled, labels: list[int]) -> Orbits:
    """Groups of nodes by label, and the orbits of domains that hold whole groups."""
    first: dict[int, int] = {}
    group = np.zeros(compiled.num_nodes, dtype=np.int64)
    nodes: list[int] = []
    for node, domain in enumerate(compiled.node_domain.tolist()):
        number = first.setdefault(labels[domain], len(first))
        if number == len(nodes):
            nodes.append(node)
        group[node] = number
    sizes = np.bincount(group, minlength=len(nodes)).astype(np.int64)
    alike: dict[int, list[int]] = {}
    for domain in range(compiled.num_domains):
        alike.setdefault(labels[domain] if domain else -1, []).append(domain)
    found = []
    for members in alike.values():
        counts: dict[int, int] = {}
        for domain in members:
            for number in group[compiled.first_node[domain] : compiled.end_node[domain]].tolist():
                counts[number] = counts.get(number, 0) + 1
        nested = any(b < int(compiled.end_domain[a]) for a, b in pairwise(members))
        if not nested and all(counts[number] == sizes[number] for number in counts):
            found.append(DomainOrbit(members[0], len(members), tuple(sorted(counts))))
    return Orbits(group, sizes, np.array(nodes, dtype=np.int64), tuple(found))
