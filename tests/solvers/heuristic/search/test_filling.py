"""Filling and refilling keep every sum right, seat gangs whole, and fill a cluster that can be filled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.solvers.budget import Budget, Limits
from allocator.solvers.heuristic.search.filling import Filling, places_alike
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.solvers.heuristic.kernels.test_kernels_agree import HOT, assert_consistent, searched


@pytest.mark.parametrize("bent", [False, True])
def test_sums_and_rules_after_refills_of_random_instances(bent: bool) -> None:
    moved = 0
    for seed in range(40):
        found = searched(seed, bent=bent)
        if found is None:
            continue
        compiled, search = found
        filling, walker = Filling(search.problem, search.table), search.walkers[0]
        budget = Limits(None, 1000).start()
        for order in filling.orders():
            filling.fill(walker, order, budget)
            assert_consistent(compiled, search, walker)
        law = walker.state.totals[:3].sum()
        caps = np.full(len(walker.values), np.inf)
        filling.refill(walker, len(walker.values) - 1, caps, HOT, 300)
        assert_consistent(compiled, search, walker)
        assert walker.state.totals[:3].sum() <= law, seed
        moved += int(filling.counts[1] > 0)
    assert moved >= 10


def _cluster(hosts: int, gpus: int, workloads: list[dict[str, object]]) -> dict[str, object]:
    return {
        "format": "allocator/v1",
        "name": "cluster",
        "model": "place",
        "topology": [
            {
                "level": "host",
                "name": "host",
                "count": hosts,
                "capacity": {"cpu": 12 * gpus},
                "children": [
                    {"level": "node", "name": "gpu", "count": gpus, "kind": "gpu", "capacity": {"accelerator": 1}}
                ],
            }
        ],
        "workloads": workloads,
    }


def _class(name: str, count: int, gpu: str, cpu: str, gang: int = 0) -> dict[str, object]:
    placement = {"placement": {"gang": {"size": gang, "level": "host"}}} if gang else {}
    return {
        "class": name,
        "count": count,
        "value": gpu,
        "requests": {"accelerator": gpu, "cpu": cpu},
        **placement,
    }


def test_fills_a_cluster_beyond_its_capacity() -> None:
    # per host, in the only way that leaves nothing: a gang of 4, two whole ones, two pairs of parts
    hosts = 24
    document = _cluster(
        hosts,
        8,
        [
            _class("gang", 4 * hosts, "1", "8", gang=4),
            _class("whole", 2 * hosts, "1", "20"),
            _class("most", 2 * hosts, "0.7", "6"),
            _class("rest", 2 * hosts, "0.3", "6"),
            _class("heavy", 4 * hosts, "1", "40"),
        ],
    )
    found = solve(
        instance_from_dict(document), method="local-search", time_limit=None, iterations=400_000, threads=1, seed=3
    )
    assert found.levels[0].value is not None
    assert float(found.levels[0].value) >= 0.99 * 8 * hosts


def test_costs_of_places_are_no_matter_of_filling() -> None:
    alike = searched(0, bent=False)
    assert alike is not None
    problem = alike[1].problem
    flags = problem.sizes.copy()
    flags[-1] = 0
    plain = problem._replace(sizes=flags, soft_weight=np.zeros_like(problem.soft_weight))
    assert places_alike(plain)
    assert not places_alike(plain._replace(soft_weight=np.ones_like(problem.soft_weight)))


@pytest.mark.parametrize("hosts", [24, 20])
def test_construction_comes_first_and_filling_only_where_somebody_is_left(
    hosts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(Recorder, "offer", lambda self, plan: told.append("plan"))
    fill = Filling.fill

    def watched(self: Filling, walker: Walker, order: npt.NDArray[np.int64], budget: Budget) -> None:
        told.append("fill")
        fill(self, walker, order, budget)

    monkeypatch.setattr(Filling, "fill", watched)
    document = _cluster(hosts, 8, [_class("whole", 8 * 22, "1", "8"), _class("half", 4, "0.5", "8")])
    compiled = compile_instance(instance_from_dict(document), load_model("place"))
    budget = Limits(None, 100).start()
    found = Search(compiled, budget, Recorder(budget.elapsed), 1, 1).run(None)
    assert found is not None
    assert found.values == (8 * min(hosts, 22) + 2 * (hosts > 22),)
    assert told[0] == "plan"
    assert ("fill" in told) == (hosts == 20)
