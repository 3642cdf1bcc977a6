"""Members of a placement that are alike, merged: what shares are decided for.

A cohort stands on one node in one mode, waits for the same flows where these can run short, and has one path delay.
Members of a cohort are exchangeable, so that an even split is as good as any (all goals are convex in shares). Owns
cohorts and the range of their shares. Must not know goals' values or how shares are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.evaluation.delays import path_delays
from allocator.solvers.evaluation.loads import FlowKey
from allocator.solvers.evaluation.response import Server, is_critical, least_units, server_of
from allocator.solvers.evaluation.use import Counts
from allocator.solvers.shares.grants import Links

__all__ = ["Cohort", "Cohorts", "cohorts_of", "spread_out"]

Int64 = npt.NDArray[np.int64]
Spot = tuple[int, int, int]
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Cohort:
    """``count`` members on ``spots``.

    Attributes
    ----------
    flows : those whose grants may have to stay below 1, of all its members.
    delay : D, s; 0 where it decides nothing.
    server : of a critical class under the goal ``p99``, else None.
    ranges : by resource that may exceed its floor, (least, most) units of one member; equal where nothing is open.
    """

    option: int
    node: int
    workload: int
    count: int
    spots: tuple[Spot, ...]
    flows: tuple[FlowKey, ...]
    delay: Fraction
    server: Server | None
    ranges: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Cohorts:
    """All cohorts and one entry for each (cohort, resource) that may exceed its floor.

    ``owner``, ``resource``, ``node``, ``members``, ``floor``, ``least``, ``most``: int64[V]; the last three are totals
    of the cohort, ``most`` no more than ``least`` plus what the nearest limit could hold.
    """

    compiled: Compiled
    counts: Counts
    cohorts: tuple[Cohort, ...]
    owner: Int64
    resource: Int64
    node: Int64
    members: Int64
    floor: Int64
    least: Int64
    most: Int64

    @property
    def num_entries(self) -> int:
        """V."""
        return len(self.owner)

    def entry_of(self) -> dict[tuple[int, int], int]:
        """Entry of (cohort, resource)."""
        return {key: index for index, key in enumerate(zip(self.owner.tolist(), self.resource.tolist(), strict=True))}


def cohorts_of(compiled: Compiled, counts: Counts, links: Links) -> Cohorts | None:
    """Merge the members of a placement; None when one of them can never have the compute it needs."""
    delays = path_delays(compiled, counts) if _delays_matter(compiled) else {}
    late = [workload.slo.p99 is not None or workload.slo.critical for workload in compiled.instance.workloads]
    limiting = links.limiting_flows(compiled)
    merged: dict[tuple[int, int, tuple[FlowKey, ...], Fraction], list[Spot]] = {}
    workload_of: list[int] = compiled.option_workload.tolist()
    for spot, count in counts.items():
        block, option, node = spot
        if count:
            delay = delays.get(block, ZERO) if late[workload_of[option]] else ZERO
            merged.setdefault((option, node, limiting.get(block, ()), delay), []).append(spot)
    uses = [
        [r for r in range(len(compiled.resources)) if compiled.uses_shares(workload.index, r)]
        for workload in compiled.instance.workloads
    ]
    critical = [is_critical(compiled, workload.index) for workload in compiled.instance.workloads]
    kinds: list[int] = compiled.node_kind.tolist()
    servers: dict[tuple[int, int], Server | None] = {}
    needed: dict[tuple[int, int, Fraction], int | None] = {}
    known: dict[tuple[int, int, Fraction], dict[int, tuple[int, int]] | None] = {}
    found: list[Cohort] = []
    entries: list[tuple[int, int, int, int, int, int, int]] = []
    for (option, node, flows, delay), spots in merged.items():
        workload = workload_of[option]
        where = option, kinds[node]
        if where not in servers:
            servers[where] = server_of(compiled, *where)
        server = servers[where]
        key = option, node, delay
        if key not in known:
            units = *where, delay
            if units not in needed:
                needed[units] = least_units(compiled, *units)
            known[key] = _ranges(compiled, option, node, uses[workload], server=server, needed=needed[units])
        ranges = known[key]
        if ranges is None:
            return None
        count = sum(counts[spot] for spot in spots)
        for r, (least, most) in ranges.items():
            floor = int(compiled.floor[option, kinds[node], r]) * count
            top = least * count + min((most - least) * count, _nearest_limit(compiled, node, r))
            if top > floor:
                entries.append((len(found), r, node, count, floor, least * count, top))
        found.append(
            Cohort(
                option,
                node,
                workload,
                count,
                tuple(spots),
                flows,
                delay,
                server if critical[workload] else None,
                ranges,
            )
        )
    table = np.array(entries, dtype=np.int64).reshape(-1, 7)
    return Cohorts(compiled, counts, tuple(found), *(table[:, column] for column in range(7)))


def _delays_matter(compiled: Compiled) -> bool:
    """Whether path delays decide shares: for targets, and for the worst response time."""
    worst = any(goal.id is GoalId.P99 and goal.worst for level in compiled.model.levels for goal in level.goals)
    targets = any(workload.slo.p99 is not None for workload in compiled.instance.workloads)
    return worst or (targets and Family.SLO not in compiled.model.ignore)


def _ranges(
    compiled: Compiled, option: int, node: int, uses: list[int], *, server: Server | None, needed: int | None
) -> dict[int, tuple[int, int]] | None:
    """Least and most units of one member; None when it can never have what it needs."""
    if needed is None:
        return None
    kind = compiled.node_kind[node]
    ranges = {}
    for r in uses:
        least, most = int(compiled.floor[option, kind, r]), compiled.ceiling_of(option, node, r)
        if server is not None and server.resource == r:
            least = max(least, needed)
            if needed > most:
                return None
        ranges[r] = least, most
    return ranges


def _nearest_limit(compiled: Compiled, node: int, r: int) -> int:
    """More units than a node can ever hold of a resource; 2^61 where nothing says."""
    domain = int(compiled.node_domain[node])
    while domain >= 0:
        for limits in (compiled.limit, compiled.pool_limit):
            if limits[domain, r] >= 0:
                own = max(0, int(compiled.capacity[compiled.node_domain[node], r]))
                return int(limits[domain, r]) + own
        domain = int(compiled.parent[domain])
    return 2**61


def spread_out(cohorts: Cohorts, totals: Int64) -> dict[tuple[int, int, int, int], int]:
    """Totals by spot and resource of totals by entry: evenly over the members, the remainder one unit each."""
    counts = cohorts.counts
    shares: dict[tuple[int, int, int, int], int] = {}
    entries = zip(
        cohorts.owner.tolist(), cohorts.resource.tolist(), cohorts.floor.tolist(), totals.tolist(), strict=True
    )
    for owner, r, floor, total in entries:
        if total <= floor:
            continue
        cohort = cohorts.cohorts[owner]
        each, more = divmod(total, cohort.count)
        least = floor // cohort.count
        for spot in cohort.spots:
            members = counts[spot]
            extra = min(more, members)
            more -= extra
            if each > least or extra:
                shares[*spot, r] = each * members + extra
    return shares
