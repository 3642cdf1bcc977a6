"""Teams and gangs that move as a whole: where their items come. 0 changes: there is no place for all.

Must not know which move asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.chance import below, uniform
from allocator.solvers.heuristic.kernels.fits import roomy
from allocator.solvers.heuristic.kernels.indices import NODES
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    P_END,
    P_FIRST,
    P_GANG_SLOT,
    P_PATH,
    P_PATH_START,
    P_SIZES,
    P_UNIT,
    P_UNIT_GANG,
    P_UNIT_ITEMS,
    P_UNIT_SLOT,
    P_UNIT_START,
    S_OPTION,
    S_RANDOM,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.steps import leave, some_option, step
from allocator.solvers.heuristic.kernels.tables import ints, ints2, marks, words

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["is_gang", "leave_unit", "scatter_unit", "seat_unit"]


@part
def is_gang(problem: Table, item: int) -> bool:
    """Whether the item belongs to a gang."""
    p_unit = ints(problem, P_UNIT)
    p_unit_gang = marks(problem, P_UNIT_GANG)
    unit = p_unit[item]
    return unit >= 0 and p_unit_gang[unit] == 1


@part
def seat_unit(problem: Table, state: Table, number: int, unit: int, near: int) -> int:
    """Write where the items of a unit come: a gang on distinct nodes of the domain around ``near``, a team on ``near``.

    Returns how many changes are written then, 0 where a gang has no room. A team may yet turn out not to fit.
    """
    p_unit_start = ints(problem, P_UNIT_START)
    p_unit_gang = marks(problem, P_UNIT_GANG)
    p_unit_slot = ints(problem, P_UNIT_SLOT)
    p_gang_slot = ints2(problem, P_GANG_SLOT)
    p_sizes = ints(problem, P_SIZES)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    s_option = ints(state, S_OPTION)
    first, end = p_unit_start[unit], p_unit_start[unit + 1]
    if p_unit_gang[unit]:
        rank = p_unit_slot[unit]
        place = p_gang_slot[rank, near]
        if place < 0:
            return 0
        low = near
        while low > 0 and p_gang_slot[rank, low - 1] == place:
            low -= 1
        high = near + 1
        while high < p_sizes[NODES] and p_gang_slot[rank, high] == place:
            high += 1
        if high - low < end - first:
            return 0
        option = some_option(problem, state, p_unit_items[first])
        q, node = first, near
        for _ in range(high - low):
            item = p_unit_items[q]
            if roomy(problem, state, item, node, option):
                number = step(state, number, item, node, option, 1)
                q += 1
                if q == end:
                    return number
            node += 1
            if node == high:
                node = low
        return 0
    for q in range(first, end):
        item = p_unit_items[q]
        number = step(state, number, item, near, s_option[item], 1)
    return number


@part
def scatter_unit(problem: Table, state: Table, number: int, unit: int, near: int) -> int:
    """Write where the items of a team come: on nodes one after the other of a domain one or two levels above ``near``.

    Returns how many changes are written then, 0 where an item finds no room on the nodes looked at.
    """
    p_unit_start = ints(problem, P_UNIT_START)
    p_path_start = ints(problem, P_PATH_START)
    p_path = ints(problem, P_PATH)
    p_first = ints(problem, P_FIRST)
    p_end = ints(problem, P_END)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    s_random = words(state, S_RANDOM)
    s_option = ints(state, S_OPTION)
    first, end = p_unit_start[unit], p_unit_start[unit + 1]
    length = p_path_start[near + 1] - p_path_start[near]
    height = min(length - 1, 1 + below(s_random, 2))
    d = p_path[p_path_start[near] + height]
    low, wide = p_first[d], p_end[d] - p_first[d]
    start = below(s_random, wide)
    for q in range(first, end):
        item = p_unit_items[q]
        found = -1
        for tried in range(min(wide, 6)):
            node = low + (start + tried) % wide
            if roomy(problem, state, item, node, s_option[item]):
                found = node
                break
        if found < 0:
            return 0
        if uniform(s_random) < 0.3:
            start = (start + 1) % wide
        number = step(state, number, item, found, s_option[item], 1)
    return number


@part
def leave_unit(problem: Table, state: Table, number: int, unit: int) -> int:
    """Write that the standing items of a unit leave; how many changes are written then."""
    p_unit_start = ints(problem, P_UNIT_START)
    p_unit_items = ints(problem, P_UNIT_ITEMS)
    s_where = ints(state, S_WHERE)
    for q in range(p_unit_start[unit], p_unit_start[unit + 1]):
        item = p_unit_items[q]
        if s_where[item] >= 0:
            number = leave(state, number, item)
    return number
