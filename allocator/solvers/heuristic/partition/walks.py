"""Walks over a coarse problem: one a thread, cooling, the worst going on from the best now and then.

Owns the loop and its temperatures, which follow from what one flow costs. Must not know how the problem was made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import moves
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.problem import Problem, tabled
from allocator.solvers.heuristic.search.walker import Walker

__all__ = ["Pace", "cooled"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

CHUNK_SECONDS = 0.04
DESCENT_SHARE = 0.03
EXCHANGES = 12
MIX = {moves.SHIFT: 50, moves.SWAP: 40, moves.CHAIN: 9, moves.EXCHANGE: 1}
NOTHING = 1e-12  # of the first value: rounding in sums
LEAST = 1e-300  # a temperature at which nothing gets worse


@dataclass
class Pace:
    """How far a walk is: ``progress`` of the moves that each walk has tried, from 0 to 1; ``timed``: by the clock."""

    progress: Callable[[int], float]
    timed: bool
    tried: int = 0
    """Moves of all walks."""


def cooled(
    problem: Problem, where: Int, level: int, heats: tuple[float, float], *, pace: Pace, seeds: list[int]
) -> Int:
    """Best places found from ``where``, int64[items], minimising a level at temperatures from first to last.

    Ends before its time only where the level has come to nothing.
    """
    table = tabled(problem)
    number = len(problem.workload)
    items = Items(np.arange(number), np.arange(number + 1), (), ())
    walkers = [Walker(problem, table.table, items, seed) for seed in seeds]
    for walker in walkers:
        walker.put(where, problem.first_option[problem.workload], forced=True)
    weight = np.zeros(moves.NUM_MOVES)
    for move, part in MIX.items():
        weight[move] = part
    mix = np.cumsum(weight) / weight.sum()
    mix[-1] = 2.0
    caps = np.full(len(walkers[0].values), np.inf)
    caps[0] = float(walkers[0].values[0])
    best_value, best = float(walkers[0].values[level]), walkers[0].state.where.copy()
    nothing = NOTHING * max(abs(best_value), 1e-300)
    done, exchanged, rounds = 0, 0, 2000
    with ThreadPoolExecutor(len(walkers)) as pool:
        while best_value > nothing and (progress := pace.progress(done)) < 1.0:
            cooling = min(1.0, progress / (1 - DESCENT_SHARE))
            heat = heats[0] * (heats[1] / heats[0]) ** cooling if progress < 1 - DESCENT_SHARE else LEAST
            began = time.perf_counter()
            jobs = [pool.submit(walker.walk, level, caps, heat, rounds, mix) for walker in walkers]
            for job in jobs:
                job.result()
            done += rounds
            pace.tried += rounds * len(walkers)
            if pace.timed:
                rounds = int(np.clip(rounds * CHUNK_SECONDS / max(time.perf_counter() - began, 1e-4), 200, 10_000_000))
            order = sorted(walkers, key=lambda walker: float(walker.values[level]))
            if order[0].values[level] < best_value:
                best_value, best = float(order[0].values[level]), order[0].state.where.copy()
            if progress * EXCHANGES >= exchanged + 1:
                exchanged = int(progress * EXCHANGES)
                if len(order) > 1:
                    order[-1].adopt(order[0])
    return best
