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
Integers = npt.NDArray[Any]  # int64, or Python integers where these could overflow
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

    ``rows``: nested, inner ones first. What is best under inner rows alone is a ceiling for what is best with outer
    ones, since these only stop gains earlier.

    Raises
    ------
    NotNested
        when two rows that bind weigh the same cohorts differently.
    """
    least: Int64 = queues.least * queues.members
    totals: Int64 = queues.whole(np.zeros(len(least))) * queues.members
    bound: list[list[int]] = [[] for _ in range(len(totals))]
    for batch in _batches(queues, rows):

        def used(at: Float, batch: _Batch = batch, most: Int64 = totals) -> Int64:
            extra: Int64 = np.minimum(queues.whole(at) * queues.members, most) - least
            return extra[batch.members]

        found = batch.search(used)
        price = np.zeros(len(totals))
        price[batch.members] = batch.weights * found[batch.group]
        before = totals
        totals = np.where(price > 0, np.minimum(queues.whole(price) * queues.members, totals), totals)
        for index, each in zip(batch.index, found.tolist(), strict=True):
            if each > 0:
                _require_proportion(rows, index, bound)
                _hand_out(queues, rows[index], least, totals, before)
    return totals


def multipliers(queues: Queues, rows: Sequence[Row]) -> list[float]:
    """Price of every row: what a unit (times ``scale``) more of ``left`` would gain if shares were divisible."""
    floor = queues.least.astype(np.float64)
    price = np.zeros(len(floor))
    own = [0.0] * len(rows)
    for batch in _batches(queues, rows):

        def used(at: Float, batch: _Batch = batch) -> Float:
            extra: Float = (queues.divisible(np.maximum(price, at)) - floor) * queues.members
            return extra[batch.members]

        found = batch.search(used)
        price[batch.members] = np.maximum(price[batch.members], batch.weights * found[batch.group])
        for index, each in zip(batch.index, found.tolist(), strict=True):
            own[index] = each
    inherited = np.zeros(len(floor))
    prices = [0.0] * len(rows)
    for index in range(len(rows) - 1, -1, -1):  # outer ones first
        weights = rows[index].shown
        some = int(np.argmax(weights)) if len(weights) else 0
        if own[index] > 0:
            member = int(rows[index].members[some])
            prices[index] = max(0.0, own[index] - float(inherited[member]) / float(weights[some]))
            inherited[rows[index].members] += weights * prices[index]
    return prices


@dataclass(frozen=True)
class _Batch:
    """Rows that do not overlap, to be priced at once.

    Attributes
    ----------
    index : of the rows.
    members, weights, exact, group : of all entries of the rows: cohort, weight as a float and exactly, and row.
    left : of the rows, Python integers.
    highest : of the rows, a price at which nobody gains.
    """

    index: list[int]
    members: Int64
    weights: Float
    exact: Integers
    group: Int64
    left: Integers
    highest: Float
    size: int

    def search(self, used: Callable[[Float], Integers]) -> Float:
        """Smallest price of every row that it holds what is ``used`` at; 0 where it binds nothing."""

        def fits(at: Float) -> npt.NDArray[np.bool_]:
            price = np.zeros(self.size)
            price[self.members] = self.weights * at[self.group]
            return self._fits(used(price))

        number = len(self.index)
        open_ = ~fits(np.zeros(number))
        low = np.where(open_, np.finfo(float).tiny, 0.0)
        high = self.highest.copy()
        for _ in range(HALVINGS):
            middle = np.where(open_, np.sqrt(low) * np.sqrt(high), 0.0)
            moving = open_ & (middle > low) & (middle < high)
            if not moving.any():
                break
            fine = fits(np.where(moving, middle, high))
            high = np.where(moving & fine, middle, high)
            low = np.where(moving & ~fine, middle, low)
        return np.where(open_, high, 0.0)

    def _fits(self, used: Integers) -> npt.NDArray[np.bool_]:
        """Which rows hold units above ``least``: exactly for whole units, nearly for divisible ones."""
        number = len(self.index)
        if used.dtype.kind == "f":
            total = np.bincount(self.group, weights=used * self.exact.astype(np.float64), minlength=number)
            fine: npt.NDArray[np.bool_] = total <= self.left.astype(np.float64)
            return fine
        plain = self.exact.dtype != object
        amounts = used * self.exact if plain else used.astype(object) * self.exact
        whole: npt.NDArray[np.bool_] = (summed(self.group, amounts, number) <= self.left).astype(bool)
        return whole


def _batches(queues: Queues, rows: Sequence[Row]) -> list[_Batch]:
    """Rows by how many stand on inner ones."""
    first_gain = queues.gain(queues.least)
    found = []
    for batch in _disjoint(rows):
        mine = [rows[index] for index in batch]
        members = np.concatenate([row.members for row in mine])
        weights = np.concatenate([row.shown for row in mine])
        ones = [np.ones(len(row.members), dtype=np.int64) if row.weight is None else row.weight for row in mine]
        group = np.repeat(np.arange(len(mine)), [len(row.members) for row in mine])
        left = np.array([row.left for row in mine], dtype=object)
        with np.errstate(divide="ignore", invalid="ignore"):
            steepest = np.where(weights > 0, first_gain[members] / weights, 0.0)
        highest = np.zeros(len(mine))
        np.maximum.at(highest, group, 2 * steepest)
        found.append(_Batch(batch, members, weights, np.concatenate(ones), group, left, highest, len(first_gain)))
    return found


def _require_proportion(rows: Sequence[Row], index: int, bound: list[list[int]]) -> None:
    """Raise unless a row that binds weighs the cohorts of each inner row that binds in one proportion.

    ``bound``: rows that bind, by cohort; the row is added.
    """
    row = rows[index]
    members = row.members.tolist()
    inner = dict.fromkeys(other for queue in members for other in bound[queue])
    if inner:
        weights = np.zeros(len(bound))
        weights[row.members] = row.shown
        for other in inner:
            theirs = rows[other].shown
            counted = theirs > 0
            ratios = weights[rows[other].members][counted] / theirs[counted]
            if np.ptp(ratios) > PROPORTION * ratios.max():
                raise NotNested
    for queue in members:
        bound[queue].append(index)


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


def _hand_out(queues: Queues, row: Row, least: Int64, totals: Int64, most: Int64) -> None:
    """Give what a row has left to whom it gains most, a unit for each member at most at a time. Changes ``totals``.

    ``most``: ceilings of the totals.
    """
    members = row.members.tolist()
    weights = [1] * len(members) if row.weight is None else [int(weight) for weight in row.weight]
    used = (totals - least)[row.members].tolist()
    room = row.left - sum(weight * amount for weight, amount in zip(weights, used, strict=True))
    weight_of = dict(zip(members, weights, strict=True))
    heap: list[tuple[float, int]] = []

    def push(queue: int) -> None:
        if 0 < weight_of[queue] <= room and totals[queue] < most[queue]:
            units = int(totals[queue]) // int(queues.members[queue])
            here = units - float(queues.busy[queue])
            there = min(float(units + 1), float(queues.full[queue])) - float(queues.busy[queue])
            gain = float(queues.cost[queue]) * (there - here) / (here * there)
            if gain > 0:
                heapq.heappush(heap, (-gain, queue))

    for queue in members:
        push(queue)
    while heap:
        _, queue = heapq.heappop(heap)
        number = int(queues.members[queue])
        given = min(number - int(totals[queue]) % number, int(most[queue] - totals[queue]), room // weight_of[queue])
        if given > 0:
            totals[queue] += given
            room -= given * weight_of[queue]
            push(queue)
