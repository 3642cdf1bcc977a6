"""The elementary change: one item comes to a node or leaves it. Every sum and every goal follows from it.

Owns which term changes by how much. Must not know moves or the search. ``sign`` is 1 to come, -1 to leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.flows import add_entry_flows, add_partner_flows
from allocator.solvers.heuristic.kernels.indices import (
    BALANCED,
    BYTES,
    CAPS,
    COLUMNS,
    COSTS,
    ENTRIES,
    FLAGS,
    GOAL_BALANCE,
    GOAL_COST,
    GOAL_MOVES,
    GOAL_NODES,
    GOAL_P99,
    GOAL_PLACED,
    KINDS,
    LEFT,
    LINKS,
    MACHINES,
    MOST_MOVED,
    MOVED,
    MOVING,
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
    P99_WEIGHT,
    P_AREA,
    P_AREA_START,
    P_AT_LEAST,
    P_COST,
    P_CURRENT,
    P_CURRENT_OPTION,
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
    P_PART,
    P_POOL_OF,
    P_ROOT_NEED,
    P_SCALARS,
    P_SIZE,
    P_SIZES,
    P_SLOT,
    P_SOFT,
    P_SOFT_LEVEL,
    P_SOFT_WEIGHT,
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
    P_UNIT_START,
    P_VALUE,
    P_WORKLOAD,
    S_COUNTS,
    S_COVERED,
    S_DRAWN,
    S_FIRST_ON,
    S_HELD,
    S_LAST_ON,
    S_LEFT,
    S_LEFT_AT,
    S_MEMBERS,
    S_MOVED,
    S_MOVED_BY,
    S_NEXT_ON,
    S_OPTION,
    S_PLACED,
    S_ROOT,
    S_STANDING,
    S_TOTALS,
    S_USE,
    S_VALUES,
    S_WHERE,
    SERVICE,
)
from allocator.solvers.heuristic.kernels.response import response_cost
from allocator.solvers.heuristic.kernels.tables import floats, floats2, ints, ints2, marks
from allocator.solvers.heuristic.kernels.watts import count_watts

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["change"]


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
