"""Goal ``p99: worst`` of a fixed placement: the smallest T that everybody's weighted P99 can keep, in whole units.

A T is a floor of compute for each member (equation 13); floors fall as T grows, so bisection finds it, in floats first
and exactly at the end. Owns these floors. Must not know other goals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from allocator.solvers.evaluation.response import LN_100, Server
from allocator.solvers.shares.cohorts import Cohorts
from allocator.solvers.shares.room import Room

__all__ = ["Targets"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
HALVINGS = 120
STEPS = 200


@dataclass(frozen=True)
class _Queue:
    """A critical cohort: its entry (None: its share is fixed), units of one member, and exact numbers."""

    entry: int | None
    server: Server
    members: int
    least: int
    most: int
    delay: Fraction

    def value(self, units: int) -> Fraction:
        """Weighted P99 of a member, s."""
        return self.server.weight * (self.server.wait(units) + self.delay)

    def needed(self, target: Fraction) -> int | None:
        """Units of one member that keep the target; None when no share does."""
        if not self.server.weight:
            return self.least
        units = self.server.least(target / self.server.weight - self.delay)
        return None if units is None or units > self.most else max(units, self.least)


@dataclass(frozen=True)
class Targets:
    """Floors that a common bound on weighted response times means, above given ``base`` totals."""

    cohorts: Cohorts
    room: Room
    base: Int64

    @cached_property
    def queues(self) -> list[_Queue]:
        """Critical cohorts."""
        entry_of = self.cohorts.entry_of()
        found = []
        for index, cohort in enumerate(self.cohorts.cohorts):
            server = cohort.server
            if server is None:
                continue
            entry = entry_of.get((index, server.resource))
            least, most = cohort.ranges[server.resource]
            if entry is None:
                most = least
            else:
                least = max(least, int(self.base[entry]) // cohort.count)
                most = max(least, min(most, -(-server.parallel // server.unit)))
            found.append(_Queue(entry, server, cohort.count, least, most, cohort.delay))
        return found

    def totals(self, target: Fraction) -> Int64 | None:
        """Least totals at which no weighted P99 exceeds the target; None when a member cannot have enough."""
        units = [queue.needed(target) for queue in self.queues]
        if any(each is None for each in units):
            return None
        return self._with([each for each in units if each is not None])

    def _with(self, units: list[int]) -> Int64:
        totals = self.base.copy()
        for queue, each in zip(self.queues, units, strict=True):
            if queue.entry is not None:
                totals[queue.entry] = max(int(totals[queue.entry]), each * queue.members)
        return totals

    def best(self) -> tuple[Fraction, Int64]:
        """The smallest target that can be kept, and the least totals that keep it. ``base`` must fit."""
        if not self.queues:
            return Fraction(0), self.base
        reachable = max(queue.value(queue.most) for queue in self.queues)
        totals = self.totals(reachable)
        if totals is not None and self.room.fits(totals):
            return reachable, totals
        target = self._near()
        for step in range(64):
            totals = self.totals(target)
            if totals is not None and self.room.fits(totals):
                break
            target *= 1 + Fraction(2**step, 10**13)
        else:
            target, totals = max(queue.value(queue.least) for queue in self.queues), self.base
        return self._settle(target)

    def _near(self) -> Fraction:
        """Smallest target that fits, in floats."""
        shown = [
            (q, float(q.server.work / q.server.unit), float(q.server.rate), float(q.server.weight)) for q in self.queues
        ]
        heavy = [row for row in shown if row[3] > 0]
        weight, rate = np.array([row[3] for row in heavy]), np.array([row[2] for row in heavy])
        work, delay = np.array([row[1] for row in heavy]), np.array([float(row[0].delay) for row in heavy])
        least = np.array([float(row[0].least) for row in heavy])
        most = np.array([float(row[0].most) for row in heavy])
        members = np.array([row[0].members for row in heavy], dtype=np.int64)
        entries = np.array([-1 if row[0].entry is None else row[0].entry for row in heavy], dtype=np.int64)
        open_ = entries >= 0

        def fits(target: float) -> bool:
            within = target / weight - delay
            if (within <= 0).any():
                return False
            needed = np.maximum(np.ceil(work * (rate + float(LN_100) / within) * (1 - 1e-15)), least)
            if (needed > most).any():
                return False
            totals = self.base.copy()
            wanted = needed[open_].astype(np.int64) * members[open_]
            totals[entries[open_]] = np.maximum(totals[entries[open_]], wanted)
            return self.room.fits(totals)

        high = max(float(queue.value(queue.least)) for queue in self.queues)
        low = max(float(queue.value(queue.most)) for queue in self.queues)
        for _ in range(HALVINGS):
            middle = (low * high) ** 0.5 if high > 2 * low > 0 else (low + high) / 2
            if not low < middle < high:
                break
            if fits(middle):
                high = middle
            else:
                low = middle
        return Fraction(high)

    def _settle(self, target: Fraction) -> tuple[Fraction, Int64]:
        """From a target that fits, down unit by unit to the exact optimum."""
        units = [queue.needed(target) or queue.least for queue in self.queues]
        values = [queue.value(each) for queue, each in zip(self.queues, units, strict=True)]
        totals = self._with(units)
        for _ in range(STEPS):
            worst = max(values)
            slowest = [index for index, value in enumerate(values) if value == worst]
            if any(units[index] >= self.queues[index].most or self.queues[index].entry is None for index in slowest):
                break
            tried = list(units)
            for index in slowest:
                tried[index] += 1
            wanted = self._with(tried)
            if not self.room.fits(wanted):
                break
            units, totals = tried, wanted
            for index in slowest:
                values[index] = self.queues[index].value(units[index])
        return max(values), totals

    def prices(self, target: Fraction, totals: Int64, weight: float) -> dict[tuple[int, str], float]:
        """Seconds that one more base unit would save at the capacity that stops the target from falling.

        n members at the target T need n c K / (w (T/w - D)^2) units less for each second more. Nothing where somebody
        has all that one member can use, or where another kind of limit stops it.
        """
        compiled = self.cohorts.compiled
        need = np.zeros((compiled.num_nodes, len(compiled.resources)))
        wanted = totals.copy()
        for queue in self.queues:
            within = target / queue.server.weight - queue.delay if queue.server.weight else Fraction(0)
            if within <= 0:
                continue
            units = queue.least if queue.entry is None else int(totals[queue.entry]) // queue.members
            if queue.value(units) == target:
                if units >= queue.most or queue.entry is None:
                    return {}
                wanted[queue.entry] = (units + 1) * queue.members
            if queue.entry is not None and units > queue.least:
                slope = queue.members * queue.server.work * LN_100 / (queue.server.weight * within**2)
                need[self.cohorts.node[queue.entry], queue.server.resource] += float(slope)
        for r in self.room.touched:
            up_to = np.concatenate([[0.0], np.cumsum(need[:, r])])
            slopes = up_to[compiled.end_node] - up_to[compiled.first_node]
            _, used = self.room.extra(wanted, r)
            for domain, left in enumerate(self.room.limits(r).tolist()):
                if left is not None and used[domain] > left and slopes[domain] > 0:
                    return {(domain, compiled.resources[r]): weight / float(slopes[domain])}
        return {}
