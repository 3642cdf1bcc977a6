"""Loads of links, what they carry, and what is lost or jammed; elementary changes of one flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.indices import GOAL_CONGESTION, GOAL_RATES, KNEE, TABLE
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    JAM,
    LOST,
    P_BEND,
    P_CURVE,
    P_DISTANCE,
    P_END,
    P_FIRST,
    P_INSIDE,
    P_LEVEL_OF,
    P_LINK,
    P_PATH,
    P_PATH_START,
    P_POINT_CARRIED,
    P_POINT_LOAD,
    P_POINT_START,
    P_SCALARS,
    P_WEIGHT,
    S_LOAD,
    S_MET,
    S_VALUES,
)
from allocator.solvers.heuristic.kernels.tables import floats, floats2, ints

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["add_flow", "add_load", "distance_between"]


@part
def distance_between(problem: Table, a: int, b: int) -> float:
    """Weighted distance of two nodes, by matrix or along the tree."""
    p_distance = floats2(problem, P_DISTANCE)
    p_path_start = ints(problem, P_PATH_START)
    p_path = ints(problem, P_PATH)
    p_first = ints(problem, P_FIRST)
    p_end = ints(problem, P_END)
    p_weight = floats(problem, P_WEIGHT)
    if a == b:
        return 0.0
    if len(p_distance) > 1:
        return p_distance[a, b]
    total = 0.0
    for q in range(p_path_start[a], p_path_start[a + 1]):
        d = p_path[q]
        if p_first[d] <= b < p_end[d]:
            break
        total += p_weight[d]
    for q in range(p_path_start[b], p_path_start[b + 1]):
        d = p_path[q]
        if p_first[d] <= a < p_end[d]:
            break
        total += p_weight[d]
    return total


@part
def congestion_of(load: float, bandwidth: float) -> float:
    """C psi(L / C), Fortz and Thorup 2000."""
    if bandwidth <= 0.0:
        return 5000.0 * load
    ratio = load / bandwidth
    cost = ratio
    if ratio > 1 / 3:
        cost += 2.0 * (ratio - 1 / 3)
    if ratio > 2 / 3:
        cost += 7.0 * (ratio - 2 / 3)
    if ratio > 9 / 10:
        cost += 60.0 * (ratio - 9 / 10)
    if ratio > 1.0:
        cost += 430.0 * (ratio - 1.0)
    if ratio > 11 / 10:
        cost += 4500.0 * (ratio - 11 / 10)
    return bandwidth * cost


@part
def undelivered(problem: Table, d: int, load: float) -> float:
    """Offered less carried load of one direction of an uplink, bit/s (equation 14)."""
    p_link = floats(problem, P_LINK)
    p_curve = ints(problem, P_CURVE)
    p_bend = floats(problem, P_BEND)
    p_point_start = ints(problem, P_POINT_START)
    p_point_carried = floats(problem, P_POINT_CARRIED)
    p_point_load = floats(problem, P_POINT_LOAD)
    bandwidth = p_link[d]
    if bandwidth <= 0.0:
        return load
    ratio = load / bandwidth
    if p_curve[d] == KNEE:
        carried = ratio / (1.0 + ratio ** p_bend[d]) ** (1.0 / p_bend[d])
    elif p_curve[d] == TABLE:
        low, high = p_point_start[d], p_point_start[d + 1]
        before_load, before_carried = 0.0, 0.0
        carried = p_point_carried[high - 1]
        for q in range(low, high):
            if ratio <= p_point_load[q]:
                part = (ratio - before_load) / (p_point_load[q] - before_load)
                carried = before_carried + part * (p_point_carried[q] - before_carried)
                break
            before_load, before_carried = p_point_load[q], p_point_carried[q]
    else:
        carried = min(ratio, 1.0)
    return max(0.0, load - bandwidth * carried)


@part
def add_load(problem: Table, state: Table, d: int, direction: int, rate: float) -> None:
    """Put so much more load on one direction of an uplink."""
    p_link = floats(problem, P_LINK)
    p_level_of = ints(problem, P_LEVEL_OF)
    p_scalars = floats(problem, P_SCALARS)
    s_load = floats2(state, S_LOAD)
    s_values = floats(state, S_VALUES)
    old = s_load[d, direction]
    new = old + rate
    s_load[d, direction] = new
    if p_link[d] < 1e300:
        level = p_level_of[GOAL_CONGESTION]
        if level >= 0:
            s_values[level] += p_scalars[JAM] * (congestion_of(new, p_link[d]) - congestion_of(old, p_link[d]))
        level = p_level_of[GOAL_RATES]
        if level >= 0:
            s_values[level] += p_scalars[LOST] * (undelivered(problem, d, new) - undelivered(problem, d, old))


@part
def add_flow(problem: Table, state: Table, a: int, b: int, rate: float) -> None:
    """Put a flow from node a to node b on the links between them."""
    p_path_start = ints(problem, P_PATH_START)
    p_path = ints(problem, P_PATH)
    p_first = ints(problem, P_FIRST)
    p_end = ints(problem, P_END)
    p_inside = floats(problem, P_INSIDE)
    p_level_of = ints(problem, P_LEVEL_OF)
    p_scalars = floats(problem, P_SCALARS)
    s_met = floats(state, S_MET)
    s_values = floats(state, S_VALUES)
    for side in range(2):
        here, there = (a, b) if side == 0 else (b, a)
        for q in range(p_path_start[here], p_path_start[here + 1]):
            d = p_path[q]
            if p_first[d] <= there < p_end[d]:
                if side == 0 and p_inside[d] < 1e300:
                    old = s_met[d]
                    new = old + rate
                    s_met[d] = new
                    level = p_level_of[GOAL_RATES]
                    if level >= 0:
                        s_values[level] += p_scalars[LOST] * (max(0.0, new - p_inside[d]) - max(0.0, old - p_inside[d]))
                break
            add_load(problem, state, d, side, rate)
