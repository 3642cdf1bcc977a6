"""Whether totals of shares fit: capacities, pools and power caps of a placement, in exact integers.

Owns what floors and leaving members hold already. Must not know goals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.solvers.evaluation.power import watts_of_use
from allocator.solvers.evaluation.use import LARGE, domain_use, node_use
from allocator.solvers.shares.cohorts import Cohorts

__all__ = ["PowerRows", "Room", "summed"]

Int64 = npt.NDArray[np.int64]
Integers = npt.NDArray[Any]  # int64, or Python integers where these could overflow


def summed(where: Int64, amounts: Int64, size: int) -> Integers:
    """Sums of amounts by place, exact: [size]."""
    fits = float(np.abs(amounts.astype(np.float64)).sum()) < LARGE
    total = np.zeros(size, dtype=np.int64 if fits else object)
    np.add.at(total, where, amounts if fits else amounts.astype(object))
    return total


@dataclass(frozen=True)
class PowerRows:
    """Caps of power over what nodes draw above the floors, in integers: watts times ``scale``.

    Attributes
    ----------
    driver : int64[N], the resource that drives a node's draw.
    weight : [N], Python integers, for one unit of it.
    left : by domain with a cap, what the floors leave.
    """

    driver: Int64
    weight: Integers
    left: dict[int, int]
    scale: int


@dataclass(frozen=True)
class Room:
    """Limits on the entries of cohorts. Totals are int64[V]."""

    cohorts: Cohorts

    @cached_property
    def floor_use(self) -> list[list[int]]:
        """U[N][R] of the floors alone."""
        return node_use(self.cohorts.compiled, self.cohorts.counts, {})

    @cached_property
    def floor_held(self) -> list[list[int]]:
        """U[N][R] of the floors and of what leaving members still hold (equation 8)."""
        return node_use(self.cohorts.compiled, self.cohorts.counts, {}, transient=True)

    @cached_property
    def domain_held(self) -> list[list[int]]:
        """``floor_held`` by domain."""
        return domain_use(self.cohorts.compiled, self.floor_held)

    @cached_property
    def touched(self) -> list[int]:
        """Resources of the entries, ascending."""
        return sorted(set(self.cohorts.resource.tolist()))

    def extra(self, totals: Int64, r: int) -> tuple[Integers, Integers]:
        """Amounts above the floors by node [N] and by domain [D]."""
        cohorts, compiled = self.cohorts, self.cohorts.compiled
        mine = cohorts.resource == r
        by_node = summed(cohorts.node[mine], (totals - cohorts.floor)[mine], compiled.num_nodes)
        up_to = np.concatenate([[0], np.cumsum(by_node)])
        return by_node, up_to[compiled.end_node] - up_to[compiled.first_node]

    def limits(self, r: int) -> Integers:
        """What each domain's capacity leaves above the floors: [D], Python integers; -1 where it can hold no more.

        None of them for a domain without a limit, or without an entry of the resource.
        """
        compiled = self.cohorts.compiled
        nodes = np.zeros(compiled.num_nodes, dtype=np.int64)
        nodes[self.cohorts.node[self.cohorts.resource == r]] = 1
        up_to = np.concatenate([[0], np.cumsum(nodes)])
        concerned = (up_to[compiled.end_node] > up_to[compiled.first_node]) & (compiled.limit[:, r] >= 0)
        if compiled.resources[r] == "power":
            concerned[:] = False  # power caps count the draw as well: see ``watts_fit``
        left = [
            int(limit) - held[r] if some else None
            for limit, held, some in zip(
                compiled.limit[:, r].tolist(), self.domain_held, concerned.tolist(), strict=True
            )
        ]
        return np.array(left, dtype=object)

    def fits(self, totals: Int64) -> bool:
        """Whether no limit that entries count against is exceeded."""
        return (
            all(self._capacity_fits(totals, r) for r in self.touched)
            and self.pools_fit(totals)
            and self.watts_fit(totals)
        )

    def _capacity_fits(self, totals: Int64, r: int) -> bool:
        _, by_domain = self.extra(totals, r)
        return all(
            left is None or amount <= left
            for amount, left in zip(by_domain.tolist(), self.limits(r).tolist(), strict=True)
        )

    def pools_fit(self, totals: Int64) -> bool:
        """Whether pools hold what nodes need beyond their own capacity (equation 5)."""
        compiled = self.cohorts.compiled
        for r in self.touched:
            (pooled,) = np.nonzero(compiled.pool_limit[:, r] >= 0)
            if not len(pooled):
                continue
            by_node, by_domain = self.extra(totals, r)
            own = np.maximum(compiled.capacity[compiled.node_domain, r], 0)
            for domain in pooled.tolist():
                if not by_domain[domain]:
                    continue
                nodes = range(int(compiled.first_node[domain]), int(compiled.end_node[domain]))
                drawn = sum(max(0, self.floor_held[n][r] + int(by_node[n]) - int(own[n])) for n in nodes)
                if drawn > int(compiled.pool_limit[domain, r]):
                    return False
        return True

    @property
    def has_pools(self) -> bool:
        """Whether a pool stands above an entry."""
        return any(bool((self.cohorts.compiled.pool_limit[:, r] >= 0).any()) for r in self.touched)

    def watts(self, totals: Int64) -> list[Fraction]:
        """Draw by domain (equation 12)."""
        compiled = self.cohorts.compiled
        use = [list(row) for row in self.floor_use]
        held = [list(row) for row in self.floor_held]
        for r in self.touched:
            by_node, _ = self.extra(totals, r)
            for node in np.flatnonzero(by_node).tolist():
                use[node][r] += int(by_node[node])
                held[node][r] += int(by_node[node])
        in_use = {cohort.node for cohort in self.cohorts.cohorts}
        return watts_of_use(compiled, in_use, use, held)

    @cached_property
    def power_rows(self) -> PowerRows | None:
        """Power caps as sums over nodes; None when shares of power itself are open: then only the whole sum will do."""
        compiled = self.cohorts.compiled
        if any(compiled.resources[r] == "power" for r in self.touched):
            return None
        slopes = [Fraction(0)] * compiled.num_nodes
        for node, entity in enumerate(compiled.instance.nodes):
            r = int(compiled.compute_resource[node])
            if entity.power is not None and r >= 0:
                capacity = int(compiled.capacity[compiled.node_domain[node], r])
                slopes[node] = (entity.power.busy - entity.power.idle) / capacity
        scale = math.lcm(*(slope.denominator for slope in slopes))
        floor = self.watts(self.cohorts.floor)
        left = {
            domain: math.floor((cap - floor[domain]) * scale)
            for domain, cap in enumerate(compiled.power_limit)
            if cap is not None
        }
        weights = np.array([int(slope * scale) for slope in slopes], dtype=object)
        return PowerRows(compiled.compute_resource, weights, left, scale)

    def power_left(self, totals: Int64, rows: PowerRows) -> dict[int, int]:
        """What every cap leaves at totals, scaled; negative where it is exceeded."""
        compiled = self.cohorts.compiled
        more = np.zeros(compiled.num_nodes, dtype=object)
        for r in self.touched:
            by_node, _ = self.extra(totals, r)
            more += np.where(rows.driver == r, by_node.astype(object) * rows.weight, 0)
        up_to = np.concatenate([[0], np.cumsum(more)])
        return {
            domain: left - int(up_to[compiled.end_node[domain]] - up_to[compiled.first_node[domain]])
            for domain, left in rows.left.items()
        }

    def watts_fit(self, totals: Int64) -> bool:
        """Whether power caps hold."""
        caps = self.cohorts.compiled.power_limit
        if all(cap is None for cap in caps):
            return True
        rows = self.power_rows
        if rows is None:
            return all(cap is None or watts <= cap for watts, cap in zip(self.watts(totals), caps, strict=True))
        return all(left >= 0 for left in self.power_left(totals, rows).values())
