"""Which moves are tried how often: by what the instance and the level have. Knows no instance beyond its arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels import moves
from allocator.solvers.heuristic.kernels.problem import Problem

__all__ = ["mix_of"]

Float = npt.NDArray[np.float64]


def mix_of(problem: Problem, *, left: bool) -> Float:
    """Cumulated probabilities of the moves. ``left``: somebody is unplaced."""
    flags = int(problem.sizes[at.FLAGS])
    weight = np.zeros(moves.NUM_MOVES)
    full = bool(flags & at.TRANSIENT)  # who left holds its place: hardly anything moves alone
    weight[moves.SHIFT] = 35 if full else 45
    weight[moves.SWAP] = 30 if full else 35
    weight[moves.CHAIN] = 34 if full else 15
    weight[moves.MAKE_ROOM] = 6 if full else 1
    teams = bool(flags & at.UNITS)
    if teams:
        weight[moves.TEAM] = 8
    if teams and flags & (at.TRAFFIC | at.LINKS):
        weight[moves.REGROUP] = 6
    if flags & (at.TRAFFIC | at.LINKS) and problem.sizes[at.ITEMS] < 40 * problem.sizes[at.NODES]:
        weight[moves.EXCHANGE] = 1
    if left:
        weight[moves.INSERT] = 20
        weight[moves.EVICT] = 10
        if problem.level_of[at.GOAL_PLACED] >= 0:
            weight[moves.DROP] = 2
    found: Float = np.cumsum(weight) / weight.sum()
    found[-1] = 2.0
    return found
