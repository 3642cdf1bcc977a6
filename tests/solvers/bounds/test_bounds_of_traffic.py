"""Cuts of teams and flows: the knapsack against enumeration, the bound against partitions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Flow, Instance, Uplink
from allocator.solvers.bounds.orbits import orbits_of
from allocator.solvers.bounds.traffic.goals import layer_cuts
from allocator.solvers.bounds.traffic.knapsack import TeamItem, best_content
from allocator.solvers.bounds.traffic.spreading import spread_cut
from allocator.solvers.budget import Limits
from tests.builders import build, group, model, node, team, workload

F = Fraction


def crossings(instance: Instance) -> list[Fraction]:
    """Least crossing of each layer, the leaves first."""
    compiled = compile_instance(instance, model("traffic"))
    return [cut.crossing for cut in layer_cuts(compiled, orbits_of(compiled, 1000), Limits(60.0).start())]


def contents(capacity: int, pieces: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Profits of all multisets of (weight, profit) within the capacity."""
    if not pieces:
        yield 0
        return
    (weight, profit), *rest = pieces
    for number in range(capacity // weight + 1):
        for other in contents(capacity - number * weight, rest):
            yield number * profit + other


@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_the_best_content_is_the_best_of_all(seed: int, partly: bool) -> None:
    """``partly``: the team has another role, which may not stand there, so that all of these two are a piece."""
    rng = random.Random(seed)
    capacity = rng.randint(3, 9)
    weights, most = (rng.randint(1, 3), rng.randint(1, 3)), (rng.randint(1, 2), rng.randint(1, 2))
    worth = tuple(10 * a * a for a in range(sum(most) + 1))
    price = {0: -rng.randint(0, 30), 1: -rng.randint(0, 30), 2: rng.randint(-5, 9)}
    whole = sum(w * m for w, m in zip(weights, most, strict=True))
    item = TeamItem((0, 1), weights, most, 0 if partly else whole, worth)
    loose = [(2, rng.randint(1, 3))]
    pieces = [
        (weights[0] * a + weights[1] * b, worth[a + b] + price[0] * a + price[1] * b)
        for a, b in itertools.product(range(most[0] + 1), range(most[1] + 1))
        if a + b
    ]
    found = best_content(capacity, [item], loose, price)
    assert found.profit == max(contents(capacity, [*pieces, (loose[0][1], price[2])]))
    earned = sum(times * worth[a] for (_, a), times in found.pieces.items())
    assert found.profit == earned + sum(price[part] * number for part, number in found.members.items())
    assert sum(times * a for (_, a), times in found.pieces.items()) == found.members.get(0, 0) + found.members.get(1, 0)


def test_whole_teams_that_fit_are_not_cut() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 8}) for i in range(3)]
    members = [workload("a", 15, {"cpu": 1}), workload("b", 6, {"cpu": 1})]
    assert crossings(build(*nodes, workloads=members, teams=(team("t", 5, {"a": 3}, 1),))) == [0]


def test_a_team_larger_than_a_node_is_cut_into_the_largest_pieces() -> None:
    """Five members, two a node: 25 - 4 - 4 - 1 ordered pairs."""
    nodes = [node(f"n{i}", capacity={"cpu": 2}) for i in range(4)]
    found = crossings(build(*nodes, workloads=[workload("a", 5, {"cpu": 1})], teams=(team("t", 1, {"a": 5}, 3),)))
    assert found == [16 * 3]


def test_teams_that_would_fit_one_by_one_are_cut_where_nodes_are_filled() -> None:
    """Nodes of 5 for teams of 3: one whole each; the other two teams are 2 and 1 on three nodes: 9 - 4 - 1 each."""
    nodes = [node(f"n{i}", capacity={"cpu": 5}) for i in range(3)]
    instance = build(*nodes, workloads=[workload("a", 15, {"cpu": 1})], teams=(team("t", 5, {"a": 3}, 1),))
    assert crossings(instance) == [8]


def test_all_of_a_team_that_may_stand_on_a_node_are_one_piece() -> None:
    """Two a and one b of a team never meet: the pairs between them are cut, both ways, and no others."""
    nodes = [node(f"n{i}", kind=kind, capacity={"cpu": 2}) for i, kind in enumerate("xxy")]
    members = [
        workload("a", 4, {"cpu": 1}, require={"kind": ("x",)}),
        workload("b", 2, {"cpu": 1}, require={"kind": ("y",)}),
    ]
    instance = build(*nodes, workloads=members, teams=(team("t", 2, {"a": 2, "b": 1}, 1),))
    assert crossings(instance) == [2 * 4]


