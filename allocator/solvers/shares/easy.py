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
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.shares.cohorts import Cohorts, spread_out
from allocator.solvers.shares.critical import divide_best
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
from allocator.solvers.shares.square_root import NotNested
from allocator.solvers.shares.worst import Targets

__all__ = ["Hard", "easy_shares", "unpriced"]

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
    _use_the_rest(walk)
    theta = full_grants(compiled, cohorts.counts) if walk.full else fair_grants(compiled, cohorts.counts)
    found = Assignment(dict(cohorts.counts), spread_out(cohorts, walk.totals), theta)
    if reached and not keeps(compiled, level_values(compiled, found), reached):
        return None
    return SharePlan(found, walk.prices or {})


def _use_the_rest(walk: _Walk) -> None:
    """Let everybody be as fast as can be where that fits and no goal has anything against it."""
    felt = {goal.id for level in walk.compiled.model.levels for goal in share_goals(walk.compiled, level)}
    if walk.compiled.model.has_rate_goals and felt <= RATE_GOALS | {GoalId.P99} and not walk.full:
        totals = np.maximum(walk.totals, full_totals(walk.cohorts))
        if walk.room.fits(totals):
            walk.totals = totals


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
    try:
        walk.totals, found = divide_best(walk.room, walk.totals, priced=walk.prices is None)
    except NotNested:
        raise _Undecided from None
    if walk.prices is None:
        walk.prices = unpriced(walk.room, walk.links)
        walk.prices.update({name: price * float(goal.weight) for name, price in found.items()})


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
