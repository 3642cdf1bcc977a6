"""What moves are written of: elementary changes, and random choices of an item, an option and a node.

Owns chance. Must not know whether a change is allowed or what it costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.chance import below, uniform
from allocator.solvers.heuristic.kernels.fits import reachable
from allocator.solvers.heuristic.kernels.indices import FLAGS, ITEMS, MOVING, NODES, PAIRS, TRANSIENT, UNITS
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    NEARNESS,
    P_CURRENT,
    P_END,
    P_FIRST,
    P_FIRST_OPTION,
    P_PAIR_ITEM,
    P_PAIR_START,
    P_PATH,
    P_PATH_START,
    P_SCALARS,
    P_SIZES,
    P_UNIT,
    P_UNIT_ITEMS,
    P_UNIT_RATE,
    P_UNIT_START,
    P_WORKLOAD,
    S_FIRST_ON,
    S_MEMBERS,
    S_NEXT_ON,
    S_OPTION,
    S_RANDOM,
    S_STEPS,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2, words

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["homesick", "leave", "some_node", "some_on", "some_option", "someone_elsewhere", "step"]

LOOKS = 16  # at nodes or items until one will do
STRIDE = 64  # random steps along a node's list, at most
HOMESICK = 0.3  # part of the moves of an item that try it where it runs now


@part
def step(state: Table, number: int, item: int, node: int, option: int, sign: int) -> int:
    """Write one change; how many are written then."""
    s_steps = ints2(state, S_STEPS)
    s_steps[number, 0] = item
    s_steps[number, 1] = node
    s_steps[number, 2] = option
    s_steps[number, 3] = sign
    return number + 1


@part
def leave(state: Table, number: int, item: int) -> int:
    """Write that an item leaves where it stands; how many changes are written then."""
    s_where = ints(state, S_WHERE)
    s_option = ints(state, S_OPTION)
    return step(state, number, item, s_where[item], s_option[item], -1)


@part
def some_option(problem: Table, state: Table, item: int) -> int:
    """The item's option, now and then another one."""
    p_workload = ints(problem, P_WORKLOAD)
    p_first_option = ints(problem, P_FIRST_OPTION)
    s_random = words(state, S_RANDOM)
    s_option = ints(state, S_OPTION)
    w = p_workload[item]
    first, number = p_first_option[w], p_first_option[w + 1] - p_first_option[w]
    if number == 1 or uniform(s_random) < 0.7:
        return s_option[item]
    return first + below(s_random, number)


@part
def homesick(problem: Table, state: Table, item: int) -> bool:
    """Now and then, whether an item that runs elsewhere should be tried where it runs now: it costs nothing there."""
    if not ints(problem, P_SIZES)[FLAGS] & (MOVING | TRANSIENT):
        return False
    origin = ints(problem, P_CURRENT)[item]
    return origin >= 0 and origin != ints(state, S_WHERE)[item] and uniform(words(state, S_RANDOM)) < HOMESICK


@part
def some_on(state: Table, node: int, most: int) -> int:
    """An item of a node, fewer than ``most`` random steps along its list; -1 where there is none."""
    s_first_on = ints(state, S_FIRST_ON)
    s_random = words(state, S_RANDOM)
    s_next_on = ints(state, S_NEXT_ON)
    item = s_first_on[node]
    if item >= 0:
        for _ in range(below(s_random, min(most, ints(state, S_MEMBERS)[node]))):
            item = s_next_on[item]
    return item


@part
def near_node(problem: Table, state: Table, item: int) -> int:
    """A node: now and then where the item runs now, often near one that it talks to; else -1."""
    p_sizes = ints(problem, P_SIZES)
    p_scalars = floats(problem, P_SCALARS)
    p_unit = ints(problem, P_UNIT)
    p_unit_rate = floats(problem, P_UNIT_RATE)
    p_unit_start = ints(problem, P_UNIT_START)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    p_pair_start = ints(problem, P_PAIR_START)
    p_pair_item = ints(problem, P_PAIR_ITEM)
    p_path_start = ints(problem, P_PATH_START)
    p_path = ints(problem, P_PATH)
    p_first = ints(problem, P_FIRST)
    p_end = ints(problem, P_END)
    s_random = words(state, S_RANDOM)
    s_where = ints(state, S_WHERE)
    flags = p_sizes[FLAGS]
    if homesick(problem, state, item):
        return ints(problem, P_CURRENT)[item]
    near = -1
    if flags & (UNITS | PAIRS) and uniform(s_random) < p_scalars[NEARNESS]:
        unit = p_unit[item]
        if unit >= 0 and p_unit_rate[unit] > 0.0:
            first = p_unit_start[unit]
            mate = p_unit_items[first + below(s_random, p_unit_start[unit + 1] - first)]
            near = s_where[mate]
        elif flags & PAIRS and p_pair_start[item + 1] > p_pair_start[item]:
            first = p_pair_start[item]
            near = s_where[p_pair_item[first + below(s_random, p_pair_start[item + 1] - first)]]
    if near < 0:
        return -1
    # the node itself, or one in a domain around it
    length = p_path_start[near + 1] - p_path_start[near]
    height = 0
    while height < length - 1 and uniform(s_random) < 0.4:
        height += 1
    d = p_path[p_path_start[near] + height]
    return p_first[d] + below(s_random, p_end[d] - p_first[d])


@part
def some_node(problem: Table, state: Table, item: int) -> int:
    """A node: ``near_node``, else any where the item can come at all."""
    node = near_node(problem, state, item)
    if node >= 0:
        return node
    random, number = words(state, S_RANDOM), ints(problem, P_SIZES)[NODES]
    node = below(random, number)
    if ints(problem, P_SIZES)[FLAGS] & TRANSIENT and ints(state, S_WHERE)[item] >= 0:
        option = ints(state, S_OPTION)[item]
        for _ in range(LOOKS):
            if reachable(problem, item, node, option):
                break
            node = below(random, number)
    return node


@part
def someone_elsewhere(problem: Table, state: Table, item: int) -> int:
    """An item to exchange with: one on ``near_node``, else any on a node where the item can come; -1 without."""
    where, random = ints(state, S_WHERE), words(state, S_RANDOM)
    here = where[item]
    node = near_node(problem, state, item)
    if node >= 0:
        return some_on(state, node, STRIDE) if node != here else -1
    number, option = ints(problem, P_SIZES)[ITEMS], ints(state, S_OPTION)[item]
    holds = ints(problem, P_SIZES)[FLAGS] & TRANSIENT
    for _ in range(LOOKS):
        other = below(random, number)
        node = where[other]
        if node >= 0 and node != here and (not holds or reachable(problem, item, node, option)):
            return other
    return -1
