"""Fixing the pairs that the set program likes best, step by step; the last jobs go to a small integer program."""

from __future__ import annotations

import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.columns import Generated, JobSets, generate_sets
from allocator.solvers.decomposition.assignment.pairs import solve_pairs
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Bool, Float, Int64

__all__ = ["dive"]

STEP = 0.08  # of the jobs are fixed at once, at least
LAST_JOBS = 40
LAST_SECONDS = 3.0
ROUNDS = 25
WHOLE = 0.999


def dive(
    problem: AssignmentProblem,
    root: Generated,
    scale: int,
    budget: Budget,
    *,
    rng: np.random.Generator | None,
    threads: int,
    seed: int,
) -> Int64 | None:
    """A choice, or None when a job finds no room. ``rng`` disturbs the order of fixing; None: most liked first."""
    choice = np.full(problem.num_jobs, -1, dtype=np.int64)
    left = problem.capacity.copy()
    free = np.arange(problem.num_jobs)
    everyone = np.arange(problem.num_agents)
    state = root
    while len(free) > LAST_JOBS and not budget.exhausted:
        fixed = _fix(problem, state.usage, free, choice, left, rng=rng)
        if not fixed.any():
            return None
        pool = _compatible(problem, state.sets, free, choice, left, fixed=fixed)
        free = free[~fixed]
        rest = problem.part(everyone, free, left)
        if not rest.allowed.any(axis=0).all():
            return None
        state = generate_sets(rest, pool, state.job_value[~fixed], scale, budget, threads=threads, max_rounds=ROUNDS)
    if budget.exhausted:
        return None
    rest = problem.part(everyone, free, left)
    found = solve_pairs(
        rest, np.ones_like(rest.allowed), None, budget.at_most(LAST_SECONDS), threads=threads, seed=seed
    )
    if found.choice is None:
        return None
    choice[free] = found.choice
    return choice if problem.is_feasible(choice) else None


def _fix(
    problem: AssignmentProblem,
    usage: Float,
    free: Int64,
    choice: Int64,
    left: Int64,
    *,
    rng: np.random.Generator | None,
) -> Bool:
    """Fix liked pairs of free jobs in ``choice`` and ``left``; bool over the free jobs."""
    share, agents = usage.max(axis=0), usage.argmax(axis=0)
    score = share if rng is None else share * rng.uniform(0.8, 1.0, len(share))
    least = max(3, int(STEP * problem.num_jobs))
    fixed = np.zeros(len(free), dtype=np.bool_)
    number = 0
    for j in np.argsort(-score, kind="stable").tolist():
        if number >= 3 * least or (number >= least and share[j] < WHOLE):
            break
        agent, job = int(agents[j]), int(free[j])
        if problem.allowed[agent, job] and (problem.use[agent, job] <= left[agent]).all():
            choice[job] = agent
            left[agent] -= problem.use[agent, job]
            fixed[j] = True
            number += 1
    return fixed


def _compatible(
    problem: AssignmentProblem, sets: JobSets, free: Int64, choice: Int64, left: Int64, *, fixed: Bool
) -> JobSets:
    """Sets that hold all that was fixed on their agent, without it, where the rest still fits."""
    pool = JobSets()
    own = [fixed & (choice[free] == agent) for agent in range(problem.num_agents)]
    for agent, jobs in zip(sets.agents, sets.jobs, strict=True):
        rest = jobs & ~fixed
        if (problem.use[agent, free[rest]].sum(axis=0) <= left[agent]).all() and not (own[agent] & ~jobs).any():
            pool.agents.append(agent)
            pool.jobs.append(rest[~fixed])
    return pool
