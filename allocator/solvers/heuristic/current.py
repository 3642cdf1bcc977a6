"""The plan of leaving everything where it runs now: there before anything is searched. Knows no goal."""

from __future__ import annotations

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.solvers.base import Assignment
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["as_it_runs"]


def as_it_runs(compiled: Compiled) -> Assignment | None:
    """Members where they run now, the others left out; None where that breaks a rule or nobody runs.

    None, too, where floats cannot compute the shares of these numbers.
    """
    counts: dict[tuple[int, int, int], int] = {}
    for block in compiled.blocks:
        if block.current_node >= 0:
            counts[block.index, block.current_option, block.current_node] = block.count
        elif not compiled.model.may_leave_out:
            return None
    try:
        plan = optimal_shares(compiled, counts) if counts else None
    except MethodRefused:
        return None
    return plan.assignment if plan is not None and checked(compiled, plan.assignment) else None
