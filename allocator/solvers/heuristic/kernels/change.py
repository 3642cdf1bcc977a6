"""The elementary change: one item comes to a node or leaves it. Every sum and every goal follows from it.

Owns which term changes by how much. Must not know moves or the search. ``sign`` is 1 to come, -1 to leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.indices import (
    BALANCED,
    BYTES,
    CAPS,
    COLUMNS,
    COSTS,
    DOMAINS,
    ENTRIES,
    FLAGS,
    GOAL_BALANCE,
    GOAL_COST,
    GOAL_MOVES,
    GOAL_NODES,
    GOAL_P99,
    GOAL_PLACED,
    GOAL_TRAFFIC,
    KINDS,
    LEFT,
    LINKS,
    MACHINES,
    MATRIX,
    MOST_MOVED,
    MOVED,
    MOVING,
    NODES,
    OPENING,
    P99,
    PAIRS,
    POOLS,
    RESOURCES,
    RULES,
    SPLIT,
    TRAFFIC,
    TRANSIENT,
    UNITS,
    UNMET,
    UNSPREAD,
    WATTS,
)
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    FAR,
    P99_WEIGHT,
    P_AREA,
    P_AREA_START,
    P_AT_LEAST,
    P_COST,
    P_CURRENT,
    P_CURRENT_OPTION,
    P_DISTANCE,
    P_END,
    P_ENTRY,
    P_ENTRY_RATE,
    P_ENTRY_SAME,
    P_ENTRY_SIDE,
    P_ENTRY_START,
    P_FIRST,
    P_GROUP,
    P_HOLDS,
    P_KIND,
    P_LEAF,
    P_LEVEL_OF,
    P_MACHINE,
    P_MOVE_BYTES,
    P_MOVE_COST,
    P_MOVER,
    P_NEED,
    P_NEEDED,
    P_NEEDED_START,
    P_NEEDS,
    P_NEEDS_START,
    P_NODE_WEIGHT,
    P_OWN,
    P_PAIR_IN,
    P_PAIR_ITEM,
    P_PAIR_OUT,
    P_PAIR_START,
    P_PART,
    P_PATH,
    P_PATH_START,
    P_POOL_OF,
    P_ROOT_NEED,
    P_SCALARS,
    P_SIZE,
    P_SIZES,
    P_SLOT,
    P_SOFT,
    P_SOFT_LEVEL,
    P_SOFT_WEIGHT,
    P_STABLE_COLUMN,
    P_TALLY,
    P_TALLY_OFFSET,
    P_TALLY_START,
    P_TRIPLE_FIRST,
    P_TRIPLE_HAVE,
    P_TRIPLE_SECOND,
    P_TRIPLE_START,
    P_TRIPLE_TARGET,
    P_TRIPLE_UNIT,
    P_TRIPLE_WEIGHT,
    P_UNIT,
    P_UNIT_ITEMS,
    P_UNIT_OF_SHARE,
    P_UNIT_RATE,
    P_UNIT_START,
    P_VALUE,
    P_WEIGHT,
    P_WORKLOAD,
    S_COUNTS,
    S_COVERED,
    S_DRAWN,
    S_ENDS,
    S_FIRST_ON,
    S_HELD,
    S_INSIDE,
    S_LAST_ON,
    S_LEFT,
    S_LEFT_AT,
    S_MEMBERS,
    S_MOVED,
    S_MOVED_BY,
    S_NEXT_ON,
    S_OPTION,
    S_PLACED,
    S_REACH,
    S_ROOT,
    S_STANDING,
    S_TOTALS,
    S_USE,
    S_VALUES,
    S_WHERE,
    SERVICE,
)
from allocator.solvers.heuristic.kernels.links import add_flow, add_load, distance_between
from allocator.solvers.heuristic.kernels.tables import floats, floats2, ints, ints2, ints3, marks
from allocator.solvers.heuristic.kernels.watts import count_watts

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.watts import count_watts
from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["change", "response_of"]

STARVED = 1e6  # cost of a node whose stable load exceeds what it has, per unit over


@part
def response_of(root: float, used: int, whole: int, unit: float) -> float:
    """A^2 / S: summed P99 of the critical members of a node under the square-root rule (Kleinrock).

    ``root``: A. ``used``, ``whole``: stable load and capacity in units of ``unit`` cores.
    """
    if root <= 1e-12:
        return 0.0
    spare, least = (whole - used) * unit, 1e-3 * whole * unit
    if spare < least:
        return root * root / least + STARVED * (least - spare)
    return root * root / spare


@part
def response_cost(problem: Table, state: Table, node: int) -> float:
    """Summed P99 of the critical members of a node as it stands."""
    leaf, column = ints(problem, P_LEAF)[node], ints(problem, P_STABLE_COLUMN)[node]
    used, whole = ints2(state, S_USE)[leaf, column], ints2(problem, P_SOFT)[leaf, column]
    return response_of(floats(state, S_ROOT)[node], used, whole, floats(problem, P_UNIT_OF_SHARE)[node])


@part
def shift_balance(problem: Table, state: Table, d: int, sign: int) -> None:
    """Add or take out what the triples of a domain cost as it stands (equation 23)."""
    p_level_of = ints(problem, P_LEVEL_OF)
    p_triple_start = ints(problem, P_TRIPLE_START)
    p_triple_have = floats(problem, P_TRIPLE_HAVE)
    p_triple_target = floats(problem, P_TRIPLE_TARGET)
    p_triple_first = ints(problem, P_TRIPLE_FIRST)
    p_triple_second = ints(problem, P_TRIPLE_SECOND)
    p_triple_unit = floats(problem, P_TRIPLE_UNIT)
    p_triple_weight = floats(problem, P_TRIPLE_WEIGHT)
    s_use = ints2(state, S_USE)
    s_values = floats(state, S_VALUES)
    level = p_level_of[GOAL_BALANCE]
    for t in range(p_triple_start[d], p_triple_start[d + 1]):
        short = (
            p_triple_have[t]
            - p_triple_target[t] * s_use[d, p_triple_first[t]]
            + s_use[d, p_triple_second[t]] * p_triple_unit[t]
        )
        if short > 0.0:
            s_values[level] += sign * p_triple_weight[t] * short


@part
def count_in_rules(problem: Table, state: Table, group: int, node: int, sign: int) -> None:
    """Members of a group by domain, and how many rules that breaks (equation 9)."""
    p_tally_start = ints(problem, P_TALLY_START)
    p_tally = ints(problem, P_TALLY)
    p_slot = ints2(problem, P_SLOT)
    p_part = ints(problem, P_PART)
    p_tally_offset = ints(problem, P_TALLY_OFFSET)
    p_at_least = ints(problem, P_AT_LEAST)
    p_needs_start = ints(problem, P_NEEDS_START)
    p_needs = ints(problem, P_NEEDS)
    p_needed_start = ints(problem, P_NEEDED_START)
    p_needed = ints(problem, P_NEEDED)
    s_covered = ints(state, S_COVERED)
    s_standing = ints(state, S_STANDING)
    s_totals = ints(state, S_TOTALS)
    s_counts = ints(state, S_COUNTS)
    for q in range(p_tally_start[group], p_tally_start[group + 1]):
        t = p_tally[q]
        place = p_slot[p_part[t], node]
        if place < 0:
            continue
        key = p_tally_offset[t] + place
        if p_at_least[t] > 0 and s_covered[t] < min(p_at_least[t], s_standing[t]):
            s_totals[UNSPREAD] -= 1
        old = s_counts[key]
        s_counts[key] = old + sign
        s_standing[t] += sign
        if (sign > 0 and old == 0) or (sign < 0 and old == 1):
            s_covered[t] += sign
            for x in range(p_needs_start[t], p_needs_start[t + 1]):
                if s_counts[p_tally_offset[p_needs[x]] + place] == 0:
                    s_totals[UNMET] += sign
            for x in range(p_needed_start[t], p_needed_start[t + 1]):
                if s_counts[p_tally_offset[p_needed[x]] + place] > 0:
                    s_totals[UNMET] -= sign
        if p_at_least[t] > 0 and s_covered[t] < min(p_at_least[t], s_standing[t]):
            s_totals[UNSPREAD] += 1


@part
def count_move(problem: Table, state: Table, item: int, node: int, sign: int) -> None:
    """Members that run elsewhere now, and what moving them costs (equation 24)."""
    p_current = ints(problem, P_CURRENT)
    p_level_of = ints(problem, P_LEVEL_OF)
    p_sizes = ints(problem, P_SIZES)
    p_machine = floats2(problem, P_MACHINE)
    p_move_bytes = ints(problem, P_MOVE_BYTES)
    p_move_cost = floats(problem, P_MOVE_COST)
    p_workload = ints(problem, P_WORKLOAD)
    p_mover = ints(problem, P_MOVER)
    p_scalars = floats(problem, P_SCALARS)
    s_values = floats(state, S_VALUES)
    s_totals = ints(state, S_TOTALS)
    s_moved = ints(state, S_MOVED)
    s_moved_by = ints(state, S_MOVED_BY)
    origin = p_current[item]
    level = p_level_of[GOAL_MOVES]
    if origin != node:
        if level >= 0 and p_sizes[FLAGS] & MACHINES:
            s_values[level] += sign * p_machine[origin, node]
        return
    s_totals[MOVED] -= sign
    s_totals[BYTES] -= sign * p_move_bytes[item]
    if level < 0:
        return
    s_values[level] -= sign * p_move_cost[p_workload[item]]
    group = p_mover[item]
    if group < 0:
        return
    old = s_moved[group]
    s_moved[group] = old - sign
    s_moved_by[old] -= 1
    s_moved_by[old - sign] += 1
    most = s_totals[MOST_MOVED]
    if sign > 0 and old == most and s_moved_by[old] == 0:
        s_totals[MOST_MOVED] = most - 1
        s_values[level] -= p_scalars[SERVICE]
    elif sign < 0 and old == most:
        s_totals[MOST_MOVED] = most + 1
        s_values[level] += p_scalars[SERVICE]


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


@part
def relist(state: Table, item: int, node: int, sign: int) -> None:
    """Keep the lists of who stands on a node and who is left."""
    s_first_on = ints(state, S_FIRST_ON)
    s_next_on = ints(state, S_NEXT_ON)
    s_last_on = ints(state, S_LAST_ON)
    s_where = ints(state, S_WHERE)
    s_left_at = ints(state, S_LEFT_AT)
    s_totals = ints(state, S_TOTALS)
    s_left = ints(state, S_LEFT)
    if sign > 0:
        head = s_first_on[node]
        s_next_on[item] = head
        s_last_on[item] = -1
        if head >= 0:
            s_last_on[head] = item
        s_first_on[node] = item
        s_where[item] = node
        position, number = s_left_at[item], s_totals[LEFT] - 1
        last = s_left[number]
        s_left[position], s_left[number] = last, item
        s_left_at[last], s_left_at[item] = position, number
        s_totals[LEFT] = number
    else:
        before, after = s_last_on[item], s_next_on[item]
        if before >= 0:
            s_next_on[before] = after
        else:
            s_first_on[node] = after
        if after >= 0:
            s_last_on[after] = before
        s_where[item] = -1
        position, number = s_left_at[item], s_totals[LEFT]
        other = s_left[number]
        s_left[number], s_left[position] = item, other
        s_left_at[item], s_left_at[other] = number, position
        s_totals[LEFT] = number + 1


@part
def count_pools(problem: Table, state: Table, node: int, sign: int) -> None:
    """Add or take out what a node draws on pools as it stands (equation 5)."""
    p_sizes, p_leaf = ints(problem, P_SIZES), ints(problem, P_LEAF)
    p_pool_of, p_own = ints2(problem, P_POOL_OF), ints2(problem, P_OWN)
    s_use, s_held, s_drawn = ints2(state, S_USE), ints2(state, S_HELD), ints2(state, S_DRAWN)
    leaf = p_leaf[node]
    for r in range(p_sizes[RESOURCES]):
        d = p_pool_of[node, r]
        if d >= 0:
            s_drawn[d, r] += sign * max(0, s_use[leaf, r] + s_held[leaf, r] - p_own[node, r])


@part
def count_unit(problem: Table, state: Table, unit: int, sign: int) -> None:
    """Items of a unit that stand; how many units stand in part."""
    p_unit_start = ints(problem, P_UNIT_START)
    s_placed, s_totals = ints(state, S_PLACED), ints(state, S_TOTALS)
    whole = p_unit_start[unit + 1] - p_unit_start[unit]
    old = s_placed[unit]
    new = old + sign
    s_placed[unit] = new
    s_totals[SPLIT] += (0 < new < whole) - (0 < old < whole)


@part
def change(problem: Table, state: Table, item: int, node: int, option: int, sign: int) -> None:
    """Put an item on a node (sign 1), or take it away from there (sign -1); it must not stand, or stand there."""
    p_sizes, p_level_of = ints(problem, P_SIZES), ints(problem, P_LEVEL_OF)
    p_need, p_soft, p_soft_weight = ints2(problem, P_NEED), ints2(problem, P_SOFT), floats2(problem, P_SOFT_WEIGHT)
    p_soft_level, p_holds = ints(problem, P_SOFT_LEVEL), marks(problem, P_HOLDS)
    p_area_start, p_area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    s_use, s_held, s_members = ints2(state, S_USE), ints2(state, S_HELD), ints(state, S_MEMBERS)
    values = floats(state, S_VALUES)
    flags, kinds, columns = p_sizes[FLAGS], p_sizes[KINDS], p_sizes[COLUMNS]
    kind = ints(problem, P_KIND)[node]
    row = option * kinds + kind
    w = ints(problem, P_WORKLOAD)[item]
    origin = ints(problem, P_CURRENT)[item]
    if flags & P99:
        weight = floats(problem, P_SCALARS)[P99_WEIGHT]
        values[p_level_of[GOAL_P99]] -= weight * response_cost(problem, state, node)
    if flags & POOLS:
        count_pools(problem, state, node, -1)
    for q in range(p_area_start[node], p_area_start[node + 1]):
        d = p_area[q]
        if flags & BALANCED:
            shift_balance(problem, state, d, -1)
        for c in range(columns):
            need = p_need[row, c]
            if need != 0:
                old = s_use[d, c]
                new = old + sign * need
                s_use[d, c] = new
                weight = p_soft_weight[d, c]
                if weight != 0.0:
                    soft = p_soft[d, c]
                    values[p_soft_level[c]] += weight * (max(0, new - soft) - max(0, old - soft))
        if flags & BALANCED:
            shift_balance(problem, state, d, 1)
        if flags & TRANSIENT and origin == node:
            row_then = ints(problem, P_CURRENT_OPTION)[item] * kinds + kind
            for c in range(columns):
                if p_holds[c]:
                    s_held[d, c] -= sign * p_need[row_then, c]
    if flags & POOLS:
        count_pools(problem, state, node, 1)
    if flags & P99:
        weight = floats(problem, P_SCALARS)[P99_WEIGHT]
        floats(state, S_ROOT)[node] += sign * floats(problem, P_ROOT_NEED)[row]
        values[p_level_of[GOAL_P99]] += weight * response_cost(problem, state, node)
    members = s_members[node] + sign
    s_members[node] = members
    opened = 1 if members == (1 if sign > 0 else 0) else 0
    if flags & OPENING and opened:
        values[p_level_of[GOAL_NODES]] += sign * floats(problem, P_NODE_WEIGHT)[node]
    if flags & (WATTS | CAPS):
        count_watts(problem, state, node, row, opened, sign)
    if flags & COSTS:
        values[p_level_of[GOAL_COST]] += sign * floats2(problem, P_COST)[w, node]
    if p_level_of[GOAL_PLACED] >= 0:
        values[p_level_of[GOAL_PLACED]] -= sign * floats(problem, P_VALUE)[w]
    values[0] -= sign * floats(problem, P_SIZE)[w]
    if flags & RULES:
        group = ints(problem, P_GROUP)[item]
        if group >= 0:
            count_in_rules(problem, state, group, node, sign)
    if flags & MOVING and origin >= 0:
        count_move(problem, state, item, node, sign)
    if flags & (TRAFFIC | LINKS):
        if flags & (UNITS | PAIRS):
            add_partner_flows(problem, state, item, node, sign)
        if flags & ENTRIES:
            add_entry_flows(problem, state, item, node, sign)
    if flags & UNITS:
        unit = ints(problem, P_UNIT)[item]
        if unit >= 0:
            count_unit(problem, state, unit, sign)
    relist(state, item, node, sign)
    ints(state, S_OPTION)[item] = option
