"""Column generation over the sets of jobs that an agent can hold: a bound in exact integers, tight for few jobs a set.

Sources: Savelsbergh (1997) for the formulation; smoothing of duals by Wentges (1997).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import highspy
import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.knapsack import knapsack
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Bool, Float, Int64
from allocator.solvers.quiet import QuietHighs

__all__ = ["Generated", "JobSets", "generate_sets"]

SMOOTHING = 0.7  # weight of the job values of the best bound so far
ENOUGH = 0.05  # of a unit of cost: distance of master and bound at which to stop
ROUNDING = 1e-6


@dataclass
class JobSets:
    """Sets of jobs bool[J], each with the agent that can hold it."""

    agents: list[int] = field(default_factory=list)
    jobs: list[Bool] = field(default_factory=list)

    @staticmethod
    def of(choice: Int64, num_agents: int) -> JobSets:
        """What every agent holds in a choice."""
        return JobSets(list(range(num_agents)), [choice == agent for agent in range(num_agents)])


@dataclass(frozen=True)
class Generated:
    """``usage`` float64[A, J]: how much the master likes each pair. ``job_value``: of the best bound, scaled."""

    sets: JobSets
    usage: Float
    job_value: Int64
    bound_scaled: int


class _SetMaster:
    """min cost of sets, every job covered, at most one set an agent; a dear column of its own for every job."""

    def __init__(self, problem: AssignmentProblem, threads: int) -> None:
        self.problem = problem
        self.sets = JobSets()
        self._known: set[tuple[int, bytes]] = set()
        self._solver = QuietHighs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", threads)
        self._solver.setOptionValue("simplex_strategy", 4)  # primal: columns are only ever added
        nothing = (0, np.zeros(0, np.int32), np.zeros(0))
        for _ in range(problem.num_jobs):
            self._solver.addRow(1.0, highspy.kHighsInf, *nothing)
        for _ in range(problem.num_agents):
            self._solver.addRow(-highspy.kHighsInf, 1.0, *nothing)
        dear = 10.0 * float(problem.cost[problem.allowed].max(initial=1)) + 10.0
        for job in range(problem.num_jobs):
            self._solver.addCol(dear, 0.0, highspy.kHighsInf, 1, np.array([job], np.int32), np.ones(1))

    def add(self, agent: int, jobs: Bool) -> bool:
        """Add a set; whether it is new."""
        key = (agent, jobs.tobytes())
        if key in self._known:
            return False
        self._known.add(key)
        index = np.concatenate([np.flatnonzero(jobs), [self.problem.num_jobs + agent]]).astype(np.int32)
        cost = float(self.problem.cost[agent, jobs].sum())
        self._solver.addCol(cost, 0.0, highspy.kHighsInf, len(index), index, np.ones(len(index)))
        self.sets.agents.append(agent)
        self.sets.jobs.append(jobs)
        return True

    def solve(self) -> tuple[float, Float]:
        """Value and duals."""
        self._solver.run()
        return float(self._solver.getInfo().objective_function_value), np.asarray(self._solver.getSolution().row_dual)

    def usage(self) -> Float:
        """float64[A, J] of the last solution."""
        usage = np.zeros(self.problem.cost.shape)
        shares = np.asarray(self._solver.getSolution().col_value)[self.problem.num_jobs :]
        for agent, jobs, share in zip(self.sets.agents, self.sets.jobs, shares, strict=False):
            if share > 1e-9:
                usage[agent, jobs] += share
        return usage


def generate_sets(
    problem: AssignmentProblem,
    start: JobSets,
    job_value: Int64,
    scale: int,
    budget: Budget,
    *,
    threads: int,
    max_rounds: int = 1000,
) -> Generated:
    """Add sets until none improves the master. One resource only.

    ``job_value`` int64[J], times ``scale``: the values to begin with; the better, the fewer rounds.
    """
    master = _SetMaster(problem, threads)
    for agent, jobs in zip(start.agents, start.jobs, strict=True):
        master.add(agent, jobs)
    best, centre = -math.inf, job_value
    for _ in range(max_rounds):
        value, duals = master.solve()
        if math.ceil(value - ROUNDING) * scale <= best or budget.exhausted:
            break
        priced = np.maximum(np.floor(duals[: problem.num_jobs] * scale), 0).astype(np.int64)
        fresh = 0
        for weight in (SMOOTHING, 0.0):
            mixed = (weight * centre + (1 - weight) * priced).astype(np.int64)
            bound, sets = _best_sets(problem, mixed, scale, budget)
            if bound is None:
                break
            if bound > best:
                best, centre = bound, mixed
            for agent, jobs in enumerate(sets):
                gain = duals[: problem.num_jobs][jobs].sum() - problem.cost[agent, jobs].sum()
                if gain + duals[problem.num_jobs + agent] > ROUNDING:
                    fresh += master.add(agent, jobs)
            if fresh:
                break
        if not fresh or value * scale - best < ENOUGH * scale:
            break
    return Generated(master.sets, master.usage(), centre, int(best) if math.isfinite(best) else 0)


def _best_sets(
    problem: AssignmentProblem, job_value: Int64, scale: int, budget: Budget
) -> tuple[int | None, list[Bool]]:
    """Lagrangian bound at scaled job values, and the set of every agent that it comes from; None: no time."""
    bound = sum(map(int, job_value))
    sets = []
    for agent in range(problem.num_agents):
        if budget.exhausted:
            return None, []
        profit = np.where(problem.allowed[agent], job_value - problem.cost[agent] * scale, -1)
        gain, chosen = knapsack(profit, problem.use[agent, :, 0], int(problem.capacity[agent, 0]))
        bound -= gain
        mask = np.zeros(problem.num_jobs, dtype=np.bool_)
        mask[chosen] = True
        sets.append(mask)
    return bound, sets
