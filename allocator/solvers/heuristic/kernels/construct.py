"""Construction: units and items one after another, each on the best of some nodes; whoever fits nowhere is left.

Owns which nodes are looked at. The order is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.change import change
from allocator.solvers.heuristic.kernels.fits import broken, fits, roomy
from allocator.solvers.heuristic.kernels.indices import NODES, RESOURCES
from allocator.solvers.heuristic.kernels.jit import kernel, part
from allocator.solvers.heuristic.kernels.layout import (
    P_FIRST_OPTION,
    P_LEAF,
    P_LIMIT,
    P_SIZES,
    P_UNIT,
    P_UNIT_GANG,
    P_UNIT_ITEMS,
    P_UNIT_START,
    P_WORKLOAD,
    S_HELD,
    S_OPTION,
    S_STEPS,
    S_USE,
    S_VALUES,
    S_WHERE,
)
from allocator.solvers.heuristic.kernels.steps import some_node, step
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2, marks
from allocator.solvers.heuristic.kernels.units import leave_unit, scatter_unit, seat_unit

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["construct", "try_steps"]

Int = npt.NDArray[np.int64]
SAME = 1e-9  # relative difference of values that counts as none


@part
def fullness(problem: Table, state: Table, node: int) -> float:
    """Largest part of a limit that is used on a node."""
    leaf = ints(problem, P_LEAF)[node]
    p_limit = ints2(problem, P_LIMIT)
    s_use, s_held = ints2(state, S_USE), ints2(state, S_HELD)
    most = 0.0
    for r in range(ints(problem, P_SIZES)[RESOURCES]):
        if 0 < p_limit[leaf, r] < 1 << 60:
            most = max(most, (s_use[leaf, r] + s_held[leaf, r]) / p_limit[leaf, r])
    return most


@part
def try_steps(problem: Table, state: Table, number: int) -> bool:
    """Carry out the steps; all of them, or none when one does not fit."""
    steps = ints2(state, S_STEPS)
    i, forth = 0, 1
    while 0 <= i < number:
        if forth == 1 and steps[i, 3] > 0 and not fits(problem, state, steps[i, 0], steps[i, 1], steps[i, 2]):
            forth = -1
            i -= 1
            continue
        change(problem, state, steps[i, 0], steps[i, 1], steps[i, 2], steps[i, 3] * forth)
        i += forth
    return i == number


@part
def undo_steps(problem: Table, state: Table, number: int) -> None:
    """Take back steps that were carried out."""
    steps = ints2(state, S_STEPS)
    for i in range(number - 1, -1, -1):
        change(problem, state, steps[i, 0], steps[i, 1], steps[i, 2], -steps[i, 3])


@part
def better(now: npt.NDArray[np.float64], best: npt.NDArray[np.float64]) -> int:
    """1 when the first values are ahead in the first level that differs, -1 when behind, 0 when equal."""
    for v in range(len(now)):
        scale = SAME * max(1.0, abs(best[v]))
        if now[v] < best[v] - scale:
            return 1
        if now[v] > best[v] + scale:
            return -1
    return 0


@part
def write_unit(problem: Table, state: Table, unit: int, item: int, node: int, option: int, kind: int) -> int:
    """Write the steps that place a unit or an item: whole on a node (kind 0) or scattered around it (kind 1)."""
    if unit < 0:
        return step(state, 0, item, node, option, 1)
    if kind == 1 and not marks(problem, P_UNIT_GANG)[unit]:
        return scatter_unit(problem, state, leave_unit(problem, state, 0, unit), unit, node)
    return seat_unit(problem, state, leave_unit(problem, state, 0, unit), unit, node)


@kernel
def construct(problem: Table, state: Table, order: Int, options: Int, looks: int, tight: bool, cursor: int) -> int:
    """Place the items of ``order`` (and the units that they belong to) where that costs least.

    Parameters
    ----------
    order : items; those that stand already are passed over.
    options : int64[M], number of options to try for each item, from its first one on.
    looks : nodes looked at for each before all are.
    tight : prefer full nodes among equals, else empty ones.
    cursor : node to begin with.

    Returns
    -------
    How many units or items were placed.
    """
    num_nodes = ints(problem, P_SIZES)[NODES]
    p_unit = ints(problem, P_UNIT)
    s_where, s_option, values = ints(state, S_WHERE), ints(state, S_OPTION), floats(state, S_VALUES)
    best = np.zeros(len(values))
    saved = np.zeros(len(values))
    steps = ints2(state, S_STEPS)
    kept = np.zeros((len(steps), 4), dtype=np.int64)
    placed = 0
    for item in order:
        if s_where[item] >= 0:
            continue
        unit = p_unit[item]
        found, found_number, found_fit = -1, 0, 0.0
        first_option = ints(problem, P_FIRST_OPTION)[ints(problem, P_WORKLOAD)[item]]
        for look in range(looks + num_nodes):
            if look < looks:
                node = cursor if look == 0 else some_node(problem, state, item)
            else:
                if found >= 0:
                    break
                node = (cursor + look - looks) % num_nodes
            for o in range(options[item]):
                option = first_option + o
                probe = item if unit < 0 else ints(problem, P_UNIT_ITEMS)[ints(problem, P_UNIT_START)[unit]]
                if not roomy(problem, state, probe, node, option if unit < 0 else s_option[probe]):
                    continue
                for kind in range(1 if unit < 0 else 2):
                    if kind == 1 and look % 4:
                        continue
                    for v in range(len(values)):
                        saved[v] = values[v]
                    law = broken(problem, state)
                    number = write_unit(problem, state, unit, item, node, option, kind)
                    if number == 0 or not try_steps(problem, state, number):
                        for v in range(len(values)):
                            values[v] = saved[v]
                        continue
                    if broken(problem, state) <= law:
                        fit = fullness(problem, state, node)
                        if not tight:
                            fit = -fit
                        ahead = 1 if found < 0 else better(values, best)
                        if ahead > 0 or (ahead == 0 and fit > found_fit):
                            found, found_number, found_fit = node, number, fit
                            for x in range(number):
                                for part_of_step in range(4):
                                    kept[x, part_of_step] = steps[x, part_of_step]
                            for v in range(len(values)):
                                best[v] = values[v]
                    undo_steps(problem, state, number)
                    for v in range(len(values)):
                        values[v] = saved[v]
                    if kind == 0 and found == node:
                        break
        if found < 0:
            continue
        for x in range(found_number):
            for part_of_step in range(4):
                steps[x, part_of_step] = kept[x, part_of_step]
        if try_steps(problem, state, found_number):
            placed += 1
            if unit >= 0 or not tight:
                cursor = (found + 1) % num_nodes if not tight else found
    return placed
