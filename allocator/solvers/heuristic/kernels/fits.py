"""Whether one more item may stand on a node: every hard rule that one node decides. Whole plans: ``broken``.

``roomy``, ``partner`` and ``welcome`` look quickly, before a move is written; ``fits`` has the last word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.indices import (
    BYTES,
    CAPS,
    COLUMNS,
    FLAGS,
    KINDS,
    MOVED,
    POOLS,
    RESOURCES,
    RULES,
    SPLIT,
    UNITS,
    UNMET,
    UNSPREAD,
)
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    P_AREA,
    P_AREA_START,
    P_AT_MOST,
    P_CAP,
    P_CLOSED,
    P_CURRENT,
    P_CURRENT_OPTION,
    P_ELIGIBLE,
    P_END,
    P_FIRST,
    P_GANG_SLOT,
    P_GROUP,
    P_HOLDS,
    P_KIND,
    P_LASTING,
    P_LEAF,
    P_LIMIT,
    P_MOST_MOVES,
    P_NEED,
    P_OWN,
    P_PART,
    P_PATH,
    P_PATH_START,
    P_POOL_LIMIT,
    P_POOL_OF,
    P_SIZES,
    P_SLOT,
    P_SPARE,
    P_TALLY,
    P_TALLY_OFFSET,
    P_TALLY_START,
    P_UNIT,
    P_UNIT_GANG,
    P_UNIT_ITEMS,
    P_UNIT_SLOT,
    P_UNIT_START,
    S_COUNTS,
    S_DRAWN,
    S_FIRST_ON,
    S_HELD,
    S_MEMBERS,
    S_NET,
    S_NEXT_ON,
    S_OPTION,
    S_TOTALS,
    S_TOUCHED,
    S_USE,
    S_WATTS,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2, marks, marks2
from allocator.solvers.heuristic.kernels.watts import draw_of

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["broken", "fits", "leaves_room", "partner", "reachable", "roomy", "welcome"]


@part
def roomy(problem: Table, state: Table, item: int, node: int, option: int) -> bool:
    """A quick look at the node alone: False when the item cannot come even if others leave the domains above."""
    p_eligible = marks2(problem, P_ELIGIBLE)
    p_sizes = ints(problem, P_SIZES)
    p_kind = ints(problem, P_KIND)
    p_leaf = ints(problem, P_LEAF)
    p_current = ints(problem, P_CURRENT)
    p_need = ints2(problem, P_NEED)
    p_limit = ints2(problem, P_LIMIT)
    p_holds = marks(problem, P_HOLDS)
    s_use = ints2(state, S_USE)
    s_held = ints2(state, S_HELD)
    if not p_eligible[option, node]:
        return False
    row = option * p_sizes[KINDS] + p_kind[node]
    leaf = p_leaf[node]
    home = p_current[item] == node
    for c in range(p_sizes[COLUMNS]):
        need = p_need[row, c]
        if need > 0 and not (home and p_holds[c]) and s_use[leaf, c] + s_held[leaf, c] + need > p_limit[leaf, c]:
            return False
    return True


@part
def reachable(problem: Table, item: int, node: int, option: int) -> bool:
    """Whether an item can come to a node at all, whoever leaves it: what runs there now stays held."""
    if ints(problem, P_CURRENT)[item] == node:
        return True
    lasting, spare, need = ints(problem, P_LASTING), ints2(problem, P_SPARE), ints2(problem, P_NEED)
    row = option * ints(problem, P_SIZES)[KINDS] + ints(problem, P_KIND)[node]
    for q in range(len(lasting)):
        if need[row, lasting[q]] > spare[node, q]:
            return False
    return True


@part
def partner(problem: Table, state: Table, item: int, there: int, first: int, looks: int, back: bool) -> int:
    """An item of a node, looked for from ``first`` on in its list, whose place another one could take; -1 without.

    ``looks`` : items looked at; after the last one of the list comes its first. ``back`` : it could come where the
    other one stands, too. Looks at the two nodes alone, and at groups. Overwrites ``touched`` and ``net`` of the state.
    """
    eligible, need, limit = marks2(problem, P_ELIGIBLE), ints2(problem, P_NEED), ints2(problem, P_LIMIT)
    s_option, use, held = ints(state, S_OPTION), ints2(state, S_USE), ints2(state, S_HELD)
    sizes, holds, current = ints(problem, P_SIZES), marks(problem, P_HOLDS), ints(problem, P_CURRENT)
    kind, leaf = ints(problem, P_KIND), ints(problem, P_LEAF)
    next_on, first_on = ints(state, S_NEXT_ON), ints(state, S_FIRST_ON)
    lists, net = ints(state, S_TOUCHED), ints2(state, S_NET)
    kinds, columns = sizes[KINDS], sizes[COLUMNS]
    option, here = s_option[item], ints(state, S_WHERE)[item]
    if not eligible[option, there]:
        return -1
    # the columns in which the node lacks room, and by how much; what there would be where the item stands
    row, d, at_home, number = option * kinds + kind[there], leaf[there], current[item] == there, 0
    for c in range(columns):
        if need[row, c] > 0 and not (holds[c] and at_home):
            lacks = need[row, c] + use[d, c] + held[d, c] - limit[d, c]
            if lacks > 0:
                lists[number] = c
                net[0, number] = lacks
                number += 1
    row, d, from_home = option * kinds + kind[here], leaf[here], current[item] == here
    for c in range(columns):
        net[1, c] = limit[d, c] - use[d, c] - held[d, c]
        if not (holds[c] and from_home):
            net[1, c] += need[row, c]
    other = first
    for _ in range(looks):
        if other < 0:
            return -1
        row = s_option[other] * kinds
        fine = other != item and (not back or eligible[s_option[other], here])
        if fine and number:
            goes, is_home = row + kind[there], current[other] == there
            for q in range(number):
                c = lists[q]
                if need[goes, c] < net[0, q] or (holds[c] and is_home):
                    fine = False
                    break
        if fine and back:
            comes, was_home = row + kind[here], current[other] == here
            for c in range(columns):
                if need[comes, c] > net[1, c] and need[comes, c] > 0 and not (holds[c] and was_home):
                    fine = False
                    break
        if (
            fine
            and welcome(problem, state, item, there, other)
            and (not back or welcome(problem, state, other, here, item))
        ):
            return other
        other = next_on[other]
        if other < 0:
            other = first_on[there]
    return -1


@part
def welcome(problem: Table, state: Table, item: int, node: int, leaver: int) -> bool:
    """A quick look at limits of the item's group: whether a node may take it once ``leaver`` (-1: nobody) has left.

    True where the item already counts in the same zone, or the one who leaves is of its group.
    """
    if not ints(problem, P_SIZES)[FLAGS] & RULES:
        return True
    group, where = ints(problem, P_GROUP), ints(state, S_WHERE)[item]
    mine = group[item]
    if mine < 0 or (leaver >= 0 and group[leaver] == mine):
        return True
    tally_start, tally, at_most = ints(problem, P_TALLY_START), ints(problem, P_TALLY), ints(problem, P_AT_MOST)
    part_of, slot = ints(problem, P_PART), ints2(problem, P_SLOT)
    counts, offset = ints(state, S_COUNTS), ints(problem, P_TALLY_OFFSET)
    for q in range(tally_start[mine], tally_start[mine + 1]):
        t = tally[q]
        place = slot[part_of[t], node]
        if place >= 0 and counts[offset[t] + place] >= at_most[t] and (where < 0 or slot[part_of[t], where] != place):
            return False
    return True


@part
def leaves_room(problem: Table, state: Table, item: int, node: int, option: int) -> bool:
    """Whether a node bears what a member that left still holds there: it may be more than it used (equation 8)."""
    if ints(problem, P_CURRENT)[item] != node or ints(problem, P_CURRENT_OPTION)[item] == option:
        return True
    holds, limit = marks(problem, P_HOLDS), ints2(problem, P_LIMIT)
    use, held = ints2(state, S_USE), ints2(state, S_HELD)
    area_start, area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    for q in range(area_start[node], area_start[node + 1]):
        for c in range(ints(problem, P_SIZES)[COLUMNS]):
            if holds[c] and use[area[q], c] + held[area[q], c] > limit[area[q], c]:
                return False
    return True


@part
def fits(problem: Table, state: Table, item: int, node: int, option: int) -> bool:
    """Whether an unplaced item may come to a node as things stand."""
    p_sizes = ints(problem, P_SIZES)
    p_eligible = marks2(problem, P_ELIGIBLE)
    p_kind = ints(problem, P_KIND)
    p_current = ints(problem, P_CURRENT)
    p_area_start = ints(problem, P_AREA_START)
    p_area = ints(problem, P_AREA)
    p_closed = marks(problem, P_CLOSED)
    p_first = ints(problem, P_FIRST)
    p_end = ints(problem, P_END)
    p_need = ints2(problem, P_NEED)
    p_holds = marks(problem, P_HOLDS)
    p_current_option = ints(problem, P_CURRENT_OPTION)
    p_limit = ints2(problem, P_LIMIT)
    p_leaf = ints(problem, P_LEAF)
    p_pool_of = ints2(problem, P_POOL_OF)
    p_own = ints2(problem, P_OWN)
    p_pool_limit = ints2(problem, P_POOL_LIMIT)
    p_path_start = ints(problem, P_PATH_START)
    p_path = ints(problem, P_PATH)
    p_cap = floats(problem, P_CAP)
    p_group = ints(problem, P_GROUP)
    p_tally_start = ints(problem, P_TALLY_START)
    p_tally = ints(problem, P_TALLY)
    p_slot = ints2(problem, P_SLOT)
    p_part = ints(problem, P_PART)
    p_tally_offset = ints(problem, P_TALLY_OFFSET)
    p_at_most = ints(problem, P_AT_MOST)
    p_unit = ints(problem, P_UNIT)
    p_unit_gang = marks(problem, P_UNIT_GANG)
    p_unit_slot = ints(problem, P_UNIT_SLOT)
    p_gang_slot = ints2(problem, P_GANG_SLOT)
    p_unit_start = ints(problem, P_UNIT_START)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    s_use = ints2(state, S_USE)
    s_held = ints2(state, S_HELD)
    s_drawn = ints2(state, S_DRAWN)
    s_members = ints(state, S_MEMBERS)
    s_watts = floats(state, S_WATTS)
    s_counts = ints(state, S_COUNTS)
    s_where = ints(state, S_WHERE)
    s_option = ints(state, S_OPTION)
    flags = p_sizes[FLAGS]
    if not p_eligible[option, node]:
        return False
    kinds = p_sizes[KINDS]
    kind = p_kind[node]
    row = option * kinds + kind
    origin = p_current[item]
    home = origin == node
    for q in range(p_area_start[node], p_area_start[node + 1]):
        d = p_area[q]
        if p_closed[d] and not (origin >= 0 and p_first[d] <= origin < p_end[d]):
            return False
        for c in range(p_sizes[COLUMNS]):
            need = p_need[row, c]
            if need > 0:
                if home and p_holds[c]:
                    need -= p_need[p_current_option[item] * kinds + kind, c]
                if s_use[d, c] + s_held[d, c] + need > p_limit[d, c]:
                    return False
    if flags & POOLS:
        leaf = p_leaf[node]
        for r in range(p_sizes[RESOURCES]):
            d = p_pool_of[node, r]
            need = p_need[row, r]
            if home and p_holds[r]:
                need -= p_need[p_current_option[item] * kinds + kind, r]
            if d >= 0 and need > 0:
                used = s_use[leaf, r] + s_held[leaf, r] - p_own[node, r]
                more = max(0, used + need) - max(0, used)
                if s_drawn[d, r] + more > p_pool_limit[d, r]:
                    return False
    if flags & CAPS:
        drawn = draw_of(problem, node, row, 1 if s_members[node] == 0 else 0)
        for q in range(p_path_start[node], p_path_start[node + 1]):
            d = p_path[q]
            if s_watts[d] + drawn > p_cap[d]:
                return False
    if flags & RULES and p_group[item] >= 0:
        group = p_group[item]
        for q in range(p_tally_start[group], p_tally_start[group + 1]):
            t = p_tally[q]
            place = p_slot[p_part[t], node]
            if place >= 0 and s_counts[p_tally_offset[t] + place] >= p_at_most[t]:
                return False
    if flags & UNITS and p_unit[item] >= 0 and p_unit_gang[p_unit[item]]:
        unit = p_unit[item]
        rank = p_unit_slot[unit]
        place = p_gang_slot[rank, node]
        if place < 0:
            return False
        for q in range(p_unit_start[unit], p_unit_start[unit + 1]):
            mate = p_unit_items[q]
            other = s_where[mate]
            if other >= 0 and (other == node or p_gang_slot[rank, other] != place or s_option[mate] != option):
                return False
    return True


@part
def broken(problem: Table, state: Table) -> int:
    """How far the rules are broken that need the whole plan: spread, dependency, whole units, limits of moves."""
    p_most_moves = ints(problem, P_MOST_MOVES)
    s_totals = ints(state, S_TOTALS)
    totals = s_totals
    return (
        totals[UNSPREAD]
        + totals[UNMET]
        + totals[SPLIT]
        + max(0, totals[MOVED] - p_most_moves[0])
        + max(0, totals[BYTES] - p_most_moves[1])
    )
