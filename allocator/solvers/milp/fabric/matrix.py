"""Traffic under a matrix of node distances: products of placements, tightened by the assignment rows.

Level-1 reformulation-linearisation (Adams and Sherali 1986; Lee and Ma 2004 for the generalised quadratic
assignment problem): y[i, h, j, k] = x[i, h] x[j, k] with sum_k y = x[i, h] and sum_h y = x[j, k].
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.milp.fabric.loads import class_count, class_size, team_count
from allocator.solvers.milp.fabric.products import Unary, product, unary
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["matrix_traffic"]

Matrix = Mapping[tuple[str, str], Fraction]
PART = "fabric"


def matrix_traffic(form: Formulation, matrix: Matrix) -> Terms:
    """Sum over flows with both ends placed of rate * distance(node of source, node of target)."""
    compiled = form.compiled
    paths = [node.path for node in compiled.instance.nodes]
    distance = [[matrix.get((a, b), Fraction(0)) for b in paths] for a in paths]
    terms = Terms()
    rates: dict[tuple[int, int], list[Fraction]] = {}
    for pair in compiled.pairs:
        key = min(pair.source, pair.target), max(pair.source, pair.target)
        rates.setdefault(key, [Fraction(0), Fraction(0)])[0 if pair.source == key[0] else 1] += pair.rate
    for (i, j), (forth, back) in rates.items():
        for (first, second), together in _node_pairs(form, i, j).items():
            price = forth * distance[first][second] + back * distance[second][first]
            terms.extend(together, price)
    _extend_by_counts(form, distance, terms)
    return terms.merged()


def _by_node(form: Formulation, block: int) -> dict[int, Terms]:
    found: dict[int, Terms] = {}
    for entry in form.of_block[block]:
        found.setdefault(entry.node, Terms()).add(1, entry.variable)
    return found


def _compatible(compiled: Compiled, form: Formulation, i: int, j: int, node: int) -> bool:
    """Whether one member of each block can share a node by the node's own limits (least floors)."""
    leaf, kind = int(compiled.node_domain[node]), int(compiled.node_kind[node])

    def least(block: int, r: int) -> int:
        options = {entry.option for entry in form.of_block[block] if entry.node == node}
        return min(int(compiled.floor[option, kind, r]) for option in options)

    return all(
        least(i, r) + least(j, r) <= compiled.limit[leaf, r]
        for r in range(len(compiled.resources))
        if compiled.limit[leaf, r] >= 0 and compiled.resources[r] != "power"
    )


def _node_pairs(form: Formulation, i: int, j: int) -> dict[tuple[int, int], Terms]:
    """y[h, k] of two single-member blocks, with the rows that define them exactly at integral placements."""
    key = "node pairs", i, j
    if key in form.cache:
        found: dict[tuple[int, int], Terms] = form.cache[key]
        return found
    here, there = _by_node(form, i), _by_node(form, j)
    pairs: dict[tuple[int, int], Terms] = {}
    for h in here:
        for k in there:
            if h == k and not _compatible(form.compiled, form, i, j, h):
                continue
            pairs[h, k] = Terms([(1, form.real(PART, 1.0))])
    everyone = not form.compiled.model.may_leave_out
    for h, placed in here.items():
        row = placed.copy()
        for k in there:
            row.extend(pairs.get((h, k), Terms()), -1)
        form.equal(PART, row, 0) if everyone else form.at_least(PART, row, 0)
    for k, placed in there.items():
        row = placed.copy()
        for h in here:
            row.extend(pairs.get((h, k), Terms()), -1)
        form.equal(PART, row, 0) if everyone else form.at_least(PART, row, 0)
    if not everyone:
        # sum of all y >= placed_i + placed_j - 1: with the rows above exact at integral placements
        meet = Terms()
        for together in pairs.values():
            meet.extend(together)
        form.at_least(PART, meet.extend(form.placed(i), -1).extend(form.placed(j), -1), -1)
    form.cache[key] = pairs
    return pairs


def _extend_by_counts(form: Formulation, distance: list[list[Fraction]], terms: Terms) -> None:
    """Teams and entries between classes: count times count for every pair of nodes at a distance."""
    compiled = form.compiled
    leaves = [int(domain) for domain in compiled.node_domain]
    apart = [(h, k) for h, row in enumerate(distance) for k, far in enumerate(row) if far]
    for h, k in apart:
        for team in compiled.teams:
            here, there = team_count(form, team, leaves[h]), team_count(form, team, leaves[k])
            if here:
                count = unary(form, ("team matrix", team.index, h), here, team.size)
                key = "matrix team", team.index, h, k
                met = _one_set(count) if h == k else product(form, key, count, there, team.size)
                terms.extend(met, team.rate * distance[h][k])
        for index, group in enumerate(compiled.groups):
            here, there = class_count(form, group.source, leaves[h]), class_count(form, group.target, leaves[k])
            if here:
                count = unary(form, ("class", group.source, leaves[h], False), here, class_size(form, group.source))
                key = "matrix group", index, h, k
                same = group.source == group.target and h == k
                met = _one_set(count) if same else product(form, key, count, there, class_size(form, group.target))
                terms.extend(met, group.rate * distance[h][k])


def _one_set(count: Unary) -> Terms:
    """Ordered pairs of distinct members of one set on one node."""
    return count.weighted([a * (a - 1) for a in range(len(count.picks))])
