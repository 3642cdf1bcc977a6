"""Column generation for the number of bins: a bound that is valid at every interruption, in exact integers.

Sources: Gilmore and Gomory (1961); the bound of Farley (1990); smoothing of duals by Wentges (1997).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from allocator.solvers.bounds.patterns.master import Master
from allocator.solvers.bounds.patterns.pricing import price
from allocator.solvers.bounds.patterns.problem import BinPacking, Float, Int64
from allocator.solvers.bounds.patterns.simple import volume_prices
from allocator.solvers.budget import Budget

__all__ = ["DUAL_SCALE", "Root", "farley_bound", "generate"]

DUAL_SCALE = 1 << 24  # an integer price of DUAL_SCALE is a whole bin
REDUCED_COST_SLACK = DUAL_SCALE >> 20  # patterns better by less than 1e-6 are not worth a column
SMOOTHING = 0.8  # weight of the prices of the best bound so far
BEAM = 3000
USES_PER_TYPE = 4  # of the patterns added in one round
ROUNDING = 1e-6  # of the master's value


@dataclass
class Root:
    """State of a generation: bound, the prices it comes from, and the last solution of the master.

    ``prices`` / ``worth`` is feasible in the dual: no bin is worth more than ``worth`` at ``prices``.
    ``complete``: no pattern improves the master.
    """

    lower: int = 0
    complete: bool = False
    use: Float = field(default_factory=lambda: np.zeros(0))
    value: float = math.inf
    prices: Int64 | None = None
    worth: int = 1
    rounds: int = 0

    def offer(self, problem: BinPacking, prices: Int64, worth: int, *, prefer: bool = False) -> None:
        """Take prices over when their bound is better (or as good and ``prefer``)."""
        lower = farley_bound(problem.demand, prices, worth)
        if self.prices is None or lower > self.lower or (prefer and lower == self.lower):
            self.prices, self.worth = prices, worth
        self.lower = max(self.lower, lower)


def farley_bound(demand: Int64, prices: Int64, worth: int) -> int:
    """ceil(demand @ prices / worth) in exact integers, where no bin is worth more than ``worth`` at those prices."""
    total = sum(int(d) * int(p) for d, p in zip(demand, prices, strict=True))
    return -(-total // max(worth, 1))


def generate(
    problem: BinPacking,
    master: Master,
    budget: Budget,
    *,
    threads: int,
    known: int | None = 0,
    exact: bool = True,
    beam: int = BEAM,
) -> Root:
    """Add patterns until none improves the master.

    Parameters
    ----------
    known : a bound already proven: stop as soon as the master cannot raise it; None: go on to the end.
    exact : price without a beam when the beam finds nothing; else stop there (within dives).
    """
    root = Root()
    centre = volume_prices(problem, DUAL_SCALE)
    centre_bound = float(problem.demand @ centre) / DUAL_SCALE
    enough = max(200, problem.num_types)
    while not budget.exhausted:
        solved = master.solve(budget)
        if solved is None:
            break
        root.rounds += 1
        root.use, root.value = solved.use, solved.value
        if known is not None and math.ceil(root.value - ROUNDING) <= max(known, root.lower):
            break
        duals = np.clip(np.floor(np.clip(solved.duals, 0.0, 1.0) * DUAL_SCALE), 0, DUAL_SCALE).astype(np.int64)
        limit = DUAL_SCALE + REDUCED_COST_SLACK
        mixed = (SMOOTHING * centre + (1 - SMOOTHING) * duals).astype(np.int64)
        priced = price(problem, mixed, DUAL_SCALE * 9 // 10, budget, threads=threads, beam=beam)
        bound = float(problem.demand @ mixed) / max(priced.upper, 1)
        if bound > centre_bound:
            centre, centre_bound = mixed, bound
        root.offer(problem, mixed, priced.upper)
        useful = priced.patterns[priced.patterns @ duals > limit]
        if len(useful) and master.add(_diverse(useful, enough)):
            continue
        priced = price(problem, duals, limit, budget, threads=threads, beam=beam)
        if exact and not len(priced.patterns) and not priced.complete:
            priced = price(problem, duals, limit, budget, threads=threads, most_patterns=20_000)
        root.offer(problem, duals, priced.upper, prefer=priced.complete)
        if not master.add(_diverse(priced.patterns, enough)):
            root.complete = priced.complete and not len(priced.patterns)
            break
    return root


def _diverse(patterns: Int64, most: int) -> Int64:
    """The best patterns (given best first) such that each brings a type chosen fewer than so many times."""
    used = np.zeros(patterns.shape[1], dtype=np.int64)
    chosen: list[int] = []
    for index in range(min(len(patterns), 20 * most)):
        types = patterns[index] > 0
        if used[types].min() < USES_PER_TYPE:
            chosen.append(index)
            used[types] += 1
            if len(chosen) >= most:
                break
    return patterns[chosen]
