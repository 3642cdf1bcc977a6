"""Least sum of response times under nested capacities: shares in whole units, exactly optimal, and prices.

A member with q units waits k / (q - b), so the sum over n members falls with q by less and less. Where only one
capacity binds, the best slack q - b is in proportion to sqrt(k) (square-root assignment, Kleinrock 1976). In general a
unit goes to whom it gains most as long as every domain above has room: with nested capacities (a laminar family) that
greedy rule is optimal (Federgruen and Groenevelt 1986). Nearly all of it is done at once: bottom-up, each limit gets
the smallest marginal gain at which what is below it fits. A cap of power is one more limit, in watts a unit; the rule
stands as long as limits that bind together weigh what they share in one proportion, and is then optimal up to the last
unit. Owns this rule alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.solvers.shares.room import summed

__all__ = ["NotNested", "Queues", "Row", "best_shares", "multipliers"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
HALVINGS = 200
PROPORTION = 1e-9


@dataclass(frozen=True)
class Queues:
    """Critical cohorts, all on one resource. Arrays [Q].

    Attributes
    ----------
    node, members : int64.
    least, most : int64, units of one member. More than ``most`` helps nobody.
    full : float64, usable units of a member with ``most``: less than it where ``parallel`` is no whole unit.
    cost, busy : float64; a member with q usable units waits cost / (q - busy).
    """

    node: Int64
    members: Int64
    least: Int64
    most: Int64
    full: Float
    cost: Float
    busy: Float

    def wait(self, units: Float) -> Float:
        """Weighted P99 of one member without its path delay."""
        waits: Float = self.cost / (np.minimum(units, self.full) - self.busy)
        return waits

    def gain(self, units: Int64) -> Float:
        """What the next unit of one member gains; 0 from ``most`` on."""
        here, there = units.astype(np.float64), (units + 1).astype(np.float64)
        used, more = np.minimum(here, self.full) - self.busy, np.minimum(there, self.full) - self.busy
        gains: Float = np.where(units < self.most, self.cost * (more - used) / (used * more), 0.0)
        return gains

    def whole(self, price: Float) -> Int64:
        """Units of one member each of which gains at least the price (one for each cohort)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(0.25 + np.where(self.cost > 0, self.cost / price, 0.0))
        wanted = np.floor(np.minimum(self.busy + 0.5 + root, self.most.astype(np.float64)))
        units = np.clip(wanted.astype(np.int64), self.least, self.most)
        # the last unit gains less where it is used in part only
        part = (units == self.most) & (self.full < self.most) & (units > self.least)
        last = self.gain(np.maximum(units - 1, self.least))
        return np.where(part & (last < price), units - 1, units)

    def divisible(self, price: Float) -> Float:
        """Real-valued units of one member at which its gain is the price."""
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.where(self.cost > 0, self.cost / price, 0.0))
        low = self.least.astype(np.float64)
        units: Float = np.clip(self.busy + root, low, np.maximum(np.minimum(self.most, self.full), low))
        return units


@dataclass(frozen=True)
class Row:
    """A limit on some cohorts: the sum of ``weight`` times the units above ``least`` is at most ``left``.

    Attributes
    ----------
    members : int64[k], indices of cohorts.
    weight : int64 or Python integers [k]; None: 1 each.
    left : at least 0.
    scale : what a weight of 1 is counted as in prices.
    """

    members: Int64
    weight: npt.NDArray[Any] | None
    left: int
    scale: float = 1.0

    @property
    def shown(self) -> Float:
        """Weights as floats, scaled."""
        if self.weight is None:
            return np.full(len(self.members), self.scale)
        return self.weight.astype(np.float64) * self.scale


class NotNested(Exception):
    """Two limits bind the same cohorts in different proportions: the greedy rule is not optimal."""


def best_shares(queues: Queues, rows: Sequence[Row]) -> Int64:
    """Totals with the least sum of waits.

    ``rows``: nested, inner ones first.

    Raises
    ------
    NotNested
        when two rows that bind weigh the same cohorts differently.
    """
    price = _prices(queues, rows, lambda at: (queues.whole(at) - queues.least) * queues.members)[0]
    extra = (queues.whole(price) - queues.least) * queues.members
    totals: Int64 = queues.least * queues.members + extra
    room: list[int] = []
    above: list[list[tuple[int, int]]] = [[] for _ in range(len(totals))]
    for index, row in enumerate(rows):
        weights = [1] * len(row.members) if row.weight is None else [int(weight) for weight in row.weight]
        used = sum(weight * amount for weight, amount in zip(weights, extra[row.members].tolist(), strict=True))
        room.append(row.left - used)
        for queue, weight in zip(row.members.tolist(), weights, strict=True):
            if weight > 0:
                above[queue].append((index, weight))
    _hand_out(queues, totals, room, above)
    return totals


def multipliers(queues: Queues, rows: Sequence[Row]) -> list[float]:
    """Price of every row: what a unit (times ``scale``) more of ``left`` would gain if shares were divisible."""
    floor = queues.least.astype(np.float64)
    _, own = _prices(queues, rows, lambda at: (queues.divisible(at) - floor) * queues.members)
    inherited = np.zeros(len(queues.node))
    prices = [0.0] * len(rows)
    for index in range(len(rows) - 1, -1, -1):  # outer ones first
        weights = rows[index].shown
        some = int(np.argmax(weights)) if len(weights) else 0
        if own[index] > 0:
            member = int(rows[index].members[some])
            prices[index] = max(0.0, own[index] - float(inherited[member]) / float(weights[some]))
            inherited[rows[index].members] += weights * prices[index]
    return prices


