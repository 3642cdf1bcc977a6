"""A first choice from the relaxation, and descent over shifts and swaps."""

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
    """Take the best shift or swap of each job in turn until none gains. The choice must be feasible."""
    choice = choice.copy()
    jobs = np.arange(problem.num_jobs)
    cost = np.where(problem.allowed, problem.cost, FAR)
    left, own_cost, own_use = problem.left(choice), cost[choice, jobs], problem.use[choice, jobs]
    job, idle = 0, 0
    while idle < problem.num_jobs and not budget.exhausted:
        here, use = choice[job], problem.use[:, job]
        shift = np.where((use <= left).all(axis=1), cost[:, job], FAR) - own_cost[job]
        comes = (problem.use[here] <= left[here] + own_use[job]).all(axis=1)
        goes = (use[choice] <= left[choice] + own_use).all(axis=1)
        swap = np.where(comes & goes, cost[here] + cost[choice, job], FAR) - own_cost - own_cost[job]
        swap[job] = 0
        agent, other = int(shift.argmin()), int(swap.argmin())
        moved: list[tuple[int, int]] = []
        if min(shift[agent], swap[other]) < 0:
            moved = [(job, agent)] if shift[agent] <= swap[other] else [(job, int(choice[other])), (other, int(here))]
        for one, there in moved:
            left[choice[one]] += own_use[one]
            left[there] -= problem.use[there, one]
            choice[one], own_cost[one], own_use[one] = there, cost[there, one], problem.use[there, one]
        idle = 0 if moved else idle + 1
        job = (job + 1) % problem.num_jobs
    return choice
