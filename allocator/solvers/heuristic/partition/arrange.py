"""A placement for traffic from coarse to fine: clusters of what talks much are walked before single items are.

Owns the stages and what they may take of the time. What it returns may exceed nodes a little: the caller places what
fits and finds room for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.problem import Problem
from allocator.solvers.heuristic.partition.coarse import coarse_problem, kinds_of_items, traffic_level
from allocator.solvers.heuristic.partition.graph import FlowGraph, clusters_of, flow_graph, merged
from allocator.solvers.heuristic.partition.multilevel import SECONDS_A_VERTEX, can_partition, partitioned
from allocator.solvers.heuristic.partition.walks import Pace, cooled

__all__ = ["Arranged", "arranged", "can_arrange", "start_of"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

FEWEST = 100  # items
LARGEST = 0.6  # of a node that a cluster takes
FEW_CLUSTERS = 0.7  # of the number of items
FIRST_HEAT, LAST_HEAT = 0.5, 0.02  # of what a flow costs
EXCESS = 0.05  # of a node's limit: what a flow costs where there is none, in excess
PRICE = 20.0  # of exceeding a node by its limit: times the traffic of a node
PARTITION_SHARE = 0.25  # of the time, at most


@dataclass(frozen=True)
class Arranged:
    """``where`` : int64[M], node of every item. ``heat``: a temperature at which single items may go on."""

    where: Int
    heat: float


def can_arrange(problem: Problem) -> bool:
    """Whether flows, between single items or in teams, are what the search is about."""
    return traffic_level(problem) > 0 and len(problem.workload) >= FEWEST and len(problem.kind) > 1


def start_of(
    problem: Problem, *, seconds: float | None, seed: int, threads: int, preset: str | None = None
) -> Int | None:
    """Nodes by the partitioner, int64[M]; None where it is missing, would take too long, or nodes are not alike.

    Parameters
    ----------
    seconds : time left; None where moves are counted, and the same seed must give the same nodes.
    preset : of the partitioner; None: a quick one by the clock, else a deterministic one.
    """
    if not can_partition() or not problem.eligible.all() or not len(problem.pair_item):
        return None
    if seconds is not None and SECONDS_A_VERTEX * len(problem.workload) > PARTITION_SHARE * seconds:
        return None
    chosen = preset or ("QUALITY" if seconds is not None else "DETERMINISTIC_QUALITY")
    return partitioned(problem, flow_graph(problem), seed=seed, threads=threads, preset=chosen)


def arranged(problem: Problem, where: Int, *, pace: Pace, seed: int, threads: int) -> Arranged | None:
    """Walk over clusters from a placement of all items; None where nothing ties items together, or not by all ties.

    Parameters
    ----------
    where : int64[M]; -1 for an item without a node, which then goes where others of its cluster are, or to the first.
    """
    graph = flow_graph(problem)
    teams = _teams(problem, graph)
    cluster = clusters_of(graph, kinds_of_items(problem), LARGEST, teams)
    number = int(cluster.max(initial=-1)) + 1
    between = merged(graph, cluster)
    flows = len(between.rate) > 0
    if number > FEW_CLUSTERS * len(where) or ((problem.unit >= 0) & (teams < 0)).any():
        return None
    if flows:
        heat = _cost_of_a_flow(problem, between)
        price = PRICE * _traffic(problem, graph, where) / len(problem.kind)
    else:
        heat, price = EXCESS, 1.0
    coarse = coarse_problem(problem, cluster, between, price)
    if not coarse.eligible.any(axis=1).all():
        return None
    begin = _where_most_are(cluster, where, coarse)
    seeds = [seed * 7919 + thread for thread in range(threads)]
    heats = FIRST_HEAT * heat, LAST_HEAT * heat
    found = cooled(coarse, begin, traffic_level(problem), heats, pace=pace, seeds=seeds)
    return Arranged(found[cluster], heats[1] if flows else 0.0)


def _teams(problem: Problem, graph: FlowGraph) -> Int:
    """Team of every item, -1 without one or where it is too large for an average node."""
    unit = problem.unit
    sizes = np.bincount(unit[unit >= 0], weights=graph.size[unit >= 0], minlength=len(problem.unit_gang))
    fits = np.append(sizes <= 1.0, False)
    return np.where(fits[unit], unit, -1)


def _cost_of_a_flow(problem: Problem, graph: FlowGraph) -> float:
    """Median rate of a flow between clusters times the mean distance of nodes, in the unit of the goal."""
    return float(np.median(graph.rate)) * _distance(problem) * problem.far


def _distance(problem: Problem) -> float:
    """Mean distance of two nodes."""
    number = len(problem.kind)
    if len(problem.distance) > 1:
        return float(problem.distance.sum()) / (number * (number - 1))
    below = problem.end - problem.first
    apart = 2.0 * problem.weight * below * (number - below)
    return float(apart[: len(problem.weight)].sum()) / (number * (number - 1))


def _traffic(problem: Problem, graph: FlowGraph, where: Int) -> float:
    """Traffic of a placement, as far as it stands and distances are tabled; else half of the most there can be."""
    if len(problem.distance) > 1:
        a, b = where[graph.source], where[graph.target]
        stands = (a >= 0) & (b >= 0)
        far = problem.distance[a[stands], b[stands]]
        return max(float((graph.rate[stands] * far).sum()) * problem.far, 1e-9)
    return 0.1 * float(graph.rate.sum()) * _distance(problem) * problem.far


def _where_most_are(cluster: Int, where: Int, coarse: Problem) -> Int:
    """Node of each cluster: that of most of its items; the first one it may stand on where none has a node."""
    found: Int = coarse.eligible.argmax(axis=1).astype(np.int64)
    num_nodes = len(coarse.kind)
    stands = where >= 0
    keys, counts = np.unique(cluster[stands] * num_nodes + where[stands], return_counts=True)
    order = np.argsort(counts, kind="stable")
    found[keys[order] // num_nodes] = keys[order] % num_nodes
    return found
