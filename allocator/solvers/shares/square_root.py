"""Least sum of response times under nested capacities: shares in whole units, exactly optimal, and prices.

A member with q units waits k / (q - b), so the sum over n members falls with q by less and less. Where only one
capacity binds, the best slack q - b is in proportion to sqrt(k) (square-root assignment, Kleinrock 1976). In general a
unit goes to whom it gains most as long as every domain above has room: with nested capacities (a laminar family) that
greedy rule is optimal (Federgruen and Groenevelt 1986). Nearly all of it is done at once: bottom-up, each domain gets
the smallest marginal gain at which what is below it fits. Owns this rule alone; pools and power caps are not nested
capacities.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.shares.room import summed

__all__ = ["Queues", "best_shares", "multipliers"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
HALVINGS = 200


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


def best_shares(compiled: Compiled, queues: Queues, left: npt.NDArray[Any]) -> Int64:
    """Totals with the least sum of waits.

    ``left``: what every domain has above ``least``, Python integers, at least 0; None: no limit.
    """
    inside = _inside(compiled, queues, left)
    floor = queues.least * queues.members
    price = _prices(queues, inside, lambda at: (queues.whole(at) - queues.least) * queues.members, left)
    totals = floor + (queues.whole(price.of_queue) - queues.least) * queues.members
    room: dict[int, int] = {}
    for domain, members in inside:
        room[domain] = int(left[domain]) - sum((totals - floor)[members].tolist())
    above: list[list[int]] = [[] for _ in range(len(floor))]
    for domain, members in inside:
        for queue in members.tolist():
            above[queue].append(domain)
    _hand_out(queues, totals, room, above)
    return totals


def multipliers(compiled: Compiled, queues: Queues, left: npt.NDArray[Any]) -> dict[int, float]:
    """Price of every limited domain: what one more unit there would gain if shares were divisible."""
    inside = _inside(compiled, queues, left)
    floor = queues.least.astype(np.float64)
    found = _prices(queues, inside, lambda at: (queues.divisible(at) - floor) * queues.members, left)
    own = dict(found.of_domain)
    prices: dict[int, float] = {}
    effective: dict[int, float] = {}
    for domain in range(compiled.num_domains):  # preorder: what stands above is known
        inherited = effective.get(int(compiled.parent[domain]), 0.0)
        effective[domain] = max(inherited, own.get(domain, 0.0))
        if domain in own:
            prices[domain] = effective[domain] - inherited
    return prices


@dataclass(frozen=True)
class _Prices:
    of_queue: Float
    of_domain: tuple[tuple[int, float], ...]


def _inside(compiled: Compiled, queues: Queues, left: npt.NDArray[Any]) -> list[tuple[int, Int64]]:
    """Limited domains with the cohorts in them, the deepest first."""
    order = np.argsort(queues.node, kind="stable")
    nodes = queues.node[order]
    found = []
    for domain in range(compiled.num_domains - 1, -1, -1):  # preorder: children come after their parent
        if left[domain] is not None:
            first = np.searchsorted(nodes, compiled.first_node[domain])
            end = np.searchsorted(nodes, compiled.end_node[domain])
            if end > first:
                found.append((domain, order[first:end]))
    return found


def _prices(
    queues: Queues, inside: list[tuple[int, Int64]], extra: Callable[[Float], npt.NDArray[Any]], left: npt.NDArray[Any]
) -> _Prices:
    """Smallest price of every domain at which what is in it fits, given the prices below; bottom-up, by depth."""
    price = np.zeros(len(queues.node))
    highest = float(queues.gain(queues.least).max(initial=0.0)) * 2
    of_domain: list[tuple[int, float]] = []
    for batch in _disjoint(inside):
        members = np.concatenate([queues_in for _, queues_in in batch])
        sizes = [len(queues_in) for _, queues_in in batch]
        group = np.repeat(np.arange(len(batch)), sizes)
        limit = np.array([int(left[domain]) for domain, _ in batch], dtype=object)
        low, high = np.zeros(len(batch)), np.full(len(batch), highest)

        def fits(
            at: Float, members: Int64 = members, group: Int64 = group, limit: Any = limit
        ) -> npt.NDArray[np.bool_]:
            tried = price.copy()
            tried[members] = np.maximum(tried[members], at[group])
            used = extra(tried)[members]
            if used.dtype.kind == "f":
                total = np.bincount(group, weights=used, minlength=len(limit))
                fine: npt.NDArray[np.bool_] = total <= limit.astype(np.float64)
                return fine
            whole: npt.NDArray[np.bool_] = (summed(group, used, len(limit)) <= limit).astype(bool)
            return whole

        free = fits(low)
        open_ = ~free
        low = np.where(open_, np.maximum(low, np.finfo(float).tiny), 0.0)
        for _ in range(HALVINGS):
            middle = np.where(open_, np.sqrt(low) * np.sqrt(high), 0.0)
            moving = open_ & (middle > low) & (middle < high)
            if not moving.any():
                break
            fine = fits(np.where(moving, middle, high))
            high = np.where(moving & fine, middle, high)
            low = np.where(moving & ~fine, middle, low)
        found = np.where(open_, high, 0.0)
        price[members] = np.maximum(price[members], found[group])
        of_domain += [(domain, float(each)) for (domain, _), each in zip(batch, found, strict=True)]
    return _Prices(price, tuple(of_domain))


def _disjoint(inside: list[tuple[int, Int64]]) -> list[list[tuple[int, Int64]]]:
    """Batches of domains that do not overlap, so that each batch can be priced at once; inner ones earlier."""
    height: dict[int, int] = {}
    batches: dict[int, list[tuple[int, Int64]]] = {}
    for domain, members in inside:
        level = max((height.get(queue, 0) for queue in members.tolist()), default=0)
        batches.setdefault(level, []).append((domain, members))
        for queue in members.tolist():
            height[queue] = level + 1
    return [batches[level] for level in sorted(batches)]


def _hand_out(queues: Queues, totals: Int64, room: dict[int, int], above: list[list[int]]) -> None:
    """Give what is left to whom it gains most, a unit for each of its members at most at a time. Changes ``totals``."""
    heap: list[tuple[float, int]] = []
    number = queues.members.tolist()
    most = queues.most.tolist()

    def push(queue: int) -> None:
        units = int(totals[queue]) // number[queue]
        if units < most[queue] and all(room[domain] > 0 for domain in above[queue]):
            here = units - float(queues.busy[queue])
            there = min(float(units + 1), float(queues.full[queue])) - float(queues.busy[queue])
            gain = float(queues.cost[queue]) * (there - here) / (here * there)
            if gain > 0:
                heapq.heappush(heap, (-gain, queue))

    for queue in range(len(number)):
        push(queue)
    while heap:
        _, queue = heapq.heappop(heap)
        given = min([number[queue] - int(totals[queue]) % number[queue], *(room[domain] for domain in above[queue])])
        if given > 0:
            totals[queue] += given
            for domain in above[queue]:
                room[domain] -= given
            push(queue)
