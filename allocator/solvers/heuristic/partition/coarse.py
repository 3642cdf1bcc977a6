"""The problem in which clusters of items are the items. Limits of nodes are soft there, with a price on excess.

Owns which problems can be made coarse so. Clusters are too large to fill nodes exactly: who walks over them may exceed
a node for a price, and what does not fit at the end is placed item by item.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import ENDLESS, Problem
from allocator.solvers.heuristic.partition.graph import FlowGraph, summed

__all__ = ["coarse_problem", "kinds_of_items", "traffic_level"]

Int = npt.NDArray[np.int64]

PLAIN = at.TRAFFIC | at.PAIRS | at.UNITS | at.MATRIX | at.CAPS
BEYOND = 2  # times its limit that a node may hold on the way


def traffic_level(problem: Problem) -> int:
    """Internal level of the goal ``traffic`` where flows and teams are all there is beside limits, else 0."""
    level = int(problem.level_of[at.GOAL_TRAFFIC])
    flags = int(problem.sizes[at.FLAGS])
    others = problem.level_of.copy()
    others[[at.GOAL_TRAFFIC, at.GOAL_PLACED]] = -1
    plain = (
        level > 0
        and flags & (at.PAIRS | at.UNITS)
        and not problem.unit_gang.any()
        and not flags & ~PLAIN
        and (others < 0).all()
        and int(problem.sizes[at.COLUMNS]) == int(problem.sizes[at.RESOURCES])
        and not (problem.soft_weight != 0).any()
        and not (problem.current >= 0).any()
        and (np.diff(problem.first_option) == 1).all()
    )
    return level if plain else 0


def kinds_of_items(problem: Problem) -> Int:
    """A number for every item; equal ones may stand on the same nodes."""
    return np.unique(problem.eligible, axis=0, return_inverse=True)[1].reshape(-1)[_options(problem)].astype(np.int64)


def _options(problem: Problem) -> Int:
    return problem.first_option[problem.workload]


def coarse_problem(problem: Problem, cluster: Int, graph: FlowGraph, price: float) -> Problem:
    """Each cluster as an item of a class of its own.

    Parameters
    ----------
    cluster : int64[M]. graph : flows between the clusters. price : what a node's limit costs in excess of it.
    """
    number, kinds = len(graph.size), int(problem.sizes[at.KINDS])
    need = np.zeros((number, kinds, problem.need.shape[1]), dtype=np.int64)
    np.add.at(need, cluster, problem.need.reshape(-1, kinds, problem.need.shape[1])[_options(problem)])
    eligible = np.ones((number, len(problem.kind)), dtype=np.uint8)
    np.minimum.at(eligible, cluster, problem.eligible[_options(problem)].astype(np.uint8))
    owner = np.concatenate([graph.source, graph.target])
    order = np.lexsort((np.concatenate([graph.target, graph.source]), owner))
    half = np.concatenate([graph.rate, graph.rate])[order] / 2
    limit, soft, weight = problem.limit.copy(), problem.soft.copy(), problem.soft_weight.copy()
    leaf, width = problem.leaf, int(problem.sizes[at.RESOURCES])
    own = problem.limit[leaf, :width]
    stated = (own > 0) & (own < ENDLESS // BEYOND)
    soft[leaf, :width] = np.where(stated, own, soft[leaf, :width])
    weight[leaf, :width] = np.where(stated, price / np.maximum(1, own), 0.0)
    limit[leaf, :width] = np.where(stated, BEYOND * own, own)
    sizes = problem.sizes.copy()
    sizes[at.ITEMS] = number
    sizes[at.FLAGS] = (int(sizes[at.FLAGS]) | at.PAIRS) & ~at.UNITS
    nothing, none = np.zeros(number), np.full(number, -1, dtype=np.int64)
    return problem._replace(
        sizes=sizes,
        need=need.reshape(number * kinds, -1),
        limit=limit,
        soft=soft,
        soft_weight=weight,
        soft_level=np.full(len(problem.soft_level), problem.level_of[at.GOAL_TRAFFIC], dtype=np.int64),
        eligible=eligible,
        workload=np.arange(number, dtype=np.int64),
        first_option=np.arange(number + 1, dtype=np.int64),
        current=none,
        current_option=none.copy(),
        group=none.copy(),
        mover=none.copy(),
        unit=none.copy(),
        size=summed(cluster, problem.size[problem.workload], number),
        value=summed(cluster, problem.value[problem.workload], number),
        move_cost=nothing,
        move_bytes=np.zeros(number, dtype=np.int64),
        root_need=np.zeros(number * kinds),
        entry_start=np.zeros(number + 1, dtype=np.int64),
        pair_start=np.searchsorted(owner[order], np.arange(number + 1)).astype(np.int64),
        pair_item=np.concatenate([graph.target, graph.source])[order].astype(np.int64),
        pair_out=half,
        pair_in=half.copy(),
    )
