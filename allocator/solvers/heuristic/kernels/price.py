"""What a small move would cost, without carrying it out: most moves are too dear, and need not be tried.

Owns the reading of costs alone; the rules are ``change``'s and ``fits``' business once a move is cheap enough. A second
statement of the goals of ``change``, which tests compare with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.indices import (
    BALANCED,
    COLUMNS,
    COSTS,
    ENTRIES,
    FLAGS,
    GOAL_BALANCE,
    GOAL_COST,
    GOAL_MOVES,
    GOAL_P99,
    GOAL_PLACED,
    GOAL_TRAFFIC,
    KINDS,
    LINKS,
    MACHINES,
    MATRIX,
    MOST_MOVED,
    MOVING,
    OPENING,
    P99,
    PAIRS,
    TRAFFIC,
    UNITS,
    WATTS,
)
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    FAR,
    P99_WEIGHT,
    P_AREA,
    P_AREA_START,
    P_COST,
    P_CURRENT,
    P_DISTANCE,
    P_KIND,
    P_LEAF,
    P_LEVEL_OF,
    P_MACHINE,
    P_MOVE_COST,
    P_MOVER,
    P_NEED,
    P_PAIR_IN,
    P_PAIR_ITEM,
    P_PAIR_OUT,
    P_PAIR_START,
    P_ROOT_NEED,
    P_SCALARS,
    P_SIZES,
    P_SOFT,
    P_SOFT_LEVEL,
    P_SOFT_WEIGHT,
    P_STABLE_COLUMN,
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
    P_WORKLOAD,
    S_MOVED,
    S_MOVED_BY,
    S_NET,
    S_ROOT,
    S_ROOT_NET,
    S_STEPS,
    S_TOTALS,
    S_TOUCHED,
    S_USE,
    S_WHERE,
    SERVICE,
)
from allocator.solvers.heuristic.kernels.links import distance_between
from allocator.solvers.heuristic.kernels.response import response_of
from allocator.solvers.heuristic.kernels.tables import floats, floats2, ints, ints2

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["UNKNOWN", "price", "price_shift"]

UNKNOWN = -1e300  # as good as any: let it be tried
SMALL = 8  # changes of a move that is priced


@part
def moves_too(state: Table, number: int, item: int) -> bool:
    """Whether an item is among those of the steps."""
    steps = ints2(state, S_STEPS)
    for i in range(number):
        if steps[i, 0] == item:
            return True
    return False


@part
def price_of_flows(problem: Table, state: Table, number: int, item: int, node: int) -> float:
    """Traffic of an item on a node with those that stay where they are; ``UNKNOWN`` when a partner moves too."""
    flags = ints(problem, P_SIZES)[FLAGS]
    where, distance = ints(state, S_WHERE), floats2(problem, P_DISTANCE)
    far = 0.0
    if flags & UNITS:
        unit = ints(problem, P_UNIT)[item]
        if unit >= 0:
            rate = floats(problem, P_UNIT_RATE)[unit]
            unit_start, unit_items = ints(problem, P_UNIT_START), ints(problem, P_UNIT_ITEMS)
            if rate > 0.0:
                for q in range(unit_start[unit], unit_start[unit + 1]):
                    mate = unit_items[q]
                    if mate == item:
                        continue
                    if moves_too(state, number, mate):
                        return UNKNOWN
                    other = where[mate]
                    if other >= 0:
                        if flags & MATRIX:
                            far += rate * (distance[node, other] + distance[other, node])
                        else:
                            far += 2.0 * rate * distance_between(problem, node, other)
    if flags & PAIRS:
        pair_start, pair_item = ints(problem, P_PAIR_START), ints(problem, P_PAIR_ITEM)
        pair_out, pair_in = floats(problem, P_PAIR_OUT), floats(problem, P_PAIR_IN)
        for q in range(pair_start[item], pair_start[item + 1]):
            if moves_too(state, number, pair_item[q]):
                return UNKNOWN
            other = where[pair_item[q]]
            if other >= 0:
                if flags & MATRIX:
                    far += pair_out[q] * distance[node, other] + pair_in[q] * distance[other, node]
                else:
                    far += (pair_out[q] + pair_in[q]) * distance_between(problem, node, other)
    return far * floats(problem, P_SCALARS)[FAR]


@part
def price_of_move(problem: Table, state: Table, item: int, node: int) -> float:
    """What it costs, beside where it runs now, that an item stands on a node (equation 24)."""
    origin = ints(problem, P_CURRENT)[item]
    if origin < 0:
        return 0.0
    if origin != node:
        return floats2(problem, P_MACHINE)[origin, node] if ints(problem, P_SIZES)[FLAGS] & MACHINES else 0.0
    cost = -floats(problem, P_MOVE_COST)[ints(problem, P_WORKLOAD)[item]]
    group = ints(problem, P_MOVER)[item]
    if group >= 0:
        most = ints(state, S_TOTALS)[MOST_MOVED]
        moved = ints(state, S_MOVED)[group]
        here = ints(state, S_WHERE)[item] == node
        if moved == most and (here or ints(state, S_MOVED_BY)[most] == 1):
            cost -= floats(problem, P_SCALARS)[SERVICE]
    return cost


@part
def price_of_domain(problem: Table, state: Table, d: int, k: int, level: int) -> float:
    """Change of soft limits and balance of a domain when ``S_NET[k]`` is added to its use."""
    flags, columns = ints(problem, P_SIZES)[FLAGS], ints(problem, P_SIZES)[COLUMNS]
    use, net = ints2(state, S_USE), ints2(state, S_NET)
    soft, soft_weight, soft_level = ints2(problem, P_SOFT), floats2(problem, P_SOFT_WEIGHT), ints(problem, P_SOFT_LEVEL)
    total = 0.0
    for c in range(columns):
        more = net[k, c]
        if more != 0 and soft_weight[d, c] != 0.0 and soft_level[c] == level:
            old = use[d, c] - soft[d, c]
            total += soft_weight[d, c] * (max(0, old + more) - max(0, old))
    if flags & BALANCED and ints(problem, P_LEVEL_OF)[GOAL_BALANCE] == level:
        start = ints(problem, P_TRIPLE_START)
        first, second = ints(problem, P_TRIPLE_FIRST), ints(problem, P_TRIPLE_SECOND)
        target, unit = floats(problem, P_TRIPLE_TARGET), floats(problem, P_TRIPLE_UNIT)
        weight, have = floats(problem, P_TRIPLE_WEIGHT), floats(problem, P_TRIPLE_HAVE)
        for t in range(start[d], start[d + 1]):
            old = have[t] - target[t] * use[d, first[t]] + unit[t] * use[d, second[t]]
            new = old - target[t] * net[k, first[t]] + unit[t] * net[k, second[t]]
            total += weight[t] * (max(0.0, new) - max(0.0, old))
    return total


@part
def price_of_node(problem: Table, state: Table, node: int, other: int, row: int, sign: int, level: int) -> float:
    """Change of soft limits at and above a node, without the domains that another node shares with it."""
    area_start, area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    use, need, soft = ints2(state, S_USE), ints2(problem, P_NEED), ints2(problem, P_SOFT)
    soft_weight, soft_level = floats2(problem, P_SOFT_WEIGHT), ints(problem, P_SOFT_LEVEL)
    total = 0.0
    for q in range(area_start[node], area_start[node + 1]):
        d = area[q]
        shared = False
        for x in range(area_start[other], area_start[other + 1]):
            shared |= area[x] == d
        if shared:
            continue
        part_of_domain = 0.0
        for c in range(ints(problem, P_SIZES)[COLUMNS]):
            if soft_weight[d, c] != 0.0 and soft_level[c] == level:
                more = sign * need[row, c]
                old = use[d, c] - soft[d, c]
                part_of_domain += soft_weight[d, c] * (max(0, old + more) - max(0, old))
        total += part_of_domain
    return total


@part
def price(problem: Table, state: Table, number: int, level: int) -> float:
    """What the steps would add to a level's value; ``UNKNOWN`` for what only trying tells."""
    flags, kinds, columns = (
        ints(problem, P_SIZES)[FLAGS],
        ints(problem, P_SIZES)[KINDS],
        ints(problem, P_SIZES)[COLUMNS],
    )
    level_of = ints(problem, P_LEVEL_OF)
    steps, touched, net = ints2(state, S_STEPS), ints(state, S_TOUCHED), ints2(state, S_NET)
    root_net = floats(state, S_ROOT_NET)
    need = ints2(problem, P_NEED)
    area_start, area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    if number > SMALL or flags & (LINKS | OPENING | WATTS) or (flags & ENTRIES and flags & TRAFFIC):
        return UNKNOWN
    total = 0.0
    count = 0
    for i in range(number):
        item, node, option, sign = steps[i, 0], steps[i, 1], steps[i, 2], steps[i, 3]
        row = option * kinds + ints(problem, P_KIND)[node]
        for q in range(area_start[node], area_start[node + 1]):
            d = area[q]
            k = 0
            while k < count and touched[k] != d:
                k += 1
            if k == count:
                if count == len(net):
                    return UNKNOWN
                touched[k] = d
                root_net[k] = 0.0
                for c in range(columns):
                    net[k, c] = 0
                count += 1
            for c in range(columns):
                net[k, c] += sign * need[row, c]
            if flags & P99 and q == area_start[node]:
                root_net[k] += sign * floats(problem, P_ROOT_NEED)[row]
        w = ints(problem, P_WORKLOAD)[item]
        if flags & COSTS and level_of[GOAL_COST] == level:
            total += sign * floats2(problem, P_COST)[w, node]
        if level_of[GOAL_PLACED] == level:
            total -= sign * floats(problem, P_VALUE)[w]
        if flags & MOVING and level_of[GOAL_MOVES] == level:
            total += sign * price_of_move(problem, state, item, node)
        if flags & TRAFFIC and level_of[GOAL_TRAFFIC] == level:
            far = price_of_flows(problem, state, number, item, node)
            if far == UNKNOWN:
                return UNKNOWN
            total += sign * far
    for k in range(count):
        total += price_of_domain(problem, state, touched[k], k, level)
    if flags & P99 and level_of[GOAL_P99] == level:
        leaf, root, use, soft = (
            ints(problem, P_LEAF),
            floats(state, S_ROOT),
            ints2(state, S_USE),
            ints2(problem, P_SOFT),
        )
        for k in range(count):
            for i in range(number):
                node = steps[i, 1]
                if leaf[node] == touched[k]:
                    c = ints(problem, P_STABLE_COLUMN)[node]
                    unit = floats(problem, P_UNIT_OF_SHARE)[node]
                    old = response_of(root[node], use[touched[k], c], soft[touched[k], c], unit)
                    more = use[touched[k], c] + net[k, c]
                    new = response_of(root[node] + root_net[k], more, soft[touched[k], c], unit)
                    total += floats(problem, P_SCALARS)[P99_WEIGHT] * (new - old)
                    break
    return total