def test_a_rack_can_cut_what_its_nodes_do_not() -> None:
    """Racks of 5 hold a team of 4 and one member more: of the fifth team no two stand in one rack."""
    racks = [
        group("rack", f"r{j}", *(node(f"n{i}", capacity={"cpu": 5}) for i in range(2)), capacity={"cpu": 5})
        for j in range(4)
    ]
    instance = build(*racks, workloads=[workload("a", 20, {"cpu": 1})], teams=(team("t", 5, {"a": 4}, 1),))
    assert crossings(instance)[1] == 16 - 4


def test_a_chain_over_k_nodes_is_cut_k_minus_1_times_and_a_ring_once_more() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 3}) for i in range(4)]
    chain = tuple((i, i + 1, F(2)) for i in range(11))
    for pairs, cuts in ((chain, 3), ((*chain, (11, 0, F(2))), 3)):
        flows = (Flow("a", "a", "pairs", pairs=pairs),)
        assert crossings(build(*nodes, workloads=[workload("a", 12, {"cpu": 1})], flows=flows)) == [2 * cuts]


def test_flows_between_classes_without_a_common_node_all_leave() -> None:
    sites = [
        group("site", name, node("n", kind=name, capacity={"cpu": 9}), uplink=Uplink(bandwidth=F(9)))
        for name in ("x", "y")
    ]
    instance = build(
        *sites,
        workloads=[
            workload("a", 2, {"cpu": 1}, require={"kind": ("x",)}),
            workload("b", 3, {"cpu": 1}, require={"kind": ("y",)}),
        ],
        flows=(Flow("a", "b", "broadcast", rate=F(5)), Flow("a", "b", "pairs", pairs=((0, 0, F(7)),))),
    )
    assert crossings(instance) == [37, 37]


@pytest.mark.parametrize("seed", range(6))
def test_no_partition_of_a_random_graph_cuts_less(seed: int) -> None:
    rng = random.Random(seed)
    edges = sorted({tuple(sorted(rng.sample(range(7), 2))) for _ in range(12)})
    rates = {edge: F(rng.randint(1, 4)) for edge in edges}
    nodes = [node(f"n{i}", capacity={"cpu": 3}) for i in range(4)]
    flows = (Flow("a", "a", "pairs", pairs=tuple((a, b, rate) for (a, b), rate in rates.items())),)
    (bound,) = crossings(build(*nodes, workloads=[workload("a", 7, {"cpu": 1})], flows=flows))
    least = min(
        sum((rate for (a, b), rate in rates.items() if where[a] != where[b]), F(0))
        for where in itertools.product(range(4), repeat=7)
        if max(where.count(h) for h in range(4)) <= 3
    )
    assert 0 < bound <= least


@pytest.mark.parametrize("seed", range(6))
def test_packed_trees_never_prove_more_than_the_best_partition(seed: int) -> None:
    """Weights 1 to 3, bins of 5: every partition of seven vertices is tried."""
    rng = random.Random(seed)
    edges = sorted({tuple(sorted(rng.sample(range(7), 2))) for _ in range(11)})
    rates = [F(rng.randint(1, 9), rng.randint(1, 3)) for _ in edges]
    weight = [rng.randint(1, 3) for _ in range(7)]
    bound = spread_cut(np.array(weight), 5, np.array(edges), rates, Limits(60.0).start())
    least = min(
        sum((rate for (a, b), rate in zip(edges, rates, strict=True) if where[a] != where[b]), F(0))
        for where in itertools.product(range(4), repeat=7)
        if max(sum(w for v, w in enumerate(weight) if where[v] == h) for h in range(4)) <= 5
    )
    assert 0 < bound <= least


def test_packed_trees_are_near_the_cut_of_a_long_chain() -> None:
    """1,000 members in a chain, 50 a bin: 19 of the flows leave; a tree of the whole chain would prove little."""
    ends = np.array([(i, i + 1) for i in range(999)])
    bound = spread_cut(np.ones(1000, dtype=np.int64), 50, ends, [F(3)] * 999, Limits(60.0).start())
    assert 0.7 * 19 * 3 < bound <= 19 * 3


def test_flows_of_large_graphs_are_bounded_by_packed_trees_where_they_prove_more() -> None:
    """Sixty rings of 30, twenty members a node: a forest proves one cut a ring, the best plan has two."""
    nodes = [node(f"n{i}", capacity={"cpu": 20}, uplink=Uplink()) for i in range(90)]
    ring = [(30 * k + i, 30 * k + (i + 1) % 30, F(1)) for k in range(60) for i in range(30)]
    flows = (Flow("a", "a", "pairs", pairs=tuple(ring)),)
    (bound,) = crossings(build(*nodes, workloads=[workload("a", 1800, {"cpu": 1})], flows=flows))
    assert 60 < bound <= 120
