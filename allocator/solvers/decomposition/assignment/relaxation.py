"""Linear relaxation of the assignment problem: a bound in exact integers, and reduced costs that hold as such."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Float, Int64
from allocator.solvers.quiet import QuietHighs

__all__ = ["FORBIDDEN", "Relaxation", "pair_columns", "relax"]

MOST_SCALE_BITS = 20
LARGEST = float(1 << 56)
FORBIDDEN = 1 << 62


@dataclass(frozen=True)
class Relaxation:
    """Solution and prices of the relaxation; everything but ``share`` is in integers, times ``scale``.

    A choice costs at least (bound + its reduced costs) / scale: the prices are feasible in the dual by construction.

    Attributes
    ----------
    share : float64[A, J], the part of a job on an agent.
    reduced : int64[A, J], at least 0; FORBIDDEN for pairs not allowed.
    job_value : int64[J], the least priced cost of every job.
    """

    share: Float
    reduced: Int64
    job_value: Int64
    bound_scaled: int
    scale: int

    @property
    def bound(self) -> int:
        """Least cost of any choice, rounded up: costs are integers."""
        return -(-self.bound_scaled // self.scale)


def pair_columns(
    problem: AssignmentProblem,
) -> tuple[Int64, Int64, np.ndarray[tuple[int], np.dtype[np.int32]], Float, Float]:
    """Agents and jobs of the allowed pairs, and their columns: rows int32, coefficients; upper bounds of the last rows.

    Rows: one a job (= 1), then one an agent and resource, scaled where capacities are large. Every column has
    1 + R entries.
    """
    agent, job = np.nonzero(problem.allowed)
    num_resources = problem.capacity.shape[1]
    scale = np.maximum(problem.capacity / 1000.0, 1.0) if problem.capacity.max(initial=0) > 10**6 else 1.0
    entries = 1 + num_resources
    rows = np.empty(entries * len(agent), np.int32)
    values = np.ones(entries * len(agent))
    rows[0::entries] = job
    use, limit = problem.use / (scale[:, None, :] if isinstance(scale, np.ndarray) else 1.0), problem.capacity / scale
    for r in range(num_resources):
        rows[r + 1 :: entries] = problem.num_jobs + agent * num_resources + r
        values[r + 1 :: entries] = use[agent, job, r]
    return agent, job, rows, values, limit.ravel()


def relax(problem: AssignmentProblem, budget: Budget, *, threads: int) -> Relaxation | None:
    """Solve the relaxation; None when the time ends before or it has no solution."""
    agent, job, rows, values, limit = pair_columns(problem)
    solver = QuietHighs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", threads)
    if budget.remaining() != math.inf:
        solver.setOptionValue("time_limit", max(0.01, budget.remaining()))
    nothing = (0, np.zeros(0, np.int32), np.zeros(0))
    for _ in range(problem.num_jobs):
        solver.addRow(1.0, 1.0, *nothing)
    for amount in limit:
        solver.addRow(-highspy.kHighsInf, float(amount), *nothing)
    number = len(agent)
    starts = np.arange(number, dtype=np.int32) * (len(rows) // max(number, 1))
    costs = problem.cost[agent, job].astype(float)
    solver.addCols(number, costs, np.zeros(number), np.full(number, 1.0), len(rows), starts, rows, values)

    def look_at_the_clock(event: Any) -> None:
        if budget.exhausted:
            event.data_in.user_interrupt = True

    solver.cbSimplexInterrupt.subscribe(look_at_the_clock)
    solver.run()
    solver.cbSimplexInterrupt.unsubscribe(look_at_the_clock)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    share = np.zeros(problem.cost.shape)
    share[agent, job] = np.asarray(solution.col_value)
    duals = np.maximum(-np.asarray(solution.row_dual)[problem.num_jobs :], 0.0)
    unscaled = duals * limit / np.maximum(problem.capacity.ravel(), 1)
    return _in_integers(problem, share, unscaled.reshape(problem.capacity.shape))


def _in_integers(problem: AssignmentProblem, share: Float, price: Float) -> Relaxation:
    """Round the agents' prices float64[A, R] and derive everything else from them exactly."""
    largest = float(problem.cost.max(initial=1)) + float((price[:, None, :] * problem.use).sum(axis=2).max(initial=1))
    largest += float((price * problem.capacity).sum())
    bits = min(MOST_SCALE_BITS, int(math.log2(LARGEST / (largest * (problem.num_jobs + 1)))))
    scale = 1 << max(bits, 0)
    whole = np.rint(price * scale).astype(np.int64)
    priced = problem.cost * scale + (whole[:, None, :] * problem.use).sum(axis=2)
    priced = np.where(problem.allowed, priced, FORBIDDEN)
    value: Int64 = priced.min(axis=0)
    paid = sum(int(p) * int(c) for p, c in zip(whole.ravel(), problem.capacity.ravel(), strict=True))
    reduced = np.where(problem.allowed, priced - value, FORBIDDEN)
    return Relaxation(share, reduced, value, sum(map(int, value)) - paid, scale)
