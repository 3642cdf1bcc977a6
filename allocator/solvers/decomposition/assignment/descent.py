"""A first choice from the relaxation, and steepest descent over shifts and swaps."""

from __future__ import annotations

import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Int64
from allocator.solvers.decomposition.assignment.relaxation import FORBIDDEN, Relaxation

__all__ = ["descend", "insert_by_regret"]

FAR = 1 << 40  # cost of a pair that is not allowed, beyond any gain


def insert_by_regret(problem: AssignmentProblem, relaxation: Relaxation) -> Int64 | None:
    """Jobs by falling regret of reduced cost, each on the cheapest agent with room; None when one finds no room.

    Jobs that the relaxation leaves whole come first.
    """
    reduced = relaxation.reduced
    ordered = np.sort(reduced, axis=0)
    regret = ordered[1] - ordered[0] if problem.num_agents > 1 else np.zeros(problem.num_jobs)
    left = problem.capacity.copy()
    choice = np.full(problem.num_jobs, -1, dtype=np.int64)
    whole = np.round(relaxation.share.max(axis=0), 6)
    for job in np.lexsort((-regret, -whole)):
        room = problem.allowed[:, job] & (problem.use[:, job] <= left).all(axis=1)
        if not room.any():
            return None
        agent = int(np.argmin(np.where(room, reduced[:, job], FORBIDDEN)))
        choice[job] = agent
        left[agent] -= problem.use[agent, job]
    return choice


def descend(problem: AssignmentProblem, choice: Int64, budget: Budget) -> Int64:
    """Take the best shift of one job or swap of two until none gains. The choice must be feasible."""
    choice = choice.copy()
    jobs = np.arange(problem.num_jobs)
    cost = np.where(problem.allowed, problem.cost, FAR)
    while not budget.exhausted:
        own_cost, own_use = cost[choice, jobs], problem.use[choice, jobs]
        left = problem.left(choice)
        fits = (problem.use <= left[:, None, :]).all(axis=2)
        shift = np.where(fits, cost - own_cost, 0)
        there = cost[choice]  # [i, j]: job j on the agent of job i
        gain = there + there.T - own_cost[:, None] - own_cost[None, :]
        room = left[choice] + own_use
        fits = np.ones(gain.shape, dtype=np.bool_)
        for r in range(problem.use.shape[2]):
            fits &= problem.use[choice, :, r] <= room[:, None, r]
        swap = np.where(fits & fits.T, gain, 0)
        best_shift, best_swap = int(shift.min()), int(swap.min())
        if min(best_shift, best_swap) >= 0:
            break
        if best_shift <= best_swap:
            agent, job = divmod(int(shift.argmin()), problem.num_jobs)
            choice[job] = agent
        else:
            one, two = divmod(int(swap.argmin()), problem.num_jobs)
            choice[one], choice[two] = choice[two], choice[one]
    return choice
