"""Flows of an item that comes or leaves: traffic, and load of links.

Owns the terms of teams, pairs and entries between classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.indices import (
    DOMAINS,
    FLAGS,
    GOAL_TRAFFIC,
    LINKS,
    MATRIX,
    NODES,
    PAIRS,
    TRAFFIC,
    UNITS,
)
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    FAR,
    P_DISTANCE,
    P_END,
    P_ENTRY,
    P_ENTRY_RATE,
    P_ENTRY_SAME,
    P_ENTRY_SIDE,
    P_ENTRY_START,
    P_FIRST,
    P_LEAF,
    P_LEVEL_OF,
    P_PAIR_IN,
    P_PAIR_ITEM,
    P_PAIR_OUT,
    P_PAIR_START,
    P_PATH,
    P_PATH_START,
    P_SCALARS,
    P_SIZES,
    P_UNIT,
    P_UNIT_ITEMS,
    P_UNIT_RATE,
    P_UNIT_START,
    P_WEIGHT,
    P_WORKLOAD,
    S_ENDS,
    S_INSIDE,
    S_REACH,
    S_VALUES,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.links import add_flow, add_load, distance_between
from allocator.solvers.heuristic.kernels.tables import floats, floats2, ints, ints2, ints3, marks

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["add_entry_flows", "add_partner_flows"]


@part
def add_partner_flows(problem: Table, state: Table, item: int, node: int, sign: int) -> None:
    """Flows between the item and its team and partners, as far as they stand (equations 7, 18)."""
    p_sizes = ints(problem, P_SIZES)
    p_level_of = ints(problem, P_LEVEL_OF)
    p_unit = ints(problem, P_UNIT)
    p_unit_rate = floats(problem, P_UNIT_RATE)
    p_unit_start = ints(problem, P_UNIT_START)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    p_distance = floats2(problem, P_DISTANCE)
    p_pair_start = ints(problem, P_PAIR_START)
    p_pair_item = ints(problem, P_PAIR_ITEM)
    p_pair_out = floats(problem, P_PAIR_OUT)
    p_pair_in = floats(problem, P_PAIR_IN)
    p_scalars = floats(problem, P_SCALARS)
    s_where = ints(state, S_WHERE)
    s_values = floats(state, S_VALUES)
    flags = p_sizes[FLAGS]
    level = p_level_of[GOAL_TRAFFIC]
    far = 0.0
    unit = p_unit[item]
    if flags & UNITS and unit >= 0 and p_unit_rate[unit] > 0.0:
        rate = p_unit_rate[unit]
        for q in range(p_unit_start[unit], p_unit_start[unit + 1]):
            mate = p_unit_items[q]
            other = s_where[mate]
            if other < 0 or mate == item:
                continue
            if flags & TRAFFIC:
                if flags & MATRIX:
                    far += rate * (p_distance[node, other] + p_distance[other, node])
                elif other != node:
                    far += 2.0 * rate * distance_between(problem, node, other)
            if flags & LINKS:
                add_flow(problem, state, node, other, sign * rate)
                add_flow(problem, state, other, node, sign * rate)
    if flags & PAIRS:
        for q in range(p_pair_start[item], p_pair_start[item + 1]):
            other = s_where[p_pair_item[q]]
            if other < 0:
                continue
            out, back = p_pair_out[q], p_pair_in[q]
            if flags & TRAFFIC:
                if flags & MATRIX:
                    far += out * p_distance[node, other] + back * p_distance[other, node]
                elif other != node:
                    far += (out + back) * distance_between(problem, node, other)
            if flags & LINKS:
                if out > 0.0:
                    add_flow(problem, state, node, other, sign * out)
                if back > 0.0:
                    add_flow(problem, state, other, node, sign * back)
    if level >= 0:
        s_values[level] += sign * far * p_scalars[FAR]


@part
def add_entry_flows(problem: Table, state: Table, item: int, node: int, sign: int) -> None:
    """Flows of entries between whole classes, by counts of both sides in every domain."""
    p_sizes = ints(problem, P_SIZES)
    p_level_of = ints(problem, P_LEVEL_OF)
    p_workload = ints(problem, P_WORKLOAD)
    p_entry_start = ints(problem, P_ENTRY_START)
    p_entry = ints(problem, P_ENTRY)
    p_entry_side = ints(problem, P_ENTRY_SIDE)
    p_entry_rate = floats(problem, P_ENTRY_RATE)
    p_path_start = ints(problem, P_PATH_START)
    p_path = ints(problem, P_PATH)
    p_weight = floats(problem, P_WEIGHT)
    p_entry_same = marks(problem, P_ENTRY_SAME)
    p_leaf = ints(problem, P_LEAF)
    p_distance = floats2(problem, P_DISTANCE)
    p_scalars = floats(problem, P_SCALARS)
    p_first = ints(problem, P_FIRST)
    p_end = ints(problem, P_END)
    s_ends = ints2(state, S_ENDS)
    s_inside = ints3(state, S_INSIDE)
    s_reach = floats2(state, S_REACH)
    s_values = floats(state, S_VALUES)
    flags = p_sizes[FLAGS]
    level = p_level_of[GOAL_TRAFFIC]
    w = p_workload[item]
    for q in range(p_entry_start[w], p_entry_start[w + 1]):
        e, side = p_entry[q], p_entry_side[q]
        rate = p_entry_rate[e]
        other = 1 - side
        if sign < 0:  # leave first: one does not send to oneself
            s_ends[e, side] -= 1
            for x in range(p_path_start[node], p_path_start[node + 1]):
                d = p_path[x]
                s_inside[e, side, d] -= 1
                s_reach[e, side] -= p_weight[d]
            if p_entry_same[e]:
                s_ends[e, other] -= 1
                for x in range(p_path_start[node], p_path_start[node + 1]):
                    d = p_path[x]
                    s_inside[e, other, d] -= 1
                    s_reach[e, other] -= p_weight[d]
        if flags & TRAFFIC:
            far = 0.0
            if flags & MATRIX:
                for h in range(p_sizes[NODES]):
                    number = s_inside[e, other, p_leaf[h]]
                    if number > 0:
                        if side == 0 or p_entry_same[e]:
                            far += number * p_distance[node, h]
                        if side == 1 or p_entry_same[e]:
                            far += number * p_distance[h, node]
            else:
                far = s_reach[e, other]
                for x in range(p_path_start[node], p_path_start[node + 1]):
                    d = p_path[x]
                    far += p_weight[d] * (s_ends[e, other] - 2 * s_inside[e, other, d])
                if p_entry_same[e]:
                    far *= 2.0
            s_values[level] += sign * rate * far * p_scalars[FAR]
        if flags & LINKS:
            for d in range(1, p_sizes[DOMAINS]):
                number = s_inside[e, other, d]
                if p_first[d] <= node < p_end[d]:
                    outer = s_ends[e, other] - number
                    if outer > 0:
                        if side == 0 or p_entry_same[e]:
                            add_load(problem, state, d, 0, sign * rate * outer)
                        if side == 1 or p_entry_same[e]:
                            add_load(problem, state, d, 1, sign * rate * outer)
                elif number > 0:
                    if side == 0 or p_entry_same[e]:
                        add_load(problem, state, d, 1, sign * rate * number)
                    if side == 1 or p_entry_same[e]:
                        add_load(problem, state, d, 0, sign * rate * number)
        if sign > 0:
            s_ends[e, side] += 1
            for x in range(p_path_start[node], p_path_start[node + 1]):
                d = p_path[x]
                s_inside[e, side, d] += 1
                s_reach[e, side] += p_weight[d]
            if p_entry_same[e]:
                s_ends[e, other] += 1
                for x in range(p_path_start[node], p_path_start[node + 1]):
                    d = p_path[x]
                    s_inside[e, other, d] += 1
                    s_reach[e, other] += p_weight[d]
