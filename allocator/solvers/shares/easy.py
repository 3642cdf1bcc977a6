"""Best shares without a linear program, where floors decide: level by level, each one's optimum is a set of floors.

Everybody as fast as can be, the least sum of response times by the square-root rule, the smallest worst response time,
or nothing above the floors. Owns when this is optimal; raises ``Hard`` otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.errors import InternalError
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.evaluation.use import LARGE
from allocator.solvers.shares.cohorts import Cohorts, spread_out
from allocator.solvers.shares.dependence import (
    RATE_GOALS,
    SPARING_GOALS,
    constant_part,
    keeps,
    kept_limit,
    share_goals,
)
from allocator.solvers.shares.full import fastest, full_totals
from allocator.solvers.shares.grants import Links, fair_grants, full_grants
from allocator.solvers.shares.room import Room
from allocator.solvers.shares.share_plan import SharePlan
from allocator.solvers.shares.square_root import NotNested, Queues, Row, best_shares, multipliers
from allocator.solvers.shares.worst import Targets

__all__ = ["Hard", "easy_shares", "queues_of", "unpriced"]

Int64 = npt.NDArray[np.int64]


class Hard(Exception):
    """Floors alone do not decide: levels trade shares against one another, or a limit is of another kind.

    Attributes
    ----------
    level : index of the first level that is left; the earlier ones are at their best from ``totals`` on.
    totals : least totals by entry.
    prices : of the first level that feels shares, if that is an earlier one.
    most : totals beyond which nothing is gained, where that is known.
    """

    def __init__(
        self, level: int, totals: Int64, prices: dict[tuple[int, str], float] | None, most: Int64 | None
    ) -> None:
        super().__init__(f"level {level} needs a linear program")
        self.level = level
        self.totals = totals
        self.prices = prices
        self.most = most


class _Undecided(Exception):
    """The level at hand needs more than floors. ``totals``: shares that are enough for everything that is left."""

    def __init__(self, totals: Int64 | None = None) -> None:
        super().__init__("more than floors")
        self.totals = totals


@dataclass
class _Walk:
    """Floors after the levels so far, and the prices of the first level that feels shares."""

    cohorts: Cohorts
    room: Room
    links: Links
    totals: Int64
    prices: dict[tuple[int, str], float] | None = None
    full: bool = False  # everybody is as fast as can be
    plain: Assignment = field(init=False)

    def __post_init__(self) -> None:
        self.plain = Assignment(dict(self.cohorts.counts))

    @property
    def compiled(self) -> Compiled:
        """The instance."""
        return self.cohorts.compiled


def easy_shares(cohorts: Cohorts, links: Links, reached: Sequence[Fraction]) -> SharePlan | None:
    """Best shares of the levels in order, None when none fit or none keep what was reached.

    Raises
    ------
    Hard
        when a linear program is needed.
    """
    compiled = cohorts.compiled
    room = Room(cohorts)
    walk = _Walk(cohorts, room, links, cohorts.least.copy())
    if not room.fits(walk.totals):
        return None
    levels = [(level, share_goals(compiled, level)) for level in compiled.model.levels]
    for index, (level, goals) in enumerate(levels):
        later = {goal.id for _, after in levels[index + 1 :] for goal in after}
        before = walk.totals.copy()
        try:
            kept = not goals or _raise_floors(walk, level, goals, reached[index : index + 1], later)
        except _Undecided as why:
            raise Hard(index, before if why.totals is None else why.totals, walk.prices, why.totals) from None
        if not kept:
            return None
    theta = full_grants(compiled, cohorts.counts) if walk.full else fair_grants(compiled, cohorts.counts)
    found = Assignment(dict(cohorts.counts), spread_out(cohorts, walk.totals), theta)
    if reached and not keeps(compiled, level_values(compiled, found), reached):
        return None
    return SharePlan(found, walk.prices or {})


def _raise_floors(walk: _Walk, level: Level, goals: list[Goal], known: Sequence[Fraction], later: set[GoalId]) -> bool:
    """Floors at which the level is at its best, or as good as it must be; False when what is known cannot be kept."""
    ids = {goal.id for goal in goals}
    if ids <= RATE_GOALS:
        compete = bool(later - RATE_GOALS)
        if compete and (known or not _needs_everybody(walk, ids)):
            raise _Undecided
        _as_fast_as_can_be(walk, alone=not compete)
    elif ids == {GoalId.P99} and not goals[0].worst:
        _least_sum(walk, goals[0], loose=bool(later) and bool(known))
    elif ids == {GoalId.P99}:
        return _least_worst(walk, level, goals[0], known if later else ())
    elif ids <= SPARING_GOALS and not later:
        walk.prices = walk.prices or {}
    else:
        raise _Undecided
    return True


def _needs_everybody(walk: _Walk, ids: set[GoalId]) -> bool:
    """Whether the level is at its best only when everybody is as fast as can be."""
    workloads = [workload for workload in walk.compiled.instance.workloads if workload.rate * workload.count > 0]
    if GoalId.THROUGHPUT in ids:
        return all(workload.weight > 0 for workload in workloads)
    placed: dict[int, int] = {}
    for cohort in walk.cohorts.cohorts:
        if fastest(walk.compiled, cohort)[0] == walk.compiled.instance.workloads[cohort.workload].rate:
            placed[cohort.workload] = placed.get(cohort.workload, 0) + cohort.count
    return all(placed.get(workload.index, 0) == workload.count for workload in workloads)


def _as_fast_as_can_be(walk: _Walk, *, alone: bool) -> None:
    totals = np.maximum(walk.totals, full_totals(walk.cohorts))
    if not walk.room.fits(totals):
        raise _Undecided
    if walk.links.short:
        raise _Undecided(totals if alone else None)
    walk.totals, walk.full = totals, True
    if walk.prices is None:
        walk.prices = unpriced(walk.room, walk.links)


def unpriced(room: Room, links: Links) -> dict[tuple[int, str], float]:
    """Price 0 for everything that limits something."""
    compiled = room.cohorts.compiled
    prices: dict[tuple[int, str], float] = {}
    for r in room.touched:
        for domain, left in enumerate(room.limits(r).tolist()):
            if left is not None:
                prices[domain, compiled.resources[r]] = 0.0
    for link in links.links:
        prices[link.domain, "internal" if link.side == "met" else "bandwidth"] = 0.0
    return prices


def _least_sum(walk: _Walk, goal: Goal, *, loose: bool) -> None:
    """Least sum of response times under capacities and power caps."""
    if loose:
        raise _Undecided
    compiled, prices = walk.compiled, unpriced(walk.room, walk.links)
    found = _queues_by_resource(walk.cohorts)
    for r, entries in found.items():
        if (compiled.pool_limit[:, r] >= 0).any():
            raise _Undecided  # at nodes under a pool the limits are not nested
        queues = queues_of(walk.cohorts, entries, walk.totals)
        if float((queues.most * queues.members.astype(np.float64)).sum()) > LARGE:
            raise _Undecided
        rows, names = _rows(walk, r, queues.node, alone=len(found) == 1)
        try:
            totals = best_shares(queues, rows)
            priced = multipliers(queues, rows) if walk.prices is None else []
        except NotNested:
            raise _Undecided from None
        walk.totals[entries] = np.maximum(walk.totals[entries], totals)
        for name, price in zip(names, priced, strict=False):
            unit = 1.0 if name[1] == "power" else 10.0 ** compiled.instance.resources[name[1]].exponent
            prices[name] = price / unit * float(goal.weight)
    if not walk.room.watts_fit(walk.totals):
        raise _Undecided
    if walk.prices is None:
        walk.prices = prices


def _rows(walk: _Walk, r: int, nodes: Int64, *, alone: bool) -> tuple[list[Row], list[tuple[int, str]]]:
    """Capacities and power caps above queues on nodes, inner ones first, and their names.

    ``alone``: only shares of this resource are open, so that power caps can be counted here.
    """
    compiled = walk.compiled
    _, used = walk.room.extra(walk.totals, r)
    limits = walk.room.limits(r).tolist()
    power = walk.room.power_rows if alone and any(cap is not None for cap in compiled.power_limit) else None
    power_left = {} if power is None else walk.room.power_left(walk.totals, power)
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


def queues_of(cohorts: Cohorts, entries: Sequence[int], totals: Int64) -> Queues:
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


def _least_worst(walk: _Walk, level: Level, goal: Goal, known: Sequence[Fraction]) -> bool:
    """Raise floors to the smallest worst response time, or to what the level may give away; False: cannot be kept."""
    targets = Targets(walk.cohorts, walk.room, walk.totals)
    best, totals = targets.best()
    if walk.prices is None:
        walk.prices = unpriced(walk.room, walk.links) | targets.prices(best, totals, float(goal.weight))
    if known:
        constant = constant_part(walk.compiled, walk.plain, level)
        allowed = (kept_limit(level, known[0]) - constant) / goal.weight
        loosest = targets.totals(allowed)
        if loosest is None or not walk.room.fits(loosest):
            return False
        totals = loosest
    walk.totals = totals
    return True
