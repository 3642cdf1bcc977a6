"""Traffic of flows between single members that has to leave the bins of a layer.

A connected graph on members that need k bins at least has k - 1 edges between bins at least: what stands inside bins
is a forest of at most n - k edges of any spanning tree. Edge-disjoint spanning forests (Nagamochi and Ibaraki 1992)
add up, and so do steps of the rates. Flows between classes without a common bin all leave. Knows nothing of how well a
graph can be cut; ``spreading`` does, where the graph is large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.bounds.relaxation.cells import Part, team_types
from allocator.solvers.bounds.traffic.layers import Layer
from allocator.solvers.bounds.traffic.spreading import spread_cut, weights_of
from allocator.solvers.budget import Budget

__all__ = ["PairGraph", "least_bins", "pair_graph", "pairs_cut"]

Int64 = npt.NDArray[np.int64]

STEPS = 8  # thresholds of the rates
FORESTS = 6
LARGE = 1_000  # flows from which on trees are packed: fewer are no work for exact methods


@dataclass(frozen=True)
class PairGraph:
    """Flows between members as a graph, both ways together.

    Attributes
    ----------
    part : int64[V], part of each vertex.
    ends : int64[E, 2], vertices of each edge.
    rates : bit/s of each edge.
    """

    part: Int64
    ends: Int64
    rates: tuple[Fraction, ...]


def pair_graph(compiled: Compiled, parts: Sequence[Part]) -> PairGraph:
    """The graph of all flows between single members."""
    _, type_of = team_types(compiled)
    index = {(part.workload, part.team): number for number, part in enumerate(parts)}
    vertex: dict[int, int] = {}
    part_of: list[int] = []
    rates: dict[tuple[int, int], Fraction] = {}
    for pair in compiled.pairs:
        for block in (pair.source, pair.target):
            if block not in vertex:
                entity = compiled.blocks[block]
                vertex[block] = len(part_of)
                part_of.append(index[entity.workload, type_of[entity.team] if entity.team >= 0 else -1])
        a, b = vertex[pair.source], vertex[pair.target]
        key = (a, b) if a < b else (b, a)
        known = rates.get(key)
        rates[key] = pair.rate if known is None else known + pair.rate
    ends = np.array(list(rates), dtype=np.int64).reshape(-1, 2)
    return PairGraph(np.array(part_of, dtype=np.int64), ends, tuple(rates.values()))


def pairs_cut(graph: PairGraph, layer: Layer, budget: Budget) -> Fraction:
    """Least sum of rates of flows between members in different bins, everyone placed."""
    number = len(layer.covered)
    meets = np.zeros((number, number), dtype=np.bool_)
    for each in layer.bins:
        inside = np.zeros(number, dtype=np.bool_)
        inside[list(each.needs)] = True
        meets |= inside[:, None] & inside[None, :]
    part = graph.part[graph.ends]
    covered = np.array(layer.covered, dtype=np.bool_)[part].all(axis=1)
    apart = covered & ~meets[part[:, 0], part[:, 1]]
    total = sum((graph.rates[edge] for edge in apart.nonzero()[0].tolist()), Fraction(0))
    edges = (covered & ~apart).nonzero()[0]
    layer = layer.holding(set(part[edges].ravel().tolist()))
    if not layer.bins:
        return total
    best = _forests(graph, edges, layer, budget)
    if len(edges) >= LARGE and not budget.exhausted:
        rates = [graph.rates[edge] for edge in edges.tolist()]
        weights = weights_of(layer, _fullest(graph, layer), graph.part)
        best = max(best, spread_cut(*weights, graph.ends[edges], rates, budget))
    return total + best


def _fullest(graph: PairGraph, layer: Layer) -> int:
    """Resource of which members with flows need the largest part of what bins have."""
    counts = np.bincount(graph.part, minlength=len(layer.covered))
    loads = []
    for r in range(len(layer.bins[0].capacity)):
        amounts = [(each.capacity[r], each.size) for each in layer.bins]
        held = sum(amount * size for amount, size in amounts if amount is not None)
        need = 0
        for p, count in enumerate(counts.tolist()):
            need += count * min((each.needs[p][r] for each in layer.bins if p in each.needs), default=0)
        loads.append(need / held if held and all(amount is not None for amount, _ in amounts) else -1.0)
    return int(np.argmax(loads))


def _forests(graph: PairGraph, edges: Int64, layer: Layer, budget: Budget) -> Fraction:
    """Cuts of forests among some of the edges, by steps of their rates."""
    distinct = sorted({graph.rates[edge] for edge in edges.tolist()})
    if len(distinct) > STEPS:
        distinct = [distinct[position * len(distinct) // STEPS] for position in range(STEPS)]
    total, below = Fraction(0), Fraction(0)
    rank = np.searchsorted(  # floats order the rates well enough: a wrong place only moves an edge to a lower step
        np.array([float(rate) for rate in distinct]), [float(graph.rates[edge]) for edge in edges], side="right"
    )
    for step, threshold in enumerate(distinct):
        left = edges[rank > step]
        left = left[np.array([graph.rates[edge] >= threshold for edge in left.tolist()], dtype=np.bool_)]
        cut = 0
        for _ in range(FORESTS):
            if budget.exhausted or not len(left):
                break
            one, left = _spanning(graph, left, layer)
            if not one:
                break
            cut += one
        total += cut * (threshold - below)
        below = threshold
    return total


def _spanning(graph: PairGraph, edges: Int64, layer: Layer) -> tuple[int, Int64]:
    """Edges of one spanning forest that leave bins at least, and the edges outside of it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    size = len(graph.part)
    ends = graph.ends[edges]
    matrix = csr_array((np.arange(1, len(edges) + 1), (ends[:, 0], ends[:, 1])), shape=(size, size))
    tree = minimum_spanning_tree(matrix)
    outside = np.ones(len(edges), dtype=np.bool_)
    outside[tree.data.astype(np.int64) - 1] = False
    _, component = connected_components(tree, directed=False)
    members = np.bincount(component)
    counts = np.zeros((len(members), len(layer.covered)), dtype=np.int64)
    np.add.at(counts, (component, graph.part), 1)
    counts = counts[members > 1]
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    alone = sum(max(0, least_bins(layer, row) - 1) * int(number) for row, number in zip(kinds, times, strict=True))
    together = least_bins(layer, counts.sum(axis=0)) - len(counts)
    return max(alone, together, 0), edges[outside]


def least_bins(layer: Layer, counts: Int64) -> int:
    """Bins that so many members by part need at least: by each resource that every bin limits, the largest first."""
    best = 1 if counts.any() else 0
    for r in range(len(layer.bins[0].capacity) if layer.bins else 0):
        held = sorted(((each.capacity[r], each.size) for each in layer.bins), key=_size, reverse=True)
        if held[0][0] is None:
            continue
        need = 0
        for part in counts.nonzero()[0].tolist():
            known = [each.needs[part][r] for each in layer.bins if part in each.needs]
            need += int(counts[part]) * min(known, default=0)
        used = 0
        for capacity, size in held:
            if need <= 0 or not capacity:
                break
            number = min(size, math.ceil(Fraction(need, capacity)))
            used += number
            need -= number * capacity
        best = max(best, used)
    return best


def _size(held: tuple[int | None, int]) -> float:
    return math.inf if held[0] is None else held[0]
