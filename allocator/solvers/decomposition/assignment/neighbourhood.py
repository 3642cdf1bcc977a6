"""Large neighbourhoods: all jobs of a few agents dealt out again by a small integer program."""

from __future__ import annotations

import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.pairs import solve_pairs
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Int64
from allocator.solvers.decomposition.assignment.relaxation import Relaxation

__all__ = ["deal_again"]

SECONDS = 1.0  # of one neighbourhood
FAILURES_TO_GROW = 25
FAILURES_TO_STOP = 150
FEWEST_AGENTS = 3


def deal_again(
    problem: AssignmentProblem,
    relaxation: Relaxation,
    choice: Int64,
    bound: int,
    budget: Budget,
    *,
    rng: np.random.Generator,
    threads: int,
) -> Int64:
    """Improve a choice until the bound, the time, or many neighbourhoods without gain.

    Pairs whose reduced cost is above the gap of the choice are left out. The number of agents grows while small
    programs are solved without gain and shrinks when they run out of time.
    """
    best, value = choice.copy(), problem.value(choice)
    smallest = min(FEWEST_AGENTS, problem.num_agents)
    size, failures = smallest, 0
    while not budget.exhausted and value > bound and failures < FAILURES_TO_STOP:
        agents = np.sort(rng.choice(problem.num_agents, size=size, replace=False))
        jobs = np.flatnonzero(np.isin(best, agents))
        if not len(jobs):
            failures += 1
            continue
        local = np.searchsorted(agents, best[jobs])
        near = relaxation.reduced[np.ix_(agents, jobs)] <= value * relaxation.scale - relaxation.bound_scaled
        near[local, np.arange(len(jobs))] = True
        part = problem.part(agents, jobs, problem.capacity[agents])
        found = solve_pairs(
            part, near, local, budget.at_most(SECONDS), threads=threads, seed=int(rng.integers(1 << 30))
        )
        gained = False
        if found.choice is not None:
            candidate = best.copy()
            candidate[jobs] = agents[found.choice]
            reached = problem.value(candidate)
            gained = reached < value
            if reached <= value:
                best, value = candidate, reached
        failures = 0 if gained else failures + 1
        if found.proven and failures and failures % FAILURES_TO_GROW == 0:
            size = min(size + 1, problem.num_agents)
        elif not found.proven:
            size = max(smallest, size - 1)
    return best
