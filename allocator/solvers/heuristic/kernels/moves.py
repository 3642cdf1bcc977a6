"""Moves: each writes its elementary changes (item, node, option, sign) to ``state.steps`` and says how many.

Owns what is tried. Must not know goals. Every item that moves leaves first, then all come; 0 changes: nothing to try.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.chance import below, uniform
from allocator.solvers.heuristic.kernels.fits import partner, roomy, welcome
from allocator.solvers.heuristic.kernels.indices import (
    COLUMNS,
    FLAGS,
    ITEMS,
    KINDS,
    LEFT,
    MOVING,
    NODES,
    PAIRS,
    TRANSIENT,
    UNITS,
)
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    P_ELIGIBLE,
    P_KIND,
    P_LEAF,
    P_LIMIT,
    P_NEED,
    P_SIZES,
    P_UNIT,
    P_UNIT_GANG,
    P_UNIT_ITEMS,
    P_UNIT_START,
    P_WORKLOAD,
    S_FIRST_ON,
    S_HELD,
    S_LEFT,
    S_MEMBERS,
    S_NEXT_ON,
    S_OPTION,
    S_RANDOM,
    S_STEPS,
    S_TOTALS,
    S_USE,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.state import LARGEST_MOVE
from allocator.solvers.heuristic.kernels.steps import (
    leave,
    some_node,
    some_on,
    some_option,
    someone_elsewhere,
    step,
)
from allocator.solvers.heuristic.kernels.tables import ints, ints2, marks, marks2, words
from allocator.solvers.heuristic.kernels.units import is_gang, leave_unit, scatter_unit, seat_unit

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = [
    "CHAIN",
    "DROP",
    "EVICT",
    "EXCHANGE",
    "INSERT",
    "MAKE_ROOM",
    "NUM_MOVES",
    "REGROUP",
    "SHIFT",
    "SWAP",
    "TEAM",
    "propose",
    "propose_shift",
]

SHIFT, SWAP, CHAIN, TEAM, MAKE_ROOM, INSERT, EVICT, EXCHANGE, REGROUP, DROP = range(10)
NUM_MOVES = 10
SCANNED = 24  # items of a node that are looked at for one to exchange with


@part
def make_room(problem: Table, state: Table, item: int, node: int, option: int, number: int) -> int:
    """Write that items of a node, eight at most, leave until another one has room there; how many changes are written.

    Items of units stay. Where those who leave go is the caller's.
    """
    p_sizes = ints(problem, P_SIZES)
    p_kind = ints(problem, P_KIND)
    p_leaf = ints(problem, P_LEAF)
    p_need = ints2(problem, P_NEED)
    p_limit = ints2(problem, P_LIMIT)
    p_unit = ints(problem, P_UNIT)
    s_steps = ints2(state, S_STEPS)
    s_option = ints(state, S_OPTION)
    s_use = ints2(state, S_USE)
    s_held = ints2(state, S_HELD)
    s_next_on = ints(state, S_NEXT_ON)
    row = option * p_sizes[KINDS] + p_kind[node]
    leaf = p_leaf[node]
    most = 8
    victim = some_on(state, node, 64)
    begin = number
    freed = 0
    # who leaves is taken in list order from a random place on; who does not help is passed over
    for _ in range(3 * most):
        if victim < 0 or freed == most:
            break
        short = False
        helps = False
        for c in range(p_sizes[COLUMNS]):
            need = p_need[row, c]
            if need > 0:
                gone = 0
                for q in range(begin, number):
                    other = s_steps[q, 0]
                    gone += p_need[s_option[other] * p_sizes[KINDS] + p_kind[node], c]
                over = s_use[leaf, c] + s_held[leaf, c] + need - gone - p_limit[leaf, c]
                if over > 0:
                    short = True
                    if p_need[s_option[victim] * p_sizes[KINDS] + p_kind[node], c] > 0:
                        helps = True
        if not short:
            break
        if helps and victim != item and p_unit[victim] < 0:
            number = leave(state, number, victim)
            freed += 1
        victim = s_next_on[victim]
    return number


@part
def propose_shift(problem: Table, state: Table) -> int:
    """Write that a random item goes to another node, or to another of its options; 0 where no try of some has room."""
    sizes, s_where, s_option = ints(problem, P_SIZES), ints(state, S_WHERE), ints(state, S_OPTION)
    item = below(words(state, S_RANDOM), sizes[ITEMS])
    here = s_where[item]
    if here < 0:
        return 0
    option = some_option(problem, state, item)
    plain = not sizes[FLAGS] & (UNITS | PAIRS | MOVING | TRANSIENT)
    for _ in range(4):
        node = below(words(state, S_RANDOM), sizes[NODES]) if plain else some_node(problem, state, item)
        if node == here:
            if option == s_option[item]:
                continue
        elif not roomy(problem, state, item, node, option) or not welcome(problem, state, item, node, -1):
            continue
        return step(state, leave(state, 0, item), item, node, option, 1)
    return 0


@part
def propose(problem: Table, state: Table, move: int) -> int:
    """Write the changes of a random move of a kind but ``SHIFT``; 0 when there is nothing to try."""
    p_sizes = ints(problem, P_SIZES)
    p_unit = ints(problem, P_UNIT)
    p_unit_gang = marks(problem, P_UNIT_GANG)
    p_unit_start = ints(problem, P_UNIT_START)
    p_eligible = marks2(problem, P_ELIGIBLE)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    p_workload = ints(problem, P_WORKLOAD)
    s_random = words(state, S_RANDOM)
    s_where = ints(state, S_WHERE)
    s_totals = ints(state, S_TOTALS)
    s_left = ints(state, S_LEFT)
    s_option = ints(state, S_OPTION)
    s_steps = ints2(state, S_STEPS)
    s_members = ints(state, S_MEMBERS)
    s_first_on = ints(state, S_FIRST_ON)
    s_next_on = ints(state, S_NEXT_ON)
    random = s_random
    num_items, num_nodes = p_sizes[ITEMS], p_sizes[NODES]
    item = below(random, num_items)
    here = s_where[item]
    if move == INSERT:
        if s_totals[LEFT] == 0:
            return 0
        item = s_left[below(random, s_totals[LEFT])]
        unit = p_unit[item]
        if unit >= 0:
            near = some_node(problem, state, item)
            number = leave_unit(problem, state, 0, unit)
            if p_unit_gang[unit] or uniform(random) < 0.5:
                return seat_unit(problem, state, number, unit, near)
            return scatter_unit(problem, state, number, unit, near)
        option = some_option(problem, state, item)
        for _ in range(8):
            node = some_node(problem, state, item)
            if roomy(problem, state, item, node, option):
                return step(state, 0, item, node, option, 1)
        return 0
    if move == EVICT:  # somebody unplaced takes the place of somebody placed
        if s_totals[LEFT] == 0 or here < 0:
            return 0
        new = s_left[below(random, s_totals[LEFT])]
        unit, new_unit = p_unit[item], p_unit[new]
        number = leave(state, 0, item) if unit < 0 else leave_unit(problem, state, 0, unit)
        if number > LARGEST_MOVE // 4:
            return 0
        if new_unit < 0:
            return step(state, number, new, here, some_option(problem, state, new), 1)
        if new_unit == unit or p_unit_start[new_unit + 1] - p_unit_start[new_unit] > LARGEST_MOVE // 4:
            return 0
        number = leave_unit(problem, state, number, new_unit)
        return seat_unit(problem, state, number, new_unit, here)
    if here < 0:
        return 0
    if move == DROP:
        unit = p_unit[item]
        return leave(state, 0, item) if unit < 0 else leave_unit(problem, state, 0, unit)
    if move in (SWAP, CHAIN):
        other = someone_elsewhere(problem, state, item)
        if other < 0:
            return 0
        there = s_where[other]
        other = partner(problem, state, item, there, other, SCANNED, move == SWAP)
        if other < 0:
            return 0
        target = here if move == SWAP else -1
        for _ in range(6):
            if target >= 0:
                break
            node = some_node(problem, state, other)
            if (
                node not in (there, here)
                and roomy(problem, state, other, node, s_option[other])
                and welcome(problem, state, other, node, -1)
            ):
                target = node
        if target < 0:
            return 0
        number = leave(state, leave(state, 0, item), other)
        number = step(state, number, item, there, s_option[item], 1)
        return step(state, number, other, target, s_option[other], 1)
    if move == TEAM:
        unit = p_unit[item]
        if unit < 0 or p_unit_start[unit + 1] - p_unit_start[unit] > LARGEST_MOVE // 4:
            return 0
        near = some_node(problem, state, item)
        number = leave_unit(problem, state, 0, unit)
        if p_unit_gang[unit] or uniform(random) < 0.6:
            return seat_unit(problem, state, number, unit, near)
        return scatter_unit(problem, state, number, unit, near)
    if move == MAKE_ROOM:
        node = some_node(problem, state, item)
        option = s_option[item]
        if node == here or not p_eligible[option, node] or is_gang(problem, item):
            return 0
        number = make_room(problem, state, item, node, option, 0)
        out = number
        if out == 0:
            return 0
        number = leave(state, number, item)
        number = step(state, number, item, node, option, 1)
        for q in range(out):
            victim = s_steps[q, 0]
            found = -1
            for tried in range(6):
                target = here if tried == 0 else below(random, num_nodes)
                if target != node and (target == here or roomy(problem, state, victim, target, s_option[victim])):
                    found = target
                    break
            if found < 0:
                return 0
            number = step(state, number, victim, found, s_option[victim], 1)
        return number
    if move == EXCHANGE:  # two nodes exchange all they hold
        node = below(random, num_nodes)
        if node == here or s_members[node] + s_members[here] > LARGEST_MOVE // 2:
            return 0
        number = 0
        for side in range(2):
            one = s_first_on[here if side == 0 else node]
            while one >= 0:
                number = leave(state, number, one)
                one = s_next_on[one]
        out = number
        for q in range(out):
            one = s_steps[q, 0]
            number = step(state, number, one, node if s_where[one] == here else here, s_option[one], 1)
        return number
    if move == REGROUP:  # a team gathers on a node of one of its members, others of that node take the places left
        unit = p_unit[item]
        if unit < 0 or p_unit_gang[unit]:
            return 0
        number = 0
        other = s_first_on[here]
        for q in range(p_unit_start[unit], p_unit_start[unit + 1]):
            mate = p_unit_items[q]
            away = s_where[mate]
            if away < 0 or away == here:
                continue
            while other >= 0 and (p_unit[other] == unit or p_workload[other] != p_workload[mate]):
                other = s_next_on[other]
            if other < 0:
                break
            number = leave(state, leave(state, number, mate), other)
            other = s_next_on[other]
            if number >= LARGEST_MOVE // 4:
                break
        out = number
        for q in range(0, out, 2):
            mate, other = s_steps[q, 0], s_steps[q + 1, 0]
            number = step(state, number, mate, here, s_option[mate], 1)
            number = step(state, number, other, s_where[mate], s_option[other], 1)
        return number
    return 0
