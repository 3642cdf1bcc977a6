"""Floating shares and fractions to exact ones that fit exactly: round near integers, then give back any excess.

What response times need (``least``) is never given back.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from allocator.solvers.shares.cohorts import Cohorts
from allocator.solvers.shares.placement_program import PlacementProgram
from allocator.solvers.shares.program import unit_of
from allocator.solvers.shares.room import Room

__all__ = ["rounded_totals"]

Int64 = npt.NDArray[np.int64]
ROUND = 10**6  # parts of a unit that make a round number
NEAR = 1e-8  # units: values this close to a round number are taken to be it, for floats carry the solver's tolerance


def rounded_totals(made: PlacementProgram, solution: npt.NDArray[np.float64]) -> Int64:
    """Exact totals by entry, all limits kept."""
    cohorts = made.cohorts
    totals = cohorts.least.copy()
    for entry, column in made.extra.items():
        unit = unit_of(made.compiled, int(cohorts.resource[entry]))
        room = int(cohorts.most[entry] - cohorts.least[entry])
        totals[entry] += min(max(0, _near(float(solution[column]), unit)), room)
    _give_back_capacity(cohorts, made.room, totals)
    _give_back_pools(cohorts, made.room, totals)
    _give_back_power(cohorts, made.room, totals)
    return totals


def _near(value: float, unit: int) -> int:
    """Integer amount of a value in units."""
    step = max(1, unit // ROUND)
    whole = round(value * unit / step) * step
    return whole if abs(value * unit - whole) <= NEAR * unit else round(value * unit)


def _give_back_capacity(cohorts: Cohorts, room: Room, totals: Int64) -> None:
    """Where rounding exceeds a limit by some units, take them from the largest extra shares there."""
    for r in room.touched:
        limits = room.limits(r).tolist()
        _, used = room.extra(totals, r)
        for domain, (left, amount) in enumerate(zip(limits, used.tolist(), strict=True)):
            if left is not None and amount > left:
                _, now = room.extra(totals, r)  # what was given back in domains above counts here
                _take(cohorts, totals, domain, r, int(now[domain]) - left)


def _give_back_pools(cohorts: Cohorts, room: Room, totals: Int64) -> None:
    compiled = cohorts.compiled
    for r in room.touched:
        for domain in np.flatnonzero(compiled.pool_limit[:, r] >= 0).tolist():
            by_node, _ = room.extra(totals, r)
            drawn = {
                node: room.floor_held[node][r]
                + int(by_node[node])
                - max(0, int(compiled.capacity[compiled.node_domain[node], r]))
                for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain]))
            }
            excess = sum(max(0, above) for above in drawn.values()) - int(compiled.pool_limit[domain, r])
            for node, above in drawn.items():
                if excess > 0 and above > 0:
                    excess -= _take(cohorts, totals, int(compiled.node_domain[node]), r, min(excess, above))


def _give_back_power(cohorts: Cohorts, room: Room, totals: Int64) -> None:
    """Where rounding exceeds a cap of power, take shares of compute from the nodes there until their draw fits."""
    compiled = cohorts.compiled
    if room.watts_fit(totals):
        return
    for domain, limit in enumerate(compiled.power_limit):
        if limit is None:
            continue
        excess = room.watts(totals)[domain] - limit
        for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
            power, r = compiled.instance.nodes[node].power, int(compiled.compute_resource[node])
            if excess <= 0:
                break
            if power is None or r < 0 or power.busy <= power.idle:
                continue
            leaf = int(compiled.node_domain[node])
            watts = (power.busy - power.idle) / int(compiled.capacity[leaf, r])
            excess -= watts * _take(cohorts, totals, leaf, r, math.ceil(excess / watts))


def _take(cohorts: Cohorts, totals: Int64, domain: int, r: int, excess: int) -> int:
    """Take up to ``excess`` units from the extra shares in a domain, the largest first; how many were taken."""
    compiled = cohorts.compiled
    low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
    (here,) = np.nonzero((cohorts.resource == r) & (cohorts.node >= low) & (cohorts.node < high))
    left = excess
    for entry in sorted(here.tolist(), key=lambda entry: (cohorts.least[entry] - totals[entry], entry)):
        taken = min(left, int(totals[entry] - cohorts.least[entry]))
        totals[entry] -= taken
        left -= taken
        if left <= 0:
            break
    return excess - left
