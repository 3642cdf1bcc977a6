"""The graph of flows between items, and clusters of items that hardly any good plan would part.

Owns sizes as parts of a node and which edges are heavy. Must not know walks or partitioners.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import ENDLESS, Problem

__all__ = ["FlowGraph", "clusters_of", "flow_graph", "merged", "summed"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

HEAVY = 0.5  # of the heaviest edge at either end: an edge that ties its ends together


@dataclass(frozen=True)
class FlowGraph:
    """Undirected edges ``source`` < ``target`` : int64[E] between vertices, ``rate`` : float64[E], bit/s both ways.

    ``size`` : float64[V], part of an average node that a vertex takes, of the resource of which it takes most.
    """

    source: Int
    target: Int
    rate: Float
    size: Float


def flow_graph(problem: Problem) -> FlowGraph:
    """Items and their pair flows."""
    owner = np.repeat(np.arange(len(problem.pair_start) - 1), np.diff(problem.pair_start))
    once = owner < problem.pair_item
    rate = (problem.pair_out + problem.pair_in)[once]
    return FlowGraph(owner[once].astype(np.int64), problem.pair_item[once], rate, _sizes(problem))


def _sizes(problem: Problem) -> Float:
    width, kinds = int(problem.sizes[at.RESOURCES]), int(problem.sizes[at.KINDS])
    limit = problem.limit[problem.leaf, :width]
    stated = limit < ENDLESS
    average = np.where(stated, limit, 0).sum(axis=0) / np.maximum(1, stated.sum(axis=0))
    limits = average > 0
    if not limits.any():
        return np.ones(len(problem.workload))
    need = problem.need.reshape(-1, kinds, problem.need.shape[1])[:, :, :width].mean(axis=1)
    part = (need[:, limits] / average[limits]).max(axis=1)
    return np.asarray(part[problem.first_option[problem.workload]], dtype=np.float64)


def clusters_of(graph: FlowGraph, alike: Int, largest: float, teams: Int | None = None) -> Int:
    """Cluster of every vertex, int64[V] from 0 on: teams whole, then heavy edges tied, heaviest first, up to a size.

    Parameters
    ----------
    alike : int64[V], only vertices of one number are tied together.
    largest : most that a cluster may take of a node.
    teams : int64[V], number of the team that a vertex belongs to, -1: none.
    """
    heaviest = np.zeros(len(graph.size))
    np.maximum.at(heaviest, graph.source, graph.rate)
    np.maximum.at(heaviest, graph.target, graph.rate)
    ties = graph.rate >= HEAVY * np.maximum(heaviest[graph.source], heaviest[graph.target])
    ties &= (alike[graph.source] == alike[graph.target]) & (graph.rate > 0)
    tied = np.nonzero(ties)[0]
    tied = tied[np.argsort(-graph.rate[tied], kind="stable")]
    parent = list(range(len(graph.size)))
    size = graph.size.tolist()

    def root(vertex: int) -> int:
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]
            vertex = parent[vertex]
        return vertex

    first_of: dict[int, int] = {}
    for vertex, team in enumerate([] if teams is None else teams.tolist()):
        if team >= 0:
            first = first_of.setdefault(team, vertex)
            parent[vertex] = first
            size[first] += size[vertex] if vertex != first else 0.0
    for a, b in zip(graph.source[tied].tolist(), graph.target[tied].tolist(), strict=True):
        first, second = root(a), root(b)
        if first != second and size[first] + size[second] <= largest:
            parent[second] = first
            size[first] += size[second]
    roots = np.array([root(vertex) for vertex in range(len(parent))], dtype=np.int64)
    return np.unique(roots, return_inverse=True)[1].astype(np.int64).reshape(-1)


def summed(position: Int, amounts: Float, number: int) -> Float:
    """Sum of the amounts at each position, float64[number]."""
    return np.bincount(position, weights=amounts, minlength=number).astype(np.float64)


def merged(graph: FlowGraph, cluster: Int) -> FlowGraph:
    """The graph between clusters: parallel edges added up, those inside left out."""
    number = int(cluster.max(initial=-1)) + 1
    a, b = cluster[graph.source], cluster[graph.target]
    keys = np.minimum(a, b) * number + np.maximum(a, b)
    crosses = a != b
    found, position = np.unique(keys[crosses], return_inverse=True)
    rate = summed(position, graph.rate[crosses], len(found))
    size = summed(cluster, graph.size, number)
    return FlowGraph(found // max(1, number), found % max(1, number), rate, size)
