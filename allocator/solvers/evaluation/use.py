"""Use of resources by an assignment in counts, exact integers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.model.families import Family

__all__ = ["Counts", "Shares", "domain_use", "node_use", "overdrawn", "share_of"]

Counts = Mapping[tuple[int, int, int], int]
Shares = Mapping[tuple[int, int, int, int], int]
LARGE = 2.0**62


def share_of(compiled: Compiled, counts: Counts, shares: Shares, key: tuple[int, int, int], r: int) -> int:
    """Total share of resource r of the members of (block, option, node)."""
    _, option, node = key
    floor = int(compiled.floor[option, compiled.node_kind[node], r])
    return shares.get((*key, r), floor * counts[key])


def node_use(compiled: Compiled, counts: Counts, shares: Shares, *, transient: bool = False) -> list[list[int]]:
    """U[N][R]; with ``transient``, plus the old floors of members that leave (equation 8)."""
    num_resources = len(compiled.resources)
    spots = np.array(list(counts), dtype=np.int64).reshape(-1, 3)
    option, node = spots[:, 1], spots[:, 2]
    members = np.array(list(counts.values()), dtype=np.int64)
    floors = compiled.floor[option, compiled.node_kind[node]]
    exact = _fits((floors.astype(np.float64) * members[:, None]).sum())
    total = np.zeros((compiled.num_nodes, num_resources), dtype=np.int64 if exact else object)
    np.add.at(total, node, floors.astype(total.dtype) * members.astype(total.dtype)[:, None])
    use: list[list[int]] = total.tolist()
    floor_of: dict[tuple[int, int], list[int]] = {}
    for (block, mode, where, r), amount in shares.items():
        held = counts.get((block, mode, where), 0)
        if held:
            kind = mode, where
            if kind not in floor_of:
                floor_of[kind] = compiled.floor[mode, compiled.node_kind[where]].tolist()
            use[where][r] += amount - floor_of[kind][r] * held
    if transient and Family.TRANSIENT not in compiled.model.ignore:
        _add_transient(compiled, counts, use)
    return use


def _fits(total: float) -> bool:
    """Whether a sum, known to float precision, surely fits int64."""
    return total < LARGE


def _add_transient(compiled: Compiled, counts: Counts, use: list[list[int]]) -> None:
    held = [r for r, name in enumerate(compiled.resources) if compiled.instance.resources[name].transient]
    if not held:
        return
    stay: dict[int, int] = {}
    for (index, _, node), count in counts.items():
        if compiled.blocks[index].current_node == node:
            stay[index] = stay.get(index, 0) + count
    for block in compiled.blocks:
        leaving = block.count - stay.get(block.index, 0)
        if block.current_node >= 0 and leaving:
            floors = compiled.floor[block.current_option, compiled.node_kind[block.current_node]]
            for r in held:
                use[block.current_node][r] += int(floors[r]) * leaving


def domain_use(compiled: Compiled, use: list[list[int]]) -> list[list[int]]:
    """U[D][R] from U[N][R]."""
    num_resources = len(compiled.resources)
    total = [[0] * num_resources for _ in range(compiled.num_domains)]
    for node, row in enumerate(use):
        total[int(compiled.node_domain[node])] = list(row)
    for domain in range(compiled.num_domains - 1, 0, -1):  # preorder: children come after their parent
        parent = total[int(compiled.parent[domain])]
        for r, amount in enumerate(total[domain]):
            parent[r] += amount
    return total


def overdrawn(compiled: Compiled, counts: Counts, shares: Shares) -> list[tuple[int, int]]:
    """(domain, resource) pairs whose capacity limit the assignment exceeds; ``power`` is left to its own family."""
    use = node_use(compiled, counts, shares, transient=True)
    total = domain_use(compiled, use)
    power = compiled.resources.index("power") if "power" in compiled.resources else -1
    found = []
    for domain in range(compiled.num_domains):
        for r in range(len(compiled.resources)):
            limit = int(compiled.limit[domain, r])
            if r != power and limit >= 0 and total[domain][r] > limit:
                found.append((domain, r))
            pool = int(compiled.pool_limit[domain, r])
            if pool >= 0:
                drawn = 0
                for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
                    own = max(0, int(compiled.capacity[compiled.node_domain[node], r]))
                    drawn += max(0, use[node][r] - own)
                if drawn > pool:
                    found.append((domain, r))
    return found
