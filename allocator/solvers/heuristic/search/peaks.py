"""The goal peak as a search sees it: excess over a threshold that falls whenever nothing exceeds it.

Owns the threshold. It moves for all walks at once, since they share the problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import GoalId
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import ENDLESS, Problem
from allocator.solvers.heuristic.search.walker import Walker

__all__ = ["Threshold", "thresholds_of"]

STEP = 0.002  # relative fall of the threshold


class Threshold:
    """``columns``: those that stand for a resource in the goal."""

    def __init__(self, problem: Problem, columns: Sequence[int], weight: float) -> None:
        self.problem = problem
        self.columns = list(columns)
        self.weight = weight
        stated = problem.soft[:, self.columns] < ENDLESS
        self.capacity: npt.NDArray[np.int64] = np.where(stated, problem.soft[:, self.columns], 0)

    def peak(self, walker: Walker) -> float:
        """Highest utilisation of a walk's state."""
        use = walker.state.use[:, self.columns]
        part = np.divide(use, self.capacity, out=np.zeros(use.shape), where=self.capacity > 0)
        return float(part.max(initial=0.0))

    def set(self, walkers: Sequence[Walker], threshold: float) -> None:
        """Move the threshold, and the walks' values with it."""
        before = [self._excess(walker) for walker in walkers]
        soft = np.where(self.capacity > 0, np.minimum(np.floor(self.capacity * threshold), ENDLESS), ENDLESS).astype(
            np.int64
        )
        self.problem.soft[:, self.columns] = soft
        for walker, old in zip(walkers, before, strict=True):
            walker.values[int(self.problem.soft_level[self.columns[0]])] += self._excess(walker) - old

    def follow(self, walkers: Sequence[Walker]) -> None:
        """Lower the threshold below the best peak."""
        self.set(walkers, min(self.peak(walker) for walker in walkers) * (1 - STEP))

    def _excess(self, walker: Walker) -> float:
        over = walker.state.use[:, self.columns] - self.problem.soft[:, self.columns]
        return float((np.maximum(0, over) * self.problem.soft_weight[:, self.columns]).sum())


def thresholds_of(compiled: Compiled, problem: Problem) -> Iterator[Threshold]:
    """The threshold of every goal ``peak`` that looks at a resource."""
    for index, level in enumerate(compiled.model.levels):
        for goal in level.goals:
            if goal.id is GoalId.PEAK:
                columns = [
                    c
                    for c in range(len(compiled.resources), int(problem.sizes[at.COLUMNS]))
                    if problem.soft_level[c] == index + 1
                ]
                if columns:
                    yield Threshold(problem, columns, float(goal.weight))
