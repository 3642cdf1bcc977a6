"""Filling: items and gangs one after another, each on its best seat; and emptying a few domains to fill them anew.

Ruin and recreate (Schrimpf et al. 2000) for levels where only who stands counts, not where. Owns what is emptied, who
comes back in which order, and acceptance. Teams stay where they are.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.chance import below, uniform
from allocator.solvers.heuristic.kernels.change import change
from allocator.solvers.heuristic.kernels.fits import broken, fits
from allocator.solvers.heuristic.kernels.indices import LEFT, NODES
from allocator.solvers.heuristic.kernels.jit import kernel, part, spliced
from allocator.solvers.heuristic.kernels.layout import (
    P_AREA,
    P_AREA_START,
    P_END,
    P_FIRST,
    P_GANG_SLOT,
    P_SIZE,
    P_SIZES,
    P_UNIT,
    P_UNIT_GANG,
    P_UNIT_ITEMS,
    P_UNIT_SLOT,
    P_UNIT_START,
    P_VALUE,
    P_WORKLOAD,
    S_FIRST_ON,
    S_HELD,
    S_LEFT,
    S_NEXT_ON,
    S_OPTION,
    S_RANDOM,
    S_TOTALS,
    S_USE,
    S_VALUES,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.seats import seat_gang, seat_item
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2, marks, words

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["refill"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

MOST_DOMAINS = 3  # emptied at once
LARGEST = 64  # nodes of a domain that is emptied
SAMPLED = 40  # of those who are left, that may come
MOST_LEAVING = 400
LOOKS = 4  # nodes, of which the one with most room to gain is emptied first


@spliced
def place(
    problem: Table, state: Table, item: int, lows: Int, highs: Int, room: Int, scarcity: Float, log: Int, number: int
) -> int:
    """Put an item, or its gang, on its best seat in some ranges of nodes; the new length of the log."""
    unit_start, unit_items, slot = ints(problem, P_UNIT_START), ints(problem, P_UNIT_ITEMS), ints2(problem, P_GANG_SLOT)
    unit = ints(problem, P_UNIT)[item]
    found, found_option, least = -1, -1, 1e300
    for k in range(len(lows)):
        if unit >= 0:
            node, option, left = seat_gang(problem, state, unit, lows[k], highs[k], room, scarcity)
        else:
            node, option, left = seat_item(problem, state, item, lows[k], highs[k], room, scarcity)
        if node >= 0 and left < least:
            found, found_option, least = node, option, left
    if found < 0:
        return number
    begun, q, last, stop = number, 0, 1, found + 1
    if unit >= 0:
        q, last = unit_start[unit], unit_start[unit + 1]
        rank = ints(problem, P_UNIT_SLOT)[unit]
        while stop < ints(problem, P_SIZES)[NODES] and slot[rank, stop] == slot[rank, found]:
            stop += 1
    node = found
    while q < last and node < stop:
        one = item if unit < 0 else unit_items[q]
        if fits(problem, state, one, node, found_option):
            change(problem, state, one, node, found_option, 1)
            log[number, 0], log[number, 1], log[number, 2], log[number, 3] = one, node, found_option, 1
            number += 1
            q += 1
        node += 1
    if q < last:
        number = take_back(problem, state, log, number, begun)
    return number


@spliced
def take_back(problem: Table, state: Table, log: Int, number: int, begun: int) -> int:
    """Undo the changes of a log down to a length."""
    while number > begun:
        number -= 1
        change(problem, state, log[number, 0], log[number, 1], log[number, 2], -log[number, 3])
    return begun


@part
def domain_around(problem: Table, node: int) -> int:
    """The widest domain with a limit around a node that is still small."""
    start, area = ints(problem, P_AREA_START), ints(problem, P_AREA)
    first, end = ints(problem, P_FIRST), ints(problem, P_END)
    found: int = area[start[node]]
    for q in range(start[node] + 1, start[node + 1]):
        d = area[q]
        if end[d] - first[d] <= LARGEST and end[d] - first[d] > end[found] - first[found]:
            found = d
    return found


@part
def choose_domain(problem: Table, state: Table, looks: int, room: Int, scarcity: Float) -> int:
    """Of the domains around some random nodes the one with most scarce room free."""
    use, held, random = ints2(state, S_USE), ints2(state, S_HELD), words(state, S_RANDOM)
    best, most = -1, -1.0
    for _ in range(looks):
        d = domain_around(problem, below(random, ints(problem, P_SIZES)[NODES]))
        free = 0.0
        for c in range(len(scarcity)):
            if room[d, c] > 0:
                free += scarcity[c] ** 3 * (room[d, c] - use[d, c] - held[d, c]) / room[d, c]
        if best < 0 or free > most:
            best, most = d, free
    return best


@spliced
def empty(problem: Table, state: Table, d: int, share: float, log: Int, number: int, who: Int, count: int) -> int:
    """Take out items of a domain, each with a probability, gangs whole; the number of entries of ``who``.

    ``who``: an item for each item or gang that left. ``log`` grows by as many changes as there are.
    """
    first_on, next_on = ints(state, S_FIRST_ON), ints(state, S_NEXT_ON)
    unit, unit_gang = ints(problem, P_UNIT), marks(problem, P_UNIT_GANG)
    unit_start, unit_items = ints(problem, P_UNIT_START), ints(problem, P_UNIT_ITEMS)
    where, option, random = ints(state, S_WHERE), ints(state, S_OPTION), words(state, S_RANDOM)
    first, end = ints(problem, P_FIRST)[d], ints(problem, P_END)[d]
    for node in range(first, end):
        item = first_on[node]
        while item >= 0:
            after = next_on[item]
            u = unit[item]
            if u < 0:
                begin, size = 0, 1
            elif unit_gang[u]:
                begin, size = unit_start[u], unit_start[u + 1] - unit_start[u]
            else:
                begin, size = 0, 0
            if size and uniform(random) < share and number + size <= MOST_LEAVING:
                who[count] = item
                count += 1
                for q in range(begin, begin + size):
                    one = item if u < 0 else unit_items[q]
                    if where[one] < 0:
                        continue
                    if one == after:  # mates stand elsewhere, but for a gang that is broken by force
                        after = next_on[one]
                    log[number, 0], log[number, 1], log[number, 2], log[number, 3] = one, where[one], option[one], -1
                    change(problem, state, one, where[one], option[one], -1)
                    number += 1
            item = after
    log[len(log) - 1, 0] = number
    return count


@kernel
def refill(
    problem: Table,
    state: Table,
    level: int,
    caps: Float,
    heat: float,
    rounds: int,
    room: Int,
    scarcity: Float,
    cost: Float,
    order: Int,
    counts: Int,
) -> None:
    """Fill; then empty some domains and fill them anew, ``rounds`` times, worse ones by the Metropolis rule.

    Parameters
    ----------
    level : the level to minimise. caps : float64[L + 1], most that earlier levels may be. heat : temperature.
    room, scarcity : see ``leftover``.
    cost : float64[W], scarce room that an item takes: who comes first is drawn by gain, by gain over cost, or
        by cost.
    order : items to seat anywhere before; where one of a workload finds no seat, the rest of it is passed over.
    counts : int64[3], added to: tried, taken, improving.
    """
    random, values, where = words(state, S_RANDOM), floats(state, S_VALUES), ints(state, S_WHERE)
    left, totals = ints(state, S_LEFT), ints(state, S_TOTALS)
    unit, workload = ints(problem, P_UNIT), ints(problem, P_WORKLOAD)
    unit_gang, unit_start = marks(problem, P_UNIT_GANG), ints(problem, P_UNIT_START)
    first, end = ints(problem, P_FIRST), ints(problem, P_END)
    gain = floats(problem, P_SIZE) if level == 0 else floats(problem, P_VALUE)
    largest = 1
    for u in range(len(unit_gang)):
        if unit_gang[u]:
            largest = max(largest, unit_start[u + 1] - unit_start[u])
    room_for = max(len(order), MOST_LEAVING + SAMPLED)
    log = np.zeros((MOST_LEAVING + room_for * largest + 2, 4), dtype=np.int64)
    who = np.zeros(room_for, dtype=np.int64)
    keys = np.zeros(room_for)
    passed = np.full(len(gain), -1, dtype=np.int64)
    lows, highs = np.zeros(MOST_DOMAINS, dtype=np.int64), np.zeros(MOST_DOMAINS, dtype=np.int64)
    saved = np.zeros(len(values))
    for turn in range(0 if len(order) else 1, rounds + 1):
        for v in range(len(values)):
            saved[v] = values[v]
        law = broken(problem, state)
        count = number = domains = 0
        wanted = 1 + below(random, MOST_DOMAINS) if turn else 0
        share = 1.0 if uniform(random) < 0.3 else 0.2 + 0.8 * uniform(random)
        before = totals[LEFT]
        for k in range(wanted):
            d = choose_domain(problem, state, LOOKS if k == 0 else 1, room, scarcity)
            count = empty(problem, state, d, share, log, number, who, count)
            number = log[len(log) - 1, 0]
            fresh = True
            for j in range(domains):
                fresh = fresh and lows[j] != first[d]
            if fresh:
                lows[domains], highs[domains] = first[d], end[d]
                domains += 1
        if turn == 0:
            highs[0], domains, count = ints(problem, P_SIZES)[NODES], 1, len(order)
            who[:count] = order
            keys[:count] = np.arange(count)
        for _ in range(min(SAMPLED, before) if turn else 0):
            item = left[below(random, before)]
            if gain[workload[item]] > 0.0 and where[item] < 0:
                who[count] = item
                count += 1
        rule, noise = uniform(random), uniform(random)
        for i in range(count if turn else 0):
            w = workload[who[i]]
            size = 1 if unit[who[i]] < 0 else unit_start[unit[who[i]] + 1] - unit_start[unit[who[i]]]
            key = size * gain[w] if rule < 0.5 else gain[w] / cost[w]
            if rule > 0.8:
                key = cost[w] * size if gain[w] > 0.0 else 0.0
            keys[i] = -key * (1.0 - noise * uniform(random))
        for i in np.argsort(keys[:count]):
            item = who[i]
            w = workload[item]
            if where[item] >= 0 or passed[w] == turn or (unit[item] >= 0 and not unit_gang[unit[item]]):
                continue
            came = place(problem, state, item, lows[:domains], highs[:domains], room, scarcity, log, number)
            if came == number:
                passed[w] = turn
            number = came
        if turn == 0:
            continue
        counts[0] += 1
        worse = values[level] - saved[level]
        ok = True
        law_now = broken(problem, state)
        if level == 0:
            worse += law_now - law
        else:
            ok = law_now <= law
            for v in range(level):
                ok = ok and values[v] <= caps[v]
        if ok and worse > 0.0:
            ok = worse < 30.0 * heat and uniform(random) < exp(-worse / heat)
        if ok:
            counts[1] += 1
            counts[2] += worse < 0.0
        else:
            take_back(problem, state, log, number, 0)
            for v in range(len(values)):
                values[v] = saved[v]
