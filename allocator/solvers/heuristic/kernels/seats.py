"""The best seat of an item or a gang among the nodes of a range: the one whose leftovers stay of most use.

Owns what makes a seat good where nodes differ in nothing but room. Must not know goals or who asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.fits import fits, roomy
from allocator.solvers.heuristic.kernels.indices import COLUMNS, KINDS, NODES
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    P_AREA,
    P_AREA_START,
    P_END,
    P_FIRST,
    P_FIRST_OPTION,
    P_GANG_SLOT,
    P_KIND,
    P_LIMIT,
    P_NEED,
    P_SIZES,
    P_UNIT_ITEMS,
    P_UNIT_SLOT,
    P_UNIT_START,
    P_WORKLOAD,
    S_HELD,
    S_USE,
)
from allocator.solvers.heuristic.kernels.tables import ints, ints2

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["seat_gang", "seat_item"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

ABOVE = 0.1  # weight of free room in domains above a node, against that of the node itself
FEWEST = 1e6  # weight of a node more that would do
WORST = 1e300


@part
def leftover(problem: Table, state: Table, node: int, row: int, room: Int, scarcity: Float) -> float:
    """What would be left at a node and above it once a need is there: free parts, and parts that others strand.

    ``room``: int64[D, Q], what a domain has in all, 0: no matter. ``scarcity``: float64[Q], asked for over there.
    """
    need, use, held = ints2(problem, P_NEED), ints2(state, S_USE), ints2(state, S_HELD)
    start, area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    total = 0.0
    for q in range(start[node], start[node + 1]):
        d = area[q]
        least, free, weights = 1.0, 0.0, 0.0
        for c in range(len(scarcity)):
            if room[d, c] > 0 and scarcity[c] > 0.0:
                part_left = (room[d, c] - use[d, c] - held[d, c] - need[row, c]) / room[d, c]
                least = min(least, part_left)
                free += scarcity[c] * part_left
                weights += scarcity[c]
        total += free - weights * least + (free if q == start[node] else ABOVE * free)
    return total


@part
def next_node(problem: Table, state: Table, node: int, row: int) -> int:
    """The node to look at after one that a need does not fit on: beyond the widest domain of its kind that is full."""
    kind, limit, need = ints(problem, P_KIND), ints2(problem, P_LIMIT), ints2(problem, P_NEED)
    use, held, end = ints2(state, S_USE), ints2(state, S_HELD), ints(problem, P_END)
    start, area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    columns = ints(problem, P_SIZES)[COLUMNS]
    after = node + 1
    for q in range(start[node] + 1, start[node + 1]):
        d = area[q]
        for c in range(columns):
            if need[row, c] > 0 and use[d, c] + held[d, c] + need[row, c] > limit[d, c]:
                while after < end[d] and kind[after] == kind[node]:
                    after += 1
                break
    return after


@part
def seat_item(
    problem: Table, state: Table, item: int, low: int, high: int, room: Int, scarcity: Float
) -> tuple[int, int, float]:
    """The node of ``low`` to ``high`` where least is left over, -1 for none, the option there, and what is left."""
    kinds, kind = ints(problem, P_SIZES)[KINDS], ints(problem, P_KIND)
    first_option, w = ints(problem, P_FIRST_OPTION), ints(problem, P_WORKLOAD)[item]
    found, found_option, least = -1, -1, WORST
    for option in range(first_option[w], first_option[w + 1]):
        node = low
        while node < high:
            if not roomy(problem, state, item, node, option):
                node += 1
                continue
            row = option * kinds + kind[node]
            if not fits(problem, state, item, node, option):
                node = next_node(problem, state, node, row)
                continue
            left = leftover(problem, state, node, row, room, scarcity)
            if left < least:
                found, found_option, least = node, option, left
            node += 1
    return found, found_option, least


@part
def holds(problem: Table, state: Table, row: int, size: int, node: int, low: int, high: int) -> bool:
    """Whether the domains that contain all of ``low`` to ``high`` have room for a need ``size`` times."""
    limit, need = ints2(problem, P_LIMIT), ints2(problem, P_NEED)
    use, held, end = ints2(state, S_USE), ints2(state, S_HELD), ints(problem, P_END)
    first, start, area = ints(problem, P_FIRST), ints(problem, P_AREA_START), ints(problem, P_AREA)
    for q in range(start[node], start[node + 1]):
        d = area[q]
        if first[d] <= low and high <= end[d]:
            for c in range(ints(problem, P_SIZES)[COLUMNS]):
                if need[row, c] > 0 and use[d, c] + held[d, c] + size * need[row, c] > limit[d, c]:
                    return False
    return True


@part
def seat_gang(
    problem: Table, state: Table, unit: int, low: int, high: int, room: Int, scarcity: Float
) -> tuple[int, int, float]:
    """Where a gang may fit between ``low`` and ``high``: first node of a domain, -1 for none, and option.

    The domain with the fewest nodes that would do, among equals the one where least is left over: in the last value.
    """
    unit_start, unit_items = ints(problem, P_UNIT_START), ints(problem, P_UNIT_ITEMS)
    slot, rank = ints2(problem, P_GANG_SLOT), ints(problem, P_UNIT_SLOT)[unit]
    first_option, kind = ints(problem, P_FIRST_OPTION), ints(problem, P_KIND)
    nodes, kinds = ints(problem, P_SIZES)[NODES], ints(problem, P_SIZES)[KINDS]
    size, item = unit_start[unit + 1] - unit_start[unit], unit_items[unit_start[unit]]
    w = ints(problem, P_WORKLOAD)[item]
    found, found_option, least = -1, -1, WORST
    position = low
    while position < high:
        place = slot[rank, position]
        inner = position
        while position < nodes and slot[rank, position] == place:
            position += 1
        if place < 0:
            continue
        while inner > 0 and slot[rank, inner - 1] == place:
            inner -= 1
        for option in range(first_option[w], first_option[w + 1]):
            count, one = 0, -1
            for node in range(inner, position):
                if roomy(problem, state, item, node, option):
                    count += 1
                    one = node
            if count < size:
                continue
            row = option * kinds + kind[one]
            left = count * FEWEST + leftover(problem, state, one, row, room, scarcity)
            if left < least and holds(problem, state, row, size, one, inner, position):
                found, found_option, least = inner, option, left
    return found, found_option, least
