"""Arrays of the topology and the effective limits of families ``capacity`` and ``pool`` (equations 4, 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.instance.entities import Domain, Instance, Role
from allocator.model.entities import Model
from allocator.model.families import Family

__all__ = ["Limits", "TopologyArrays", "limits_of", "topology_arrays"]

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TopologyArrays:
    """See ``Compiled`` for shapes and meaning."""

    parent: Int64
    first_node: Int64
    end_node: Int64
    end_domain: Int64
    node_domain: Int64
    node_kind: Int64
    capacity: Int64
    safety: Int64
    pool: Int64
    compute_resource: Int64


@dataclass(frozen=True)
class Limits:
    """Effective limits; ``path_limit``: int64[N, R], the least limit at or above a node for one member."""

    limit: Int64
    pool_limit: Int64
    overfull: npt.NDArray[np.bool_]
    path_limit: Int64
    power_limit: tuple[Fraction | None, ...]


def _amounts(domains: Sequence[Domain], field: str, column: Mapping[str, int]) -> Int64:
    table = np.full((len(domains), len(column)), -1, dtype=np.int64)
    for row, domain in enumerate(domains):
        for name, amount in getattr(domain, field).items():
            table[row, column[name]] = amount
    return table


def topology_arrays(instance: Instance, kinds: Sequence[str], column: Mapping[str, int]) -> TopologyArrays:
    """Build the topology arrays. ``column``: resource name to column."""
    domains = instance.domains
    kind_index = {kind: index for index, kind in enumerate(kinds)}
    capacity = _amounts(domains, "capacity", column)
    node_domain = np.array([node.index for node in instance.nodes], dtype=np.int64)
    compute = [column[name] for name, resource in instance.resources.items() if resource.role is Role.COMPUTE]
    compute_resource = np.full(len(node_domain), -1, dtype=np.int64)
    for node, domain in enumerate(node_domain):
        positive = [r for r in compute if capacity[domain, r] > 0]
        if positive:
            compute_resource[node] = positive[0]
    return TopologyArrays(
        parent=np.array([-1 if d.parent is None else d.parent for d in domains], dtype=np.int64),
        first_node=np.array([d.first_node for d in domains], dtype=np.int64),
        end_node=np.array([d.end_node for d in domains], dtype=np.int64),
        end_domain=np.array([d.end_domain for d in domains], dtype=np.int64),
        node_domain=node_domain,
        node_kind=np.array([kind_index[node.kind or ""] for node in instance.nodes], dtype=np.int64),
        capacity=capacity,
        safety=_amounts(domains, "safety", column),
        pool=_amounts(domains, "pool", column),
        compute_resource=compute_resource,
    )


def limits_of(
    instance: Instance, model: Model, arrays: TopologyArrays, resources: Sequence[str], current_use: Int64
) -> Limits:
    """Effective limits. ``current_use``: int64[N, R], old floors of the members that run on each node now."""
    num_domains, num_resources = arrays.capacity.shape
    held = Family.CAPACITY not in model.ignore
    prefix = np.vstack([np.zeros((1, num_resources), dtype=np.int64), np.cumsum(current_use, axis=0)])
    use = prefix[arrays.end_node] - prefix[arrays.first_node]  # int64[D, R]
    overfull = np.zeros(num_domains, dtype=np.bool_)
    limit = arrays.capacity.copy() if held else np.full_like(arrays.capacity, -1)
    pool_limit = np.full_like(arrays.pool, -1) if Family.POOL in model.ignore else arrays.pool.copy()
    stated = arrays.capacity[arrays.node_domain]
    own = np.where(stated >= 0, stated, 0)  # int64[N, R], a node's own amount
    drawn = np.full(own.shape, -1, dtype=np.int64)  # own amount and pool together, -1: under no pool
    for domain, r in zip(*np.nonzero(pool_limit >= 0), strict=True):
        nodes = slice(int(arrays.first_node[domain]), int(arrays.end_node[domain]))
        excess = int(np.maximum(0, current_use[nodes, r] - own[nodes, r]).sum())
        if excess > pool_limit[domain, r]:
            pool_limit[domain, r] = excess
            overfull[domain] = True
        drawn[nodes, r] = own[nodes, r] + pool_limit[domain, r]
        limit[arrays.node_domain[nodes], r] = -1
    over = (limit >= 0) & (use > limit)
    over[:, [r for r, name in enumerate(resources) if name == "power"]] = False
    limit = np.where(over, use, limit)
    overfull |= over.any(axis=1)
    power_limit: tuple[Fraction | None, ...] = (None,) * num_domains
    if held and "power" in resources:
        p, unit = list(resources).index("power"), Fraction(10) ** instance.resources["power"].exponent
        limited = limit[:, p] >= 0
        power_limit = _power_limit(instance, arrays, current_use, overfull, limited)
        limit[:, p] = [-1 if watts is None else int(watts // unit) for watts in power_limit]  # the shares alone
    path_limit = _path_limit(arrays, limit, drawn, missing=0 if held else np.iinfo(np.int64).max)
    return Limits(limit, pool_limit, overfull, path_limit, power_limit)


def _power_limit(
    instance: Instance,
    arrays: TopologyArrays,
    current_use: Int64,
    overfull: npt.NDArray[np.bool_],
    limited: npt.NDArray[np.bool_],
) -> tuple[Fraction | None, ...]:
    """Power capacities in watts, or the current draw where it is higher (marks the domain overfull).

    ``limited``: bool[D], domains that state a capacity which no pool replaces; the others have no limit.
    """
    p = list(instance.resources).index("power")
    unit = Fraction(10) ** instance.resources["power"].exponent
    running = {instance.node_index[c.node] for c in instance.current or () if c.count}
    draw: list[Fraction] = []
    for index, node in enumerate(instance.nodes):
        watts = int(current_use[index, p]) * unit
        if node.power is not None and index in running:
            watts += node.power.idle
            r = int(arrays.compute_resource[index])
            if r >= 0:
                used = Fraction(int(current_use[index, r]), int(arrays.capacity[node.index, r]))
                watts += (node.power.busy - node.power.idle) * used
        draw.append(watts)
    limits: list[Fraction | None] = []
    for domain in instance.domains:
        stated = domain.capacity.get("power")
        if stated is None or not limited[domain.index]:
            limits.append(None)
            continue
        now = sum(draw[domain.first_node : domain.end_node], Fraction(0))
        if now > stated * unit:
            overfull[domain.index] = True
        limits.append(max(now, stated * unit))
    return tuple(limits)


def _path_limit(arrays: TopologyArrays, limit: Int64, drawn: Int64, missing: int) -> Int64:
    """Least limit at or above each node; ``missing`` where nobody states one."""
    endless = np.iinfo(np.int64).max
    above = np.full(limit.shape, endless, dtype=np.int64)
    stated = np.where(limit >= 0, limit, endless)
    for domain in range(len(arrays.parent)):  # preorder: parents come first
        parent = int(arrays.parent[domain])
        above[domain] = stated[domain] if parent < 0 else np.minimum(stated[domain], above[parent])
    nodes = above[arrays.node_domain]
    nodes = np.where(drawn >= 0, np.minimum(nodes, drawn), nodes)
    return np.where(nodes == endless, missing, nodes)
