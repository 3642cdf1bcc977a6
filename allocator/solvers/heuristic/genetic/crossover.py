"""Grouping crossover (Falkenauer 1996): a child takes what some nodes hold from one parent, the rest from another.

Owns what is inherited. Teams and gangs are inherited whole. Must not know goals, nor who the parents are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.problem import Problem
from allocator.solvers.heuristic.search.walker import Walker

__all__ = ["Heritage", "leaders", "settle", "some_nodes"]

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Heritage = tuple[Int, Int]  # node (-1: none) and option of every item


def leaders(problem: Problem) -> Int:
    """int64[M]: the first item of the team or gang that an item belongs to, or the item itself."""
    own = np.arange(len(problem.unit), dtype=np.int64)
    within = problem.unit >= 0
    own[within] = problem.unit_items[problem.unit_start[problem.unit[within]]]
    return own


def some_nodes(num_nodes: int, rng: np.random.Generator) -> Bool:
    """About half of the nodes: neighbours in the order of the tree, or any."""
    if rng.random() < 0.5:
        chosen: Bool = rng.random(num_nodes) < 0.5
        return chosen
    length = int(rng.integers(1, max(2, num_nodes)))
    first = int(rng.integers(num_nodes))
    chosen = np.zeros(num_nodes, dtype=np.bool_)
    chosen[(first + np.arange(length)) % num_nodes] = True
    return chosen


def settle(make: Callable[[], Walker], leader: Int, parts: list[tuple[Heritage, Bool]], problem: Problem) -> Walker:
    """A walker with what fits of each part in turn: the items whose leader stands on the part's nodes.

    Parameters
    ----------
    make : makes a walker of an empty state.
    parts : (where, option) of a parent, and bool[N] nodes that are inherited from it.
    """
    walker = make()
    for (where, option), nodes in parts:
        base = where[leader]
        inherited = (base >= 0) & nodes[np.maximum(base, 0)] & (walker.state.where[leader] < 0)
        walker.put(np.where(inherited & (walker.state.where < 0), where, -1), option)
    stands = walker.state.where >= 0
    cut = _cut_units(problem, stands)
    if not cut.any():
        return walker
    whole = make()
    whole.put(np.where(cut, -1, walker.state.where), walker.state.option)
    return whole


def _cut_units(problem: Problem, stands: Bool) -> Bool:
    """bool[M]: items of units of which some stand and some do not."""
    number = len(problem.unit_start) - 1
    within = problem.unit >= 0
    if not within.any():
        return np.zeros(len(stands), dtype=np.bool_)
    placed = np.bincount(problem.unit[within & stands], minlength=number)
    broken = (placed > 0) & (placed < np.diff(problem.unit_start))
    found: Bool = within & broken[np.maximum(problem.unit, 0)]
    return found
