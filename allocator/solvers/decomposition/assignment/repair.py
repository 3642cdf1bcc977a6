"""A feasible choice from an overloaded one: shifts and swaps that take overload away, the cheaper ones first."""

from __future__ import annotations

import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Float, Int64

__all__ = ["unload"]

COST_SHARE = 1e-3  # what the dearest pair counts beside an overload of one whole capacity
PROGRESS = 1e-12


def unload(problem: AssignmentProblem, choice: Int64, budget: Budget) -> Int64 | None:
    """Take the move that lowers relative overload most until there is none; None when stuck. Pairs must be allowed."""
    choice = choice.copy()
    jobs = np.arange(problem.num_jobs)
    capacity = np.maximum(problem.capacity, 1)
    use: Float = problem.use / capacity[:, None, :]
    room: Float = (problem.capacity > 0).astype(np.float64)
    price: Float = problem.cost.astype(np.float64) * (COST_SHARE / max(int(problem.cost.max(initial=1)), 1))
    while not (problem.left(choice) >= 0).all():
        if budget.exhausted:
            return None
        load = room - problem.left(choice) / capacity
        excess = _excess(load - room)
        here = excess[choice]
        moving = np.flatnonzero(here > 0)  # no other move takes overload away
        without = load[choice] - use[choice, jobs] - room[choice]
        relief = _excess(without) - here
        # shift [a, i]: job moving[i] to agent a
        growth = _excess((load - room)[:, None, :] + use[:, moving]) - excess[:, None]
        elsewhere = choice[moving] != np.arange(problem.num_agents)[:, None]
        shift = np.where(problem.allowed[:, moving] & elsewhere, relief[moving] + growth, np.inf)
        shift = _score(shift, price[:, moving] - price[choice[moving], moving])
        # swap [i, j]: job j to the agent of job moving[i], and that job to the agent of j
        mine = _excess(without[moving, None, :] + use[choice[moving]]) - here[moving, None]
        theirs = _excess(without[None, :, :] + use[choice][:, moving].transpose(1, 0, 2)) - here
        allowed = problem.allowed[choice[moving]] & problem.allowed[choice][:, moving].T
        swap = np.where(allowed & (choice[moving, None] != choice), mine + theirs, np.inf)
        there = price[choice[moving]] - price[choice, jobs]
        back = price[choice][:, moving].T - price[choice[moving], moving][:, None]
        swap = _score(swap, there + back)
        if min(float(shift.min()), float(swap.min())) == np.inf:
            return None
        if shift.min() <= swap.min():
            agent, job = divmod(int(shift.argmin()), len(moving))
            choice[moving[job]] = agent
        else:
            one, two = divmod(int(swap.argmin()), problem.num_jobs)
            choice[moving[one]], choice[two] = choice[two], choice[moving[one]]
    return choice


def _score(change: Float, price: Float) -> Float:
    """Change of overload and price together, at least half of the change; infinite where overload does not fall."""
    falls = change < -PROGRESS
    score = np.full(change.shape, np.inf)
    score[falls] = change[falls] + np.minimum(price[falls], -change[falls] / 2)
    return score


def _excess(over: Float) -> Float:
    """Relative overload summed over the resources (last axis)."""
    total: Float = np.maximum(over, 0.0).sum(axis=-1)
    return total
