"""The integer program over some pairs of agent and job, through HiGHS; answers are checked in exact integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Bool, Int64
from allocator.solvers.decomposition.assignment.relaxation import pair_columns
from allocator.solvers.decomposition.programs import Columns, Rows, minimise
from allocator.solvers.milp.highs import Stop

__all__ = ["PairAnswer", "solve_pairs"]

SLIP = 1e-6  # of the solver's bound


@dataclass(frozen=True)
class PairAnswer:
    """``choice`` int64[J] or None; ``bound`` of what the given pairs allow; ``proven``: the choice is best, or none is.

    Bound and proof rest on the solver's tolerances.
    """

    choice: Int64 | None
    bound: int | None
    proven: bool


def solve_pairs(
    problem: AssignmentProblem,
    pairs: Bool,
    start: Int64 | None,
    budget: Budget,
    *,
    threads: int,
    seed: int,
) -> PairAnswer:
    """Best choice among the allowed ones of ``pairs`` bool[A, J]."""
    given = replace(problem, allowed=problem.allowed & pairs)
    if not given.allowed.any(axis=0).all():
        return PairAnswer(None, None, proven=True)
    agent, job, rows, values, limit = pair_columns(given)
    number = len(agent)
    starts = np.arange(number + 1, dtype=np.int32) * (len(rows) // number)
    columns = Columns(starts, rows, values, given.cost[agent, job].astype(float), np.ones(number))
    row_bounds = Rows(
        np.concatenate([np.ones(given.num_jobs), np.full(len(limit), -np.inf)]),
        np.concatenate([np.ones(given.num_jobs), limit]),
    )
    hint = None if start is None else (start[job] == agent).astype(float)
    outcome = minimise(columns, row_bounds, budget=budget, threads=threads, seed=seed, start=hint)
    bound = None if outcome.bound is None else math.ceil(outcome.bound - SLIP * max(1.0, abs(outcome.bound) * 1e-3))
    if outcome.solution is None:
        return PairAnswer(None, bound, proven=outcome.stop is Stop.INFEASIBLE)
    choice = np.full(given.num_jobs, -1, dtype=np.int64)
    chosen = outcome.solution > 0.5
    choice[job[chosen]] = agent[chosen]
    if not given.is_feasible(choice):
        return PairAnswer(None, bound, proven=False)
    return PairAnswer(choice, bound, proven=bound is not None and given.value(choice) <= bound)
