"""Walks over clusters: plans hold with and without the partitioner, and a cluster counts for what its items count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.generate.families import generate
from allocator.instance import instance_from_dict
from allocator.model.load import load_model
from allocator.solve import solve
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.problem import tabled
from allocator.solvers.heuristic.partition import arrange
from allocator.solvers.heuristic.partition.arrange import arranged, can_arrange, start_of
from allocator.solvers.heuristic.partition.coarse import coarse_problem, kinds_of_items
from allocator.solvers.heuristic.partition.graph import FlowGraph, clusters_of, flow_graph, merged
from allocator.solvers.heuristic.partition.multilevel import can_partition
from allocator.solvers.heuristic.partition.walks import Pace
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder


def search_of(document: Any, model: str = "traffic", seed: int = 1) -> Search:
    """A search over an instance."""
    compiled = compile_instance(instance_from_dict(document), load_model(model))
    budget = Limits(None, 20_000).start()
    return Search(compiled, budget, Recorder(budget.elapsed), seed, 1)


def edges(*triples: tuple[int, int, float], size: list[float]) -> FlowGraph:
    """A graph of flows."""
    a, b, rate = zip(*triples, strict=True)
    return FlowGraph(np.array(a), np.array(b), np.array(rate, dtype=float), np.array(size))


@pytest.mark.parametrize("model", ["traffic", "place-close"])
@pytest.mark.parametrize(("agents", "load"), [(150, 0.7), (700, 0.85), (1500, 0.93)])
@pytest.mark.parametrize("partitioner", [False, True])
def test_plans_hold_with_and_without_the_partitioner(
    monkeypatch: pytest.MonkeyPatch, partitioner: bool, agents: int, load: float, model: str
) -> None:
    if partitioner:
        pytest.importorskip("mtkahypar")
    monkeypatch.setattr(arrange, "can_partition", lambda: partitioner)
    instance = instance_from_dict(generate("twin", agents=agents, load=load, seed=agents))
    assert can_arrange(search_of(generate("twin", agents=agents, load=load, seed=agents), model).problem)
    result = solve(instance, model, method="local-search", iterations=40_000, threads=1, time_limit=None)
    assert result.plan is not None
    assert result.evaluation is not None
    assert result.evaluation.feasible


def test_the_same_seed_gives_the_same_arrangement() -> None:
    search = search_of(generate("twin", agents=600, load=0.85, seed=3))
    search._first_placement(None)
    found = []
    for _ in range(2):
        where = start_of(search.problem, seconds=None, seed=5, threads=1) if can_partition() else None
        begin = search.walkers[0].state.where.copy() if where is None else where
        pace = Pace(lambda done: done / 30_000, timed=False)
        result = arranged(search.problem, begin, pace=pace, seed=5, threads=1)
        assert result is not None
        found.append(result.where)
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("seed", range(3))
def test_clusters_count_what_their_items_count(seed: int) -> None:
    search = search_of(generate("twin", agents=500, load=0.85, seed=seed))
    problem = search.problem
    graph = flow_graph(problem)
    cluster = clusters_of(graph, kinds_of_items(problem), 0.3)
    between = merged(graph, cluster)
    number = len(between.size)
    assert number < len(cluster)
    coarse = coarse_problem(problem, cluster, between, price=0.0)
    table = tabled(coarse)
    walker = Walker(coarse, table.table, Items(np.arange(number), np.arange(number + 1), (), ()), seed)
    where = np.random.default_rng(seed).integers(0, len(problem.kind), number)
    walker.put(where, coarse.first_option[coarse.workload], forced=True)
    single = search._walker(1)
    single.put(where[cluster], problem.first_option[problem.workload], forced=True)
    assert walker.values[1] == pytest.approx(single.values[1], rel=1e-12)
    assert (walker.state.use == single.state.use).all()


def test_excess_of_a_node_has_its_price() -> None:
    search = search_of(generate("twin", agents=200, load=0.8, seed=1))
    problem = search.problem
    cluster = np.arange(len(problem.workload))
    graph = flow_graph(problem)
    coarse = coarse_problem(problem, cluster, graph, price=1000.0)
    table = tabled(coarse)
    walker = Walker(coarse, table.table, search.items, 1)
    walker.put(np.zeros(len(cluster), dtype=np.int64), coarse.first_option[coarse.workload], forced=True)
    leaf = problem.leaf[0]
    over = np.maximum(0, walker.state.use[leaf] - problem.limit[leaf]) / problem.limit[leaf]
    assert over.max() > 0
    assert walker.values[1] == pytest.approx(1000.0 * over.sum(), rel=1e-9)  # all on one node: no traffic


def test_heavy_edges_are_tied_up_to_a_size_and_only_among_alike() -> None:
    chain = edges((0, 1, 10.0), (1, 2, 10.0), (2, 3, 10.0), (3, 4, 2.0), size=[0.2] * 5)
    assert clusters_of(chain, np.zeros(5, dtype=np.int64), 1.0).tolist() == [0, 0, 0, 0, 1]
    parted = clusters_of(chain, np.zeros(5, dtype=np.int64), 0.5)
    assert np.bincount(parted).max() == 2
    apart = clusters_of(chain, np.array([0, 0, 1, 1, 1]), 1.0)
    assert apart[1] != apart[2]
    assert apart[0] == apart[1]
    assert apart[2] == apart[3]


def test_edges_between_clusters_add_up() -> None:
    graph = edges((0, 1, 10.0), (1, 2, 3.0), (0, 2, 4.0), (2, 3, 5.0), size=[0.1, 0.2, 0.3, 0.4])
    between = merged(graph, np.array([0, 0, 1, 1]))
    assert (between.source.tolist(), between.target.tolist()) == ([0], [1])
    assert between.rate.tolist() == [7.0]
    assert between.size.tolist() == pytest.approx([0.3, 0.7])


@pytest.mark.skipif(not can_partition(), reason="needs mtkahypar")
def test_a_partition_cuts_less_than_a_first_placement_and_fills_nodes_evenly() -> None:
    search = search_of(generate("twin", agents=1500, load=0.85, seed=2))
    search._first_placement(None)
    where = start_of(search.problem, seconds=None, seed=1, threads=1)
    assert where is not None
    walker = search._walker(1)
    walker.put(where, search.problem.first_option[search.problem.workload])
    assert walker.num_left < 0.05 * len(where)
    search.construct(walker)
    assert walker.values[1] < search.walkers[0].values[1]


@pytest.mark.parametrize("seed", [1, 2])
def test_teams_stay_whole_where_they_can(seed: int) -> None:
    document = generate("claims", agents=3000, load=0.95, seed=seed)
    search = search_of(document, "place-close")
    search._first_placement(None)
    pace = Pace(lambda done: done / 2_000_000, timed=False)
    found = arranged(search.problem, search.walkers[0].state.where.copy(), pace=pace, seed=seed, threads=1)
    assert found is not None
    teams = search.problem.unit
    for team in range(teams.max() + 1):
        assert len(set(found.where[teams == team].tolist())) == 1
    assert pace.tried < 2_000_000  # ended for want of any excess
    walker = search._walker(1)
    walker.put(found.where, search.problem.first_option[search.problem.workload])
    assert walker.num_left == 0
    assert walker.values[2] == 0


def test_a_team_counts_for_its_size_and_is_never_parted() -> None:
    graph = edges((0, 1, 10.0), (2, 3, 10.0), size=[0.2] * 5)
    teams = np.array([7, -1, 7, -1, 7])
    cluster = clusters_of(graph, np.zeros(5, dtype=np.int64), 0.7, teams)
    assert cluster[0] == cluster[2] == cluster[4]
    assert len(set(cluster.tolist())) == 3  # 0.6 + 0.2 is too much for another one


def test_teams_too_large_for_a_node_are_left_to_single_moves() -> None:
    document = dict(generate("claims", agents=300, load=0.5, seed=1))
    search = search_of(document, "place-close")
    search.problem.need[:] *= 1000
    where = np.zeros(len(search.problem.workload), dtype=np.int64)
    assert arranged(search.problem, where, pace=Pace(lambda _: 1.0, timed=False), seed=1, threads=1) is None
