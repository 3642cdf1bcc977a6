"""Bound of the goal ``overload`` from totals, what cannot leave its node, and what can come to it. Exact; no solver.

A resource held during the change (family ``transient``) stays used where a member leaves it. So what runs below a
domain now counts there in every plan, and whoever moves to one of its nodes needs room beside all of it: large members
are often stuck where they are, and few can come to a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.bounds.balance import greatest_uses

__all__ = ["fits_beside", "overload_bound", "slack_beside"]

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

ENTRIES = 4_000_000  # of masks that are in memory at a time
ENDLESS = np.iinfo(np.int64).max


def overload_bound(compiled: Compiled) -> Fraction:
    """Lower bound of the goal where everybody is placed, else 0.

    For each resource: L_n <= U_n <= H_n with L_n what cannot leave node n and H_n what can be there at most, S_n the
    safety amount of the node, T_n = max(L_n, min(S_n, H_n)), U everybody's least floors. Then
    max(0, U_n - S_n) >= max(0, L_n - S_n) + max(0, U_n - T_n), and max(0, .) is subadditive, so that the sum over the
    nodes is at least sum_n max(0, L_n - S_n) + max(0, U - sum_n T_n). The last part needs an S_n at every node.
    """
    open_model = compiled.model.may_leave_out or Family.ASSIGNMENT in compiled.model.ignore
    if open_model or not (compiled.safety[compiled.node_domain] >= 0).any():
        return Fraction(0)
    ranges = _ranges(compiled)
    grows = [use is None for use in greatest_uses(compiled)]
    total = Fraction(0)
    for r, name in enumerate(compiled.resources):
        stated = compiled.safety[compiled.node_domain, r] >= 0
        safety = compiled.safety[compiled.node_domain, r].tolist()
        low, high = ranges.low[:, r].tolist(), ranges.high[:, r].tolist()
        over = sum(max(0, a - s) for a, s, known in zip(low, safety, stated, strict=True) if known)
        if stated.all():
            tops = safety if grows[r] else [min(s, h) for s, h in zip(safety, high, strict=True)]
            over += max(0, ranges.needs[r] - sum(map(max, low, tops)))
        resource = compiled.instance.resources[name]
        total += resource.overload * over * Fraction(10) ** resource.exponent
    return total


@dataclass(frozen=True)
class _Ranges:
    """``low``, ``high``: L and H, int64[N, R]; ``needs``: U by resource."""

    low: Int64
    high: Int64
    needs: list[int]


@dataclass(frozen=True)
class _Units:
    """Exchangeable members: int64 arrays of equal length; ``node``: where they run now, -1: nowhere."""

    workload: Int64
    count: Int64
    node: Int64


def _ranges(compiled: Compiled) -> _Ranges:
    """What each node holds at least and at most, whoever stands where; H at most what the limit of the node allows."""
    num_nodes, num_resources = compiled.num_nodes, len(compiled.resources)
    slack = slack_beside(compiled)
    held = [r for r in range(num_resources) if (slack[:, r] < ENDLESS).any()]
    units = _units(compiled, apart=bool(held))
    first = compiled.first_option[units.workload]
    alike = (compiled.floor == compiled.floor[:, :1]).all(axis=(1, 2))  # the same on every kind of node
    plain = (compiled.first_option[units.workload + 1] == first + 1) & alike[first]
    low = np.zeros((num_nodes, num_resources), dtype=np.int64)
    high, needs = np.zeros_like(low), np.zeros(num_resources, dtype=np.int64)
    size = max(1, ENTRIES // max(1, num_nodes))
    chosen = np.nonzero(plain)[0]
    for begin in range(0, len(chosen), size):
        part = chosen[begin : begin + size]
        options = first[part]
        demand = compiled.floor[options, 0] * units.count[part, None]
        mask = compiled.eligible[options]
        for r in held:
            mask &= fits_beside(compiled.floor[options, 0, r][:, None], slack[:, r], units.node[part])
        number = mask.sum(axis=1)
        needs += demand[number > 0].sum(axis=0)
        high += demand[number == num_nodes].sum(axis=0)
        some = (number > 0) & (number < num_nodes)
        high += mask[some].T.astype(np.int64) @ demand[some]
        stuck = number == 1
        np.add.at(low, mask[stuck].argmax(axis=1), demand[stuck])
    for unit in np.nonzero(~plain)[0]:
        own = compiled.options_of(int(units.workload[unit]))
        floors = compiled.floor[own.start : own.stop][:, compiled.node_kind]  # [options, N, R]
        mask = compiled.eligible[own.start : own.stop].copy()
        for r in held:
            mask &= fits_beside(floors[:, :, r], slack[:, r], np.full(len(own), units.node[unit]))
        if not mask.any():
            continue  # no plan at all
        count = int(units.count[unit])
        least = np.where(mask[:, :, None], floors, ENDLESS).min(axis=0)
        needs += count * least.min(axis=0)
        high += count * np.where(mask[:, :, None], floors, 0).max(axis=0)
        nodes = np.nonzero(mask.any(axis=0))[0]
        if len(nodes) == 1:
            low[nodes[0]] += count * least[nodes[0]]
    limit = compiled.limit[compiled.node_domain]
    return _Ranges(low, np.where(limit >= 0, np.minimum(high, limit), high), needs.tolist())


def _units(compiled: Compiled, *, apart: bool) -> _Units:
    """Blocks when it matters where they run now, else whole classes."""
    if apart:
        rows = [(block.workload, block.count, block.current_node) for block in compiled.blocks]
    else:
        rows = [(workload.index, workload.count, -1) for workload in compiled.instance.workloads if workload.count]
    return _Units(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def fits_beside(floors: Int64, slack: Int64, now: Int64) -> Bool:
    """bool[rows, N]: floors within the slack, or no move at all. ``now``: int64[rows]."""
    fits: Bool = np.broadcast_to(floors <= slack, (len(now), len(slack))).copy()
    running = np.nonzero(now >= 0)[0]
    fits[running, now[running]] = True
    return fits


def slack_beside(compiled: Compiled, *, nodes_alone: bool = False) -> Int64:
    """int64[N, R]: room for who moves to a node beside all that runs at or below its ancestors now; endless: any.

    What runs now counts at the least floor it could have where it runs: it may stay in another mode.

    Parameters
    ----------
    nodes_alone : by the limits of the nodes themselves, not of their ancestors.
    """
    slack = np.full((compiled.num_nodes, len(compiled.resources)), ENDLESS, dtype=np.int64)
    if Family.TRANSIENT in compiled.model.ignore or not compiled.instance.current:
        return slack
    running = [(b.current_node, b.workload, b.count) for b in compiled.blocks if b.current_node >= 0]
    nodes, classes, counts = np.array(running, dtype=np.int64).reshape(-1, 3).T
    least = np.minimum.reduceat(compiled.floor, compiled.first_option[:-1], axis=0)  # by class
    use = np.zeros_like(slack)
    np.add.at(use, nodes, counts[:, None] * least[classes, compiled.node_kind[nodes]])
    prefix = np.vstack([np.zeros((1, use.shape[1]), dtype=np.int64), np.cumsum(use, axis=0)])
    below = prefix[compiled.end_node] - prefix[compiled.first_node]
    for r, name in enumerate(compiled.resources):
        if not compiled.instance.resources[name].transient or name == "power":
            continue
        limited = np.nonzero(compiled.limit[:, r] >= 0)[0]
        for domain in limited if not nodes_alone else limited[np.isin(limited, compiled.node_domain)]:
            part = slice(int(compiled.first_node[domain]), int(compiled.end_node[domain]))
            room = compiled.limit[domain, r] - below[domain, r]
            slack[part, r] = np.minimum(slack[part, r], room)
    return slack
