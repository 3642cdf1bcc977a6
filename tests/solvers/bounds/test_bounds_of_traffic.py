"""Cuts of teams and flows: the knapsack against enumeration, the bound against partitions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Flow, Instance, Uplink
from allocator.solvers.bounds.orbits import orbits_of
from allocator.solvers.bounds.traffic.goals import layer_cuts
from allocator.solvers.bounds.traffic.knapsack import TeamItem, best_content
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


@pytest.mark.parametrize("seed", range(25))
def test_the_best_content_is_the_best_of_all(seed: int) -> None:
    rng = random.Random(seed)
    capacity = rng.randint(3, 9)
    weights, most = (rng.randint(1, 3), rng.randint(1, 3)), (rng.randint(1, 2), rng.randint(1, 2))
    worth = tuple(10 * a * a for a in range(sum(most) + 1))
    price = {0: -rng.randint(0, 30), 1: -rng.randint(0, 30), 2: rng.randint(-5, 9)}
    whole = sum(w * m for w, m in zip(weights, most, strict=True))
    item = TeamItem((0, 1), weights, most, whole, worth)
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
