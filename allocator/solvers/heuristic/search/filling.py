"""Filling for levels where only who stands counts: what the kernels ask beside the problem, and calls of them.

Knows no clock and no level of a model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.budget import Budget
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import Problem
from allocator.solvers.heuristic.kernels.refill import refill
from allocator.solvers.heuristic.kernels.tables import Table
from allocator.solvers.heuristic.search.walker import Walker

__all__ = ["Filling", "Supply", "orders_of", "places_alike", "supply_of"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

ENOUGH = 2**60
CHUNK = 512  # items seated between looks at the clock
NOBODY = np.zeros(0, dtype=np.int64)
ANY = np.zeros(0)
PLACES_DIFFER = (
    at.TRAFFIC | at.LINKS | at.COSTS | at.MACHINES | at.MOVING | at.OPENING | at.WATTS | at.P99 | at.BALANCED
)


@dataclass(frozen=True)
class Supply:
    """What there is and how scarce it is.

    ``room`` : int64[D, R], what a domain has in all, 0 where unlimited or nothing. ``scarcity`` : float64[R], asked for
    over there. ``cost`` : float64[W], scarce room that a member takes, in parts of what there is.
    """

    room: Int
    scarcity: Float
    cost: Float


def supply_of(problem: Problem) -> Supply:
    """What there is and how scarce it is to those whose placement counts."""
    resources, kinds = int(problem.sizes[at.RESOURCES]), int(problem.sizes[at.KINDS])
    limit = problem.limit[:, :resources]
    own = np.where(limit[problem.leaf] < ENOUGH, limit[problem.leaf], 0)
    summed = np.concatenate([np.zeros((1, resources), dtype=np.int64), np.cumsum(own, axis=0)])
    below = summed[problem.end] - summed[problem.first]
    stated = limit < ENOUGH
    room = np.where(stated, np.where((below > 0) & (below < limit), below, limit), below)
    number = np.bincount(problem.workload, minlength=len(problem.first_option) - 1)
    need = np.zeros((len(number), resources))
    rows = problem.need[:, :resources].reshape(-1, kinds, resources)
    present = np.bincount(problem.kind, minlength=kinds) > 0
    for w in range(len(number)):
        offered = rows[problem.first_option[w] : problem.first_option[w + 1]][:, present]
        if offered.size:
            need[w] = offered.reshape(-1, resources).min(axis=0)
    # limits at several levels of the tree: what all outermost ones allow
    total = _outermost(problem, room, stated)
    counted = number * ((problem.value > 0) | (problem.size > 0))
    scarcity = np.where(total > 0, (counted[:, None] * need).sum(axis=0) / np.maximum(1, total), 0.0)
    part = need / np.maximum(1, total)
    cost = (part * scarcity).sum(axis=1)
    return Supply(np.ascontiguousarray(room), scarcity, np.maximum(cost, 1e-12))


def _outermost(problem: Problem, room: Int, stated: npt.NDArray[np.bool_]) -> Float:
    """Summed limits of the outermost domains that state one, by resource."""
    total = np.zeros(room.shape[1])
    for c in range(room.shape[1]):
        covered = 0
        domains = np.nonzero(stated[:, c] & (problem.end > problem.first))[0]
        order = np.lexsort((-problem.end[domains], problem.first[domains]))
        for d in domains[order]:
            if problem.first[d] >= covered:
                total[c] += float(room[d, c])
                covered = int(problem.end[d])
    return total


def places_alike(problem: Problem) -> bool:
    """Whether it counts who stands, but not where."""
    soft = (problem.soft_weight != 0).any()
    return not int(problem.sizes[at.FLAGS]) & PLACES_DIFFER and not soft


def orders_of(problem: Problem, supply: Supply) -> tuple[Int, ...]:
    """Orders to fill in: gangs and large ones first, or who brings most for what it takes; who counts nothing last."""
    w = problem.workload
    gain = np.maximum(problem.value, problem.size)
    size = np.ones(len(w))
    units = problem.unit >= 0
    size[units] = np.diff(problem.unit_start)[problem.unit[units]]
    idle = gain[w] <= 0
    item = np.arange(len(w))
    large = np.lexsort((item, -gain[w], -supply.cost[w], -size, idle))
    dense = np.lexsort((item, -size, -(gain / supply.cost)[w], -np.minimum(size, 2), idle))
    return large.astype(np.int64), dense.astype(np.int64)


class Filling:
    """Calls of the kernel ``refill`` for one problem. ``counts``: int64[3], tried, taken, improving."""

    def __init__(self, problem: Problem, table: Table) -> None:
        self.problem = problem
        self.alike = places_alike(problem)
        self.teams = bool((problem.unit_gang == 0).any())
        self.counts = np.zeros(3, dtype=np.int64)
        self._table = table
        self._supply = supply_of(problem)

    def orders(self) -> tuple[Int, ...]:
        """See ``orders_of``."""
        return orders_of(self.problem, self._supply)

    def fill(self, walker: Walker, order: Int, budget: Budget) -> None:
        """Seat who is left in an order, until the time is over."""
        left = order[walker.state.where[order] < 0]
        for begin in range(0, len(left), CHUNK):
            if budget.exhausted:
                return
            self._run(walker, 1, ANY, 0.0, 0, order=left[begin : begin + CHUNK])

    def refill(self, walker: Walker, level: int, caps: Float, heat: float, rounds: int) -> None:
        """Empty domains and fill them anew, see ``refill``."""
        self._run(walker, level, caps, heat, rounds, order=NOBODY)

    def _run(self, walker: Walker, level: int, caps: Float, heat: float, rounds: int, *, order: Int) -> None:
        supply = self._supply
        counts = np.zeros(3, dtype=np.int64)  # walks side by side each have their own
        refill(
            self._table,
            walker.table,
            level,
            caps,
            heat,
            rounds,
            supply.room,
            supply.scarcity,
            supply.cost,
            order,
            counts,
        )
        self.counts += counts
