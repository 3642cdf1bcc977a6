"""Goal ``traffic`` (equation 18)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import product
from allocator.solvers.cpsat.fabric import class_count, load
from allocator.solvers.cpsat.linear import Linear, content, total
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]

WHERE = "the goal traffic"
Distance = list[list[Fraction]]  # by node and node


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum of b_f * distance over flows with both ends placed: by uplinks crossed, or by the matrix of distances."""
    matrix = symbols.compiled.instance.distances.matrix
    if matrix is None:
        return _by_uplinks(symbols)
    paths = [node.path for node in symbols.compiled.instance.nodes]
    # a missing entry is 0 on the diagonal only; elsewhere validation has refused it
    distance = [[matrix.get((a, b), Fraction(0)) if a == b else Fraction(matrix[a, b]) for b in paths] for a in paths]
    return total([_pairs(symbols, distance), _teams(symbols, distance), _groups(symbols, distance)])


def _by_uplinks(symbols: Symbols) -> Linear:
    """Sum over uplinks of weight_e (L_e up + L_e down)."""
    value = Linear()
    for domain in symbols.compiled.instance.domains:
        if domain.uplink is not None and domain.uplink.weight:
            for offered in load(symbols, domain.index):
                value.add_scaled(offered, domain.uplink.weight)
    return value


def _pairs(symbols: Symbols, distance: Distance) -> Linear:
    """One cost per pair of members that talk: at least the weighted distance to where the other one is."""
    compiled = symbols.compiled
    rates: dict[tuple[int, int], list[Fraction]] = {}
    for pair in compiled.pairs:
        key = min(pair.source, pair.target), max(pair.source, pair.target)
        rates.setdefault(key, [Fraction(0), Fraction(0)])[pair.source > pair.target] += pair.rate
    value = Linear()
    for (i, j), (forth, back) in rates.items():
        symbols.budget.check()
        weight = [
            [forth * there + back * back_again for there, back_again in zip(row, column, strict=True)]
            for row, column in zip(distance, zip(*distance, strict=True), strict=True)
        ]
        value.add_scaled(_pair_cost(symbols, i, j, weight))
    return value


def _pair_cost(symbols: Symbols, i: int, j: int, weight: Distance) -> Linear:
    """weight[node of i][node of j] when both are placed, else 0."""
    builder = symbols.builder
    here = [(node, variable) for _, node, variable in symbols.of_block[i]]
    there = [(node, variable) for _, node, variable in symbols.of_block[j]]
    entries = [weight[h][k] for h, _ in here for k, _ in there]
    if not any(entries):
        return Linear()
    unit = content(entries)

    def define(values: Sequence[int]) -> int:
        return int(sum(weight[h][k] / unit * (values[x] * values[y]) for h, x in here for k, y in there))

    cost = builder.integer(0, int(max(entries) / unit), WHERE, define)
    for h, x in here:
        reached = Linear().add(cost, -1)
        for k, y in there:
            reached.add(y, weight[h][k] / unit)
        builder.add(reached, WHERE, upper=0, only_if=x)
    return Linear().add(cost, unit)


def _teams(symbols: Symbols, distance: Distance) -> Linear:
    value = Linear()
    for team in symbols.compiled.teams:
        counts = [
            total(symbols.count(block, node, node + 1) for block in team.blocks)
            for node in range(symbols.compiled.num_nodes)
        ]
        value.add_scaled(_all_pairs(symbols, counts, counts, distance, same=True), team.rate)
    return value


def _groups(symbols: Symbols, distance: Distance) -> Linear:
    value = Linear()
    for group in symbols.compiled.groups:
        sources, targets = (
            [class_count(symbols, workload, node, node + 1) for node in range(symbols.compiled.num_nodes)]
            for workload in (group.source, group.target)
        )
        pairs = _all_pairs(symbols, sources, targets, distance, same=group.source == group.target)
        value.add_scaled(pairs, group.rate)
    return value


def _all_pairs(
    symbols: Symbols, sources: list[Linear], targets: list[Linear], distance: Distance, *, same: bool
) -> Linear:
    """Sum over ordered pairs of distinct members of the distance of their nodes, from counts per node."""
    value = Linear()
    products: dict[tuple[int, int], Linear] = {}
    for h, source in enumerate(sources):
        symbols.budget.check()
        for k, target in enumerate(targets):
            if not distance[h][k] or not source.terms or not target.terms:
                continue
            key = (min(h, k), max(h, k)) if same else (h, k)
            if key not in products:
                products[key] = product(symbols.builder, source, target, WHERE)
            value.add_scaled(products[key], distance[h][k])
            if same and h == k:
                value.add_scaled(source, -distance[h][k])
    return value
