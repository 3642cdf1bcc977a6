"""Critical cohorts as queues, and the capacities and power caps above them as rows (see ``square_root``).

Owns the way from a placement to them. Must not know levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from allocator.errors import InternalError
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.evaluation.use import LARGE
from allocator.solvers.shares.cohorts import Cohorts
from allocator.solvers.shares.room import Room
from allocator.solvers.shares.square_root import NotNested, Queues, Row, best_shares, multipliers

__all__ = ["divide_best"]

Int64 = npt.NDArray[np.int64]


def divide_best(room: Room, totals: Int64, *, priced: bool) -> tuple[Int64, dict[tuple[int, str], float]]:
    """Give what is left above totals to critical cohorts, for the least sum of response times; and prices.

    Raises
    ------
    NotNested
        when the limits are of a kind that the greedy rule cannot decide.
    """
    cohorts, compiled = room.cohorts, room.cohorts.compiled
    totals = totals.copy()
    prices: dict[tuple[int, str], float] = {}
    found = _queues_by_resource(cohorts)
    for r, entries in found.items():
        if (compiled.pool_limit[:, r] >= 0).any():
            raise NotNested  # at nodes under a pool the limits are not nested
        queues = _queues(cohorts, entries, totals)
        if float((queues.most * queues.members.astype(np.float64)).sum()) > LARGE:
            raise NotNested
        rows, names = _rows_above(room, totals, r, queues.node, alone=len(found) == 1)
        divided = best_shares(queues, rows)
        for name, price in zip(names, multipliers(queues, rows) if priced else (), strict=False):
            unit = 1.0 if name[1] == "power" else 10.0 ** compiled.instance.resources[name[1]].exponent
            prices[name] = price / unit
        totals[entries] = np.maximum(totals[entries], divided)
    if not room.watts_fit(totals):
        raise NotNested
    return totals, prices


def _rows_above(
    room: Room, totals: Int64, r: int, nodes: Int64, *, alone: bool
) -> tuple[list[Row], list[tuple[int, str]]]:
    """Capacities and power caps above queues on nodes, inner ones first, and their names.

    ``alone``: only shares of this resource are open, so that power caps can be counted here.
    """
    compiled = room.cohorts.compiled
    _, used = room.extra(totals, r)
    limits = room.limits(r).tolist()
    power = room.power_rows if alone and any(cap is not None for cap in compiled.power_limit) else None
    power_left = {} if power is None else room.power_left(totals, power)
    order = np.argsort(nodes, kind="stable")
    first = np.searchsorted(nodes[order], compiled.first_node)
    end = np.searchsorted(nodes[order], compiled.end_node)
    rows: list[Row] = []
    names: list[tuple[int, str]] = []
    for domain in range(compiled.num_domains - 1, -1, -1):  # preorder: children come after their parent
        members = order[first[domain] : end[domain]]
        if not len(members):
            continue
        limit = limits[domain]
        if limit is not None:
            rows.append(Row(members, None, limit - int(used[domain])))
            names.append((domain, compiled.resources[r]))
        if power is not None and domain in power_left:
            weight = np.where(power.driver[nodes[members]] == r, power.weight[nodes[members]], 0)
            rows.append(Row(members, weight, power_left[domain], 1 / power.scale))
            names.append((domain, "power"))
    return rows, names


def _queues_by_resource(cohorts: Cohorts) -> dict[int, list[int]]:
    """Entries of critical cohorts by their compute resource."""
    found: dict[int, list[int]] = {}
    for entry, (owner, r) in enumerate(zip(cohorts.owner.tolist(), cohorts.resource.tolist(), strict=True)):
        server = cohorts.cohorts[owner].server
        if server is not None and server.resource == r:
            found.setdefault(r, []).append(entry)
    return found


def _queues(cohorts: Cohorts, entries: Sequence[int], totals: Int64) -> Queues:
    """Queues of critical entries, starting from totals."""
    index = np.array(entries, dtype=np.int64)
    members = cohorts.members[index]
    least = totals[index] // members
    most, full, cost, busy = [], [], [], []
    for entry, low in zip(entries, least.tolist(), strict=True):
        cohort = cohorts.cohorts[int(cohorts.owner[entry])]
        server = cohort.server
        if server is None:
            raise InternalError("shares of a cohort that no response time counts of")
        usable = server.parallel / server.unit
        ceiling = -(-int(cohorts.most[entry]) // cohort.count)
        most.append(
            max(low, min(cohort.ranges[server.resource][1], ceiling, -(-usable.numerator // usable.denominator)))
        )
        full.append(float(min(usable, most[-1])))
        cost.append(float(server.weight * LN_100 * server.work / server.unit))
        busy.append(float(server.rate * server.work / server.unit))
    return Queues(
        cohorts.node[index],
        members,
        least,
        np.array(most, dtype=np.int64),
        np.array(full),
        np.array(cost),
        np.array(busy),
    )
