"""Bounds of the goals ``traffic`` and ``congestion`` (models/README.md, equations 18, 20), everyone placed.

Owns how cuts of layers become goal values. With X bit/s from bin to bin of a layer at least, the uplinks of the layer
carry X upwards and X downwards in all; a convex price is least when they share it by capacity (Jensen's inequality).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.bounds.orbits import Orbits
from allocator.solvers.bounds.relaxation.cells import cells_of, parts_of, team_types
from allocator.solvers.bounds.traffic.groups import groups_cut
from allocator.solvers.bounds.traffic.layers import Layer, layers_of
from allocator.solvers.bounds.traffic.pairs import pair_graph, pairs_cut
from allocator.solvers.bounds.traffic.teams import teams_cut
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import CONGESTION_PIECES

__all__ = ["LayerCut", "congestion_bound", "layer_cuts", "traffic_bound"]


SECONDS_A_PAIR = 2e-5  # about what a flow between two members takes: not begun where there is no time for it


@dataclass(frozen=True)
class LayerCut:
    """``crossing``: bit/s between different bins of a layer at least, in any plan that places everyone."""

    layer: Layer
    crossing: Fraction


def layer_cuts(compiled: Compiled, orbits: Orbits, budget: Budget) -> list[LayerCut]:
    """What has to cross, by layer, the leaves first."""
    if not (compiled.teams or compiled.pairs or compiled.groups):
        return []
    types, _ = team_types(compiled)
    parts = parts_of(compiled, types)
    cells = cells_of(compiled, orbits, parts, {})
    in_time = len(compiled.pairs) * SECONDS_A_PAIR < budget.remaining()
    graph = pair_graph(compiled, parts) if compiled.pairs and in_time else None
    found = []
    for layer in layers_of(compiled, orbits, parts, cells):
        crossing = groups_cut(compiled, layer, parts) if compiled.groups else Fraction(0)
        if graph is not None:
            crossing += pairs_cut(graph, layer, budget)
        if compiled.teams and sum(each.size for each in layer.bins) > 1:
            crossing += teams_cut(layer, parts, types, budget)
        found.append(LayerCut(layer, crossing))
    return found


def traffic_bound(compiled: Compiled, cuts: list[LayerCut]) -> Fraction:
    """Least traffic times distance."""
    matrix = compiled.instance.distances.matrix
    if matrix is not None:
        return _nearest(matrix, compiled.num_nodes) * cuts[0].crossing if cuts else Fraction(0)
    return sum((2 * min(each.weight for each in cut.layer.bins) * cut.crossing for cut in cuts), Fraction(0))


def _nearest(matrix: Mapping[tuple[str, str], Fraction], nodes: int) -> Fraction:
    """Least distance of two nodes; a pair without an entry has 0."""
    apart = [distance for (a, b), distance in matrix.items() if a != b]
    return min(apart) if apart and len(apart) == nodes * (nodes - 1) else Fraction(0)


def congestion_bound(cuts: list[LayerCut]) -> Fraction:
    """Least price of the loads."""
    total = Fraction(0)
    for cut in cuts:
        capacity = Fraction(0)
        for each in cut.layer.bins:
            if each.bandwidth is None:
                break
            capacity += each.bandwidth * each.size
        else:
            total += 2 * _price(cut.crossing, capacity)
    return total


def _price(load: Fraction, capacity: Fraction) -> Fraction:
    if not capacity:
        return CONGESTION_PIECES[-1][1] * load
    ratio = load / capacity
    total = Fraction(0)
    ends = [start for start, _ in CONGESTION_PIECES[1:]] + [ratio]
    for (start, slope), end in zip(CONGESTION_PIECES, ends, strict=True):
        total += slope * max(Fraction(0), min(ratio, end) - start)
    return capacity * total
