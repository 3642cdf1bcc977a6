"""The walk: random moves, kept or taken back by the Metropolis rule (Kirkpatrick, Gelatt and Vecchi 1983).

Owns acceptance. Earlier levels stay within their caps; rules of the whole plan never get worse.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.chance import uniform
from allocator.solvers.heuristic.kernels.change import change
from allocator.solvers.heuristic.kernels.fits import broken, fits, leaves_room
from allocator.solvers.heuristic.kernels.indices import FLAGS, TRANSIENT
from allocator.solvers.heuristic.kernels.jit import kernel
from allocator.solvers.heuristic.kernels.layout import (
    P_SIZES,
    P_UNIT_ITEMS,
    P_UNIT_START,
    S_OPTION,
    S_PLACED,
    S_RANDOM,
    S_SAVED,
    S_STEPS,
    S_VALUES,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.moves import SHIFT, propose, propose_shift
from allocator.solvers.heuristic.kernels.price import price, price_shift
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2, words

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["clear_parts", "put_all", "walk"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

NEGLIGIBLE = 1e-13  # of a level's value: rounding in sums


@kernel
def walk(
    problem: Table,
    state: Table,
    level: int,
    caps: Float,
    heat: float,
    rounds: int,
    mix: Float,
    counts: Int,
    sample: Float,
) -> None:
    """Try ``rounds`` moves at one temperature.

    Parameters
    ----------
    level : the level to minimise; level 0 together with how far rules are broken.
    caps : float64[L + 1], most that earlier levels may be.
    heat : the temperature.
    mix : float64[NUM_MOVES], cumulated probabilities of the moves.
    counts : int64[4, NUM_MOVES], added to: tried, fitting (among those not too dear beforehand), taken, improving.
    sample : float64[1 + a power of two], number of worsenings met, then the latest of them, round about.
    """
    s_values = floats(state, S_VALUES)
    s_saved = floats(state, S_SAVED)
    s_steps = ints2(state, S_STEPS)
    s_random = words(state, S_RANDOM)
    values, saved, steps = s_values, s_saved, s_steps
    num_levels = len(values)
    holding = ints(problem, P_SIZES)[FLAGS] & TRANSIENT
    for _ in range(rounds):
        dice = uniform(s_random)
        move = 0
        while mix[move] <= dice:
            move += 1
        number = propose_shift(problem, state) if move == SHIFT else propose(problem, state, move)
        counts[0, move] += 1
        if number == 0:
            continue
        bar = min(30.0, -log(max(1e-300, uniform(s_random)))) * heat  # worse by more is not taken
        if level > 0:
            worse = price_shift(problem, state, level) if move == SHIFT else price(problem, state, number, level)
            if worse > bar and worse > NEGLIGIBLE * max(1.0, abs(values[level])):
                met = int(sample[0])
                sample[1 + (met & (len(sample) - 2))] = worse
                sample[0] += 1.0
                continue
        for v in range(num_levels):
            saved[v] = values[v]
        law = broken(problem, state)
        i, forth = 0, 1
        taken = False
        while i >= 0:
            if forth == 1:
                if i == number:
                    counts[1, move] += 1
                    law_now = broken(problem, state)
                    worse = values[level] - saved[level]
                    ok = True
                    if level == 0:
                        worse += law_now - law
                    else:
                        ok = law_now <= law
                        for v in range(level):
                            if values[v] > caps[v]:
                                ok = False
                    if ok and holding:
                        for x in range(number):
                            if steps[x, 3] < 0:
                                ok = ok and leaves_room(problem, state, steps[x, 0], steps[x, 1], steps[x, 2])
                    if ok and worse > 0.0:
                        met = int(sample[0])
                        sample[1 + (met & (len(sample) - 2))] = worse
                        sample[0] += 1.0
                        ok = worse <= bar
                    if ok:
                        taken = True
                        counts[2, move] += 1
                        if worse < 0.0:
                            counts[3, move] += 1
                        break
                    forth = -1
                    i -= 1
                    continue
                if steps[i, 3] > 0 and not fits(problem, state, steps[i, 0], steps[i, 1], steps[i, 2]):
                    forth = -1
                    i -= 1
                    continue
            change(problem, state, steps[i, 0], steps[i, 1], steps[i, 2], steps[i, 3] * forth)
            i += forth
        if not taken:
            for v in range(num_levels):
                values[v] = saved[v]


@kernel
def put_all(problem: Table, state: Table, where: Int, option: Int, forced: bool) -> int:
    """Place items of an empty state as told (-1: not); without ``forced`` only while they fit. How many stand."""
    number = 0
    for item in range(len(where)):
        node = where[item]
        if node >= 0 and (forced or fits(problem, state, item, node, option[item])):
            change(problem, state, item, node, option[item], 1)
            number += 1
    return number


@kernel
def clear_parts(problem: Table, state: Table) -> int:
    """Take out the items of units that stand in part; how many units."""
    unit_start, unit_items = ints(problem, P_UNIT_START), ints(problem, P_UNIT_ITEMS)
    placed, where, option = ints(state, S_PLACED), ints(state, S_WHERE), ints(state, S_OPTION)
    number = 0
    for unit in range(len(placed)):
        if 0 < placed[unit] < unit_start[unit + 1] - unit_start[unit]:
            number += 1
            for q in range(unit_start[unit], unit_start[unit + 1]):
                item = unit_items[q]
                if where[item] >= 0:
                    change(problem, state, item, where[item], option[item], -1)
    return number
