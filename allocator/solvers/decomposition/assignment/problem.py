"""The generalised assignment problem in integers. Knows no instance and no solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["AssignmentProblem", "Bool", "Float", "Int64"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class AssignmentProblem:
    """Every job on one agent, within the capacities of the agents, at least cost.

    A *choice* is int64[J], the agent of every job.

    Attributes
    ----------
    cost : int64[A, J], at least 0.
    use : int64[A, J, R], at least 0.
    capacity : int64[A, R].
    allowed : bool[A, J], pairs that may be chosen; each fits its agent alone.
    """

    cost: Int64
    use: Int64
    capacity: Int64
    allowed: Bool

    @property
    def num_agents(self) -> int:
        """A."""
        return len(self.capacity)

    @property
    def num_jobs(self) -> int:
        """J."""
        return int(self.cost.shape[1])

    def value(self, choice: Int64) -> int:
        """Cost of a choice."""
        return int(self.cost[choice, np.arange(self.num_jobs)].sum())

    def left(self, choice: Int64) -> Int64:
        """int64[A, R], capacity left; jobs of agent -1 take nothing."""
        left = self.capacity.copy()
        placed = np.flatnonzero(choice >= 0)
        np.subtract.at(left, choice[placed], self.use[choice[placed], placed])
        return left

    def is_feasible(self, choice: Int64) -> bool:
        """Whether a choice takes allowed pairs and keeps the capacities."""
        if (choice < 0).any() or not self.allowed[choice, np.arange(self.num_jobs)].all():
            return False
        return bool((self.left(choice) >= 0).all())

    def part(self, agents: Int64, jobs: Int64, capacity: Int64) -> AssignmentProblem:
        """Some jobs on some agents, with other capacities. Pairs that no longer fit alone are not allowed."""
        pairs = np.ix_(agents, jobs)
        use = self.use[pairs]
        allowed = self.allowed[pairs] & (use <= capacity[:, None, :]).all(axis=2)
        return AssignmentProblem(self.cost[pairs], use, capacity, allowed)