def _prices(
    queues: Queues, rows: Sequence[Row], extra: Callable[[Float], npt.NDArray[Any]]
) -> tuple[Float, list[float]]:
    """Smallest price of every row at which what it limits fits, given the prices of inner rows; and of every cohort."""
    price = np.zeros(len(queues.node))
    first_gain = queues.gain(queues.least)
    own = [0.0] * len(rows)
    bound: list[int] = []
    for batch in _disjoint(rows):
        members = np.concatenate([rows[index].members for index in batch])
        weights = np.concatenate([rows[index].shown for index in batch])
        group = np.repeat(np.arange(len(batch)), [len(rows[index].members) for index in batch])
        fits = _fitting([rows[index] for index in batch], group)
        with np.errstate(divide="ignore", invalid="ignore"):
            steepest = np.where(weights > 0, first_gain[members] / weights, 0.0)
        high = np.zeros(len(batch))
        np.maximum.at(high, group, 2 * steepest)

        def tried(
            at: Float, members: Int64 = members, weights: Float = weights, group: Int64 = group
        ) -> npt.NDArray[Any]:
            at_members = price.copy()
            at_members[members] = np.maximum(at_members[members], weights * at[group])
            return extra(at_members)[members]

        open_ = ~fits(tried(np.zeros(len(batch))))
        low = np.where(open_, np.finfo(float).tiny, 0.0)
        for _ in range(HALVINGS):
            middle = np.where(open_, np.sqrt(low) * np.sqrt(high), 0.0)
            moving = open_ & (middle > low) & (middle < high)
            if not moving.any():
                break
            fine = fits(tried(np.where(moving, middle, high)))
            high = np.where(moving & fine, middle, high)
            low = np.where(moving & ~fine, middle, low)
        found = np.where(open_, high, 0.0)
        price[members] = np.maximum(price[members], weights * found[group])
        for index, each in zip(batch, found.tolist(), strict=True):
            own[index] = each
            if each > 0:
                _require_proportion(rows, index, bound)
                bound.append(index)
    return price, own


def _fitting(rows: list[Row], group: Int64) -> Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]:
    """Test of which rows hold the units above ``least``: exactly for whole units, nearly for divisible ones."""
    left = np.array([row.left for row in rows], dtype=object)
    plain = all(row.weight is None for row in rows)
    weight = np.concatenate([np.ones(len(r.members), dtype=np.int64) if r.weight is None else r.weight for r in rows])
    shown = weight.astype(np.float64)
    near = left.astype(np.float64)

    def fits(used: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        if used.dtype.kind == "f":
            total = np.bincount(group, weights=used * shown, minlength=len(left))
            fine: npt.NDArray[np.bool_] = total <= near
            return fine
        amounts = used if plain else used.astype(object) * weight
        whole: npt.NDArray[np.bool_] = (summed(group, amounts, len(left)) <= left).astype(bool)
        return whole

    return fits


def _require_proportion(rows: Sequence[Row], index: int, bound: list[int]) -> None:
    """Raise unless a row that binds weighs the cohorts of each inner row that binds in one proportion."""
    weight_of = dict(zip(rows[index].members.tolist(), rows[index].shown.tolist(), strict=True))
    for other in bound:
        shared = [
            (weight_of[queue], weight)
            for queue, weight in zip(rows[other].members.tolist(), rows[other].shown.tolist(), strict=True)
            if queue in weight_of
        ]
        ratios = [mine / theirs if theirs else 0.0 for mine, theirs in shared]
        if ratios and max(ratios) - min(ratios) > PROPORTION * max(ratios):
            raise NotNested


def _disjoint(rows: Sequence[Row]) -> list[list[int]]:
    """Batches of rows that do not overlap, so that each batch can be priced at once; inner ones earlier."""
    height: dict[int, int] = {}
    batches: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        members = row.members.tolist()
        level = max((height.get(queue, 0) for queue in members), default=0)
        batches.setdefault(level, []).append(index)
        height.update(dict.fromkeys(members, level + 1))
    return [batches[level] for level in sorted(batches)]


def _hand_out(queues: Queues, totals: Int64, room: list[int], above: list[list[tuple[int, int]]]) -> None:
    """Give what is left to whom it gains most, a unit for each of its members at most at a time. Changes ``totals``."""
    heap: list[tuple[float, int]] = []
    number = queues.members.tolist()
    most = queues.most.tolist()

    def push(queue: int) -> None:
        units = int(totals[queue]) // number[queue]
        if units < most[queue] and all(room[row] >= weight for row, weight in above[queue]):
            here = units - float(queues.busy[queue])
            there = min(float(units + 1), float(queues.full[queue])) - float(queues.busy[queue])
            gain = float(queues.cost[queue]) * (there - here) / (here * there)
            if gain > 0:
                heapq.heappush(heap, (-gain, queue))

    for queue in range(len(number)):
        push(queue)
    while heap:
        _, queue = heapq.heappop(heap)
        step = number[queue] - int(totals[queue]) % number[queue]
        given = min([step, *(room[row] // weight for row, weight in above[queue])])
        if given > 0:
            totals[queue] += given
            for row, weight in above[queue]:
                room[row] -= given * weight
            push(queue)