@part
def price_shift(problem: Table, state: Table, level: int) -> float:
    """``price`` of a shift, quicker where only soft limits and response times count and the needs stay the same."""
    flags, kinds = ints(problem, P_SIZES)[FLAGS], ints(problem, P_SIZES)[KINDS]
    steps, kind = ints2(state, S_STEPS), ints(problem, P_KIND)
    here, node = steps[0, 1], steps[1, 1]
    row = steps[0, 2] * kinds + kind[here]
    if (
        flags & (LINKS | OPENING | WATTS | BALANCED | COSTS | MOVING | TRAFFIC)
        or here == node
        or row != steps[1, 2] * kinds + kind[node]
    ):
        return price(problem, state, 2, level)
    total = price_of_node(problem, state, here, node, row, -1, level)
    total += price_of_node(problem, state, node, here, row, 1, level)
    if flags & P99 and ints(problem, P_LEVEL_OF)[GOAL_P99] == level:
        leaf, root, use, soft = (
            ints(problem, P_LEAF),
            floats(state, S_ROOT),
            ints2(state, S_USE),
            ints2(problem, P_SOFT),
        )
        more_root, need = floats(problem, P_ROOT_NEED)[row], ints2(problem, P_NEED)
        weight = floats(problem, P_SCALARS)[P99_WEIGHT]
        for i in range(2):
            h, sign = steps[i, 1], steps[i, 3]
            d, c = leaf[h], ints(problem, P_STABLE_COLUMN)[h]
            unit = floats(problem, P_UNIT_OF_SHARE)[h]
            old = response_of(root[h], use[d, c], soft[d, c], unit)
            new = response_of(root[h] + sign * more_root, use[d, c] + sign * need[row, c], soft[d, c], unit)
            total += weight * (new - old)
    return total
