"""A partition along the topology tree by a multilevel partitioner (mtkahypar), where it is installed.

Owns the recursion: what a domain holds is split among the domains below it, by what they can take; the cut of each
split is what crosses their uplinks. Knows one measure of size; who uses the result must respect every resource.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import ENDLESS, Problem
from allocator.solvers.heuristic.partition.graph import FlowGraph

__all__ = ["SECONDS_A_VERTEX", "can_partition", "partitioned"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

FINEST = 1000  # units of size of the largest vertex
STEPS_OF_RATE = 10_000  # units of rate of the heaviest edge
SPARE = 0.98  # of the room that is not needed may make a part larger than its share
MOST_SPARE = 0.3
SECONDS_A_VERTEX = 2e-4  # CPU seconds, a generous guess for sparse graphs


def can_partition() -> bool:
    """Whether the partitioner is installed."""
    return find_spec("mtkahypar") is not None


def partitioned(problem: Problem, graph: FlowGraph, *, seed: int, threads: int, preset: str) -> Int:
    """Node of every vertex, int64[V].

    Parameters
    ----------
    preset : name of a preset of the partitioner; the deterministic ones give the same partition for the same seed.
    """
    import mtkahypar

    split = _Splitter(problem, graph, mtkahypar.initialize(threads, False), seed=seed, preset=preset)
    where = np.zeros(len(graph.size), dtype=np.int64)
    split.along_tree(np.arange(int(problem.sizes[at.NODES])), np.arange(len(graph.size)), 0, where)
    return where


class _Splitter:
    """One partition while it is made."""

    def __init__(self, problem: Problem, graph: FlowGraph, run: Any, *, seed: int, preset: str) -> None:
        import mtkahypar

        self.graph = graph
        self.library: Any = mtkahypar
        self.run = run
        self.seed = seed
        self.preset = preset
        self.size = np.maximum(1, np.rint(graph.size / max(1e-300, float(graph.size.max())) * FINEST)).astype(np.int64)
        heaviest = max(1e-300, float(graph.rate.max(initial=0.0)))
        self.rate = np.maximum(1, np.rint(graph.rate / heaviest * STEPS_OF_RATE)).astype(np.int64)
        start = problem.path_start
        self.paths = [problem.path[start[n] : start[n + 1]][::-1] for n in range(len(start) - 1)]
        width = int(problem.sizes[at.RESOURCES])
        own = problem.limit[problem.leaf, :width]
        stated = (own < ENDLESS) & (own > 0)
        average = np.where(stated, own, 0).sum(axis=0) / np.maximum(1, stated.sum(axis=0))
        part = np.where(stated, own / np.maximum(1, average), np.inf).min(axis=1, initial=np.inf)
        self.room: Float = np.where(np.isfinite(part), part, 1.0) * FINEST / max(1e-300, float(graph.size.max()))

    def along_tree(self, nodes: Int, vertices: Int, depth: int, where: Int) -> None:
        """Write nodes of the domain at a depth of the paths for these vertices."""
        if len(nodes) == 1 or not len(vertices):
            where[vertices] = nodes[0]
            return
        domains = np.array([self.paths[n][min(depth, len(self.paths[n]) - 1)] for n in nodes.tolist()])
        below = [nodes[domains == d] for d in np.unique(domains).tolist()]
        if len(below) == 1:
            self.along_tree(nodes, vertices, depth + 1, where)
            return
        block = self._split(vertices, np.array([self.room[group].sum() for group in below]))
        for index, group in enumerate(below):
            self.along_tree(group, vertices[block == index], depth + 1, where)

    def _split(self, vertices: Int, room: Float) -> Int:
        """Part of each vertex, with little traffic between the parts."""
        number = len(room)
        if len(vertices) <= number:
            return np.argsort(np.argsort(-self.size[vertices], kind="stable"), kind="stable").astype(np.int64)
        place = np.full(len(self.graph.size), -1, dtype=np.int64)
        place[vertices] = np.arange(len(vertices))
        a, b = place[self.graph.source], place[self.graph.target]
        inside = (a >= 0) & (b >= 0)
        size = self.size[vertices]
        spare = float(np.clip((room.sum() / size.sum() - 1) * SPARE, 0.01, MOST_SPARE))
        context = self.run.context_from_preset(getattr(self.library.PresetType, self.preset))
        context.logging = False
        context.set_partitioning_parameters(number, spare, self.library.Objective.CUT)
        if room.max() > room.min() * (1 + 1e-9):
            most = np.ceil(room / room.sum() * size.sum() * (1 + spare)) + 1
            context.set_individual_target_block_weights(most.astype(int).tolist())
        self.library.set_seed(self.seed)
        edges = list(zip(a[inside].tolist(), b[inside].tolist(), strict=True))
        graph = self.run.create_graph(
            context, len(vertices), len(edges), edges, size.tolist(), self.rate[inside].tolist()
        )
        return np.array(graph.partition(context).get_partition(), dtype=np.int64)
