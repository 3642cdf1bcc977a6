"""Goals on the network: ``traffic`` (18) and ``congestion`` (20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from allocator.checker.situation import Situation
from allocator.checker.standing import NOWHERE
from allocator.model.entities import Goal

__all__ = ["congestion", "traffic"]

SLOPES = (
    (Fraction(0), 1),
    (Fraction(1, 3), 3),
    (Fraction(2, 3), 10),
    (Fraction(9, 10), 70),
    (Fraction(1), 500),
    (Fraction(11, 10), 5000),
)
"""Slope of psi from each utilisation on (Fortz and Thorup 2000)."""

Matrix = Mapping[tuple[str, str], Fraction]


def congestion(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Sum of C psi(L / C) over both directions of the uplinks that state a bandwidth."""
    total = Fraction(0)
    loads = (situation.traffic.offered_up, situation.traffic.offered_down)
    for domain in situation.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        for load in loads:
            offered, slope_before = load.get(domain.index, Fraction(0)), 0
            for start, slope in SLOPES:
                total += (slope - slope_before) * max(Fraction(0), offered - start * domain.uplink.bandwidth)
                slope_before = slope
    return total


def traffic(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Sum of offered traffic times distance."""
    matrix = situation.instance.distances.matrix
    if matrix is not None:
        return _by_matrix(situation, matrix)
    total = Fraction(0)
    for domain in situation.instance.domains:
        if domain.uplink is not None:
            up = situation.traffic.offered_up.get(domain.index, 0)
            down = situation.traffic.offered_down.get(domain.index, 0)
            total += domain.uplink.weight * (up + down)
    return total


def _by_matrix(situation: Situation, matrix: Matrix) -> Fraction:
    """Traffic of every flow, by nodes instead of members: members on one node are alike."""
    standing, total = situation.standing, Fraction(0)
    for team in situation.flows.teams:
        at = Counter(team.nodes(standing.nodes_of))
        at.pop(NOWHERE, None)
        total += team.rate * _sum_over_pairs(situation, matrix, at, at, same=True)
    for (a, i, b, j), rate in situation.flows.pairs.items():
        source, target = standing.node_of(a, i), standing.node_of(b, j)
        if NOWHERE not in (source, target):
            total += rate * _distance(situation, matrix, source, target)
    at_of: list[Counter[int]] = [Counter() for _ in situation.instance.workloads]
    for batch in standing.batches:
        at_of[batch.workload][batch.node] += batch.count
    for group in situation.flows.groups:
        same = group.source == group.target
        total += group.rate * _sum_over_pairs(situation, matrix, at_of[group.source], at_of[group.target], same=same)
    return total


def _sum_over_pairs(
    situation: Situation, matrix: Matrix, sources: Mapping[int, int], targets: Mapping[int, int], *, same: bool
) -> Fraction:
    """Summed distance of all ordered pairs of distinct members; ``same``: both counts are of the same members."""
    total = Fraction(0)
    for source, a in sources.items():
        for target, b in targets.items():
            pairs = a * (b - 1) if same and source == target else a * b
            if pairs:
                total += pairs * _distance(situation, matrix, source, target)
    return total


def _distance(situation: Situation, matrix: Matrix, source: int, target: int) -> Fraction:
    """Entry of two nodes; the diagonal may be left out."""
    nodes = situation.instance.nodes
    key = (nodes[source].path, nodes[target].path)
    return matrix.get(key, Fraction(0)) if source == target else matrix[key]
