"""Exactness beyond floating point: a rounded solution that overdraws a limit is cut off by a valid row.

Needed only where coefficients exceed what the solver's tolerance resolves (bytes on large machines).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import highspy

from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix

__all__ = ["forbid"]


def forbid(
    solver: HighsRun,
    form: Formulation,
    matrix: Matrix,
    counts: Mapping[tuple[int, int, int], int],
    broken: Sequence[tuple[int, int]],
) -> None:
    """For each overdrawn (domain, resource): not all of its members that use the resource there, at once.

    With z = 1 iff n >= its count (n <= count - 1 + (upper - count + 1) z), sum z <= number - 1: any placement at least
    as large in every such entry draws at least as much, hence is overdrawn too.
    """
    compiled = form.compiled
    for domain, r in broken:
        low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
        row: dict[int, float] = {}
        for entry in form.entries:
            count = counts.get((entry.block, entry.option, entry.node), 0)
            floor = int(compiled.floor[entry.option, compiled.node_kind[entry.node], r])
            if not count or not floor or not low <= entry.node < high:
                continue
            column = matrix.columns[id(entry.variable)]
            upper = compiled.blocks[entry.block].count
            if upper == 1:
                row[column] = 1.0
                continue
            indicator = solver.solver.getNumCol()
            solver.solver.addCol(0.0, 0.0, 1.0, 0, [], [])
            solver.solver.changeColIntegrality(indicator, highspy.HighsVarType.kInteger)
            solver.add_row(-highspy.kHighsInf, count - 1.0, {column: 1.0, indicator: -(upper - count + 1.0)})
            row[indicator] = 1.0
        solver.add_row(-highspy.kHighsInf, len(row) - 1.0, row)
