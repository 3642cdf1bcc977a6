"""P99 of the critical members of a node, from sums over them.

Owns the square-root rule (Kleinrock). Must not know who stands there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allocator.solvers.heuristic.kernels.jit import part
from allocator.solvers.heuristic.kernels.layout import P_LEAF, P_SOFT, P_STABLE_COLUMN, P_UNIT_OF_SHARE, S_ROOT, S_USE
from allocator.solvers.heuristic.kernels.tables import floats, ints, ints2

if TYPE_CHECKING:
    from allocator.solvers.heuristic.kernels.tables import Table

__all__ = ["response_cost", "response_of"]

STARVED = 1e6  # cost of a node whose stable load exceeds what it has, per unit over


@part
def response_of(root: float, used: int, whole: int, unit: float) -> float:
    """A^2 / S: summed P99 of the critical members of a node under the square-root rule (Kleinrock).

    ``root``: A. ``used``, ``whole``: stable load and capacity in units of ``unit`` cores.
    """
    if root <= 1e-12:
        return 0.0
    spare, least = (whole - used) * unit, 1e-3 * whole * unit
    if spare < least:
        return root * root / least + STARVED * (least - spare)
    return root * root / spare


@part
def response_cost(problem: Table, state: Table, node: int) -> float:
    """Summed P99 of the critical members of a node as it stands."""
    leaf, column = ints(problem, P_LEAF)[node], ints(problem, P_STABLE_COLUMN)[node]
    used, whole = ints2(state, S_USE)[leaf, column], ints2(problem, P_SOFT)[leaf, column]
    return response_of(floats(state, S_ROOT)[node], used, whole, floats(problem, P_UNIT_OF_SHARE)[node])
