"""The draw of nodes: the goal ``power``, and what counts against caps (equation 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.indices import CAPS, FLAGS, GOAL_POWER, WATTS
from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import (
    P_DRAW_IDLE,
    P_DRAW_SLOPE,
    P_DRIVER,
    P_IDLE,
    P_LEVEL_OF,
    P_NEED,
    P_PATH,
    P_PATH_START,
    P_SCALARS,
    P_SIZES,
    P_SLOPE,
    S_VALUES,
    S_WATTS,
    WATT,
    WATT_COLUMN,
)
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["count_watts", "draw_of"]


@part
def draw_of(problem: Table, node: int, row: int, opened: int) -> float:
    """Watts that an item adds to a node, its own power share included; ``opened``: 1 when it is the first there."""
    p_scalars, p_need = floats(problem, P_SCALARS), ints2(problem, P_NEED)
    driver = ints(problem, P_DRIVER)[node]
    busy = p_need[row, driver] if driver >= 0 else 0
    drawn = opened * floats(problem, P_DRAW_IDLE)[node] + floats(problem, P_DRAW_SLOPE)[node] * busy
    column = int(p_scalars[WATT_COLUMN])
    if column >= 0:
        drawn += p_scalars[WATT] * p_need[row, column]
    return drawn


@part
def count_watts(problem: Table, state: Table, node: int, row: int, opened: int, sign: int) -> None:
    """Keep the goal and the draw of the domains above a node."""
    flags = ints(problem, P_SIZES)[FLAGS]
    if flags & WATTS:
        driver = ints(problem, P_DRIVER)[node]
        busy = ints2(problem, P_NEED)[row, driver] if driver >= 0 else 0
        more = opened * floats(problem, P_IDLE)[node] + floats(problem, P_SLOPE)[node] * busy
        floats(state, S_VALUES)[ints(problem, P_LEVEL_OF)[GOAL_POWER]] += sign * more
    if flags & CAPS:
        s_watts = floats(state, S_WATTS)
        p_path_start, p_path = ints(problem, P_PATH_START), ints(problem, P_PATH)
        drawn = draw_of(problem, node, row, opened)
        for q in range(p_path_start[node], p_path_start[node + 1]):
            s_watts[p_path[q]] += sign * drawn
