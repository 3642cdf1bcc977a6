"""Largest sets of nodes nearer than a delay, against all sets of small trees."""

from __future__ import annotations

import random
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.errors import MethodRefused
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.solvers.milp.response.near import Latencies, bicliques, cliques, latencies

LEVELS = ("node", "rack", "site")
Sets = set[tuple[int, ...]]


def domain(rng: random.Random, depth: int, name: str) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "level": LEVELS[depth],
        "name": name,
        "uplink": {"latency": f"{rng.choice([0, 1, 1, 2, 3])} ms"},
    }
    if depth:
        stated["children"] = [domain(rng, depth - 1, f"x{i}") for i in range(rng.randint(1, 3))]
    else:
        stated["capacity"] = {"cpu": 1}
    return stated


def of_random_tree(seed: int) -> Latencies | None:
    rng = random.Random(seed)
    topology = [domain(rng, rng.choice([0, 1, 2]), f"t{i}") for i in range(rng.randint(1, 3))]
    workloads = [{"class": "a", "count": 1, "requests": {"cpu": 1}}]
    whole = {"format": "allocator/v1", "name": "tree", "topology": topology, "workloads": workloads}
    found = latencies(compile_instance(instance_from_dict(whole), load_model("place")))
    return found if found is not None and len(found.table) <= 7 else None


def subsets(sites: list[int]) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(sites, size) for size in range(1, len(sites) + 1)))


def members(sets: np.ndarray) -> Sets:
    return {tuple(int(site) for site in np.nonzero(row)[0]) for row in sets}


def some_sites(rng: random.Random, size: int) -> np.ndarray:
    return np.array([rng.random() < 0.8 for _ in range(size)])


def cases() -> list[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
    found = []
    for seed in range(80):
        known = of_random_tree(seed)
        if known is not None:
            rng = random.Random(seed)
            size = len(known.table)
            first, second = some_sites(rng, size), some_sites(rng, size)
            found += [
                (known.table, first, second, below) for below in [*known.levels(first, second), 10 * known.denominator]
            ]
    assert len(found) > 100
    return found


def test_cliques_are_the_largest_sets_that_are_near() -> None:
    for table, allowed, _, below in cases():
        near = [s for s in subsets(np.nonzero(allowed)[0].tolist()) if all(table[a, b] < below for a in s for b in s)]
        assert members(cliques(table, allowed, below)) == {s for s in near if not any(set(s) < set(t) for t in near)}


def test_bicliques_are_the_largest_pairs_that_are_near_across() -> None:
    for table, first, second, below in cases():
        want = set()
        for here in subsets(np.nonzero(first)[0].tolist()):
            there = tuple(b for b in np.nonzero(second)[0].tolist() if all(table[a, b] < below for a in here))
            if there:
                all_here = tuple(a for a in np.nonzero(first)[0].tolist() if all(table[a, b] < below for b in there))
                want.add((all_here, there))
        left, right = bicliques(table, first, second, below)
        pairs = zip(left, right, strict=True)
        assert {(tuple(np.nonzero(a)[0].tolist()), tuple(np.nonzero(b)[0].tolist())) for a, b in pairs} == want


def test_nodes_at_no_latency_are_one_site() -> None:
    rack = {
        "level": "rack",
        "name": "r",
        "children": [{"level": "node", "name": f"n{i}", "capacity": {"cpu": 1}} for i in range(3)],
    }
    far = {"level": "node", "name": "far", "uplink": {"latency": "5 us"}, "capacity": {"cpu": 1}}
    workloads = [{"class": "a", "count": 1, "requests": {"cpu": 1}}]
    whole = {"format": "allocator/v1", "name": "tree", "topology": [rack, far], "workloads": workloads}
    found = latencies(compile_instance(instance_from_dict(whole), load_model("place")))
    assert found is not None
    assert found.site.tolist() == [0, 0, 0, 1]
    assert float(found.seconds(int(found.table[0, 1]))) == 5e-6


def test_delays_beyond_an_integer_are_refused() -> None:
    tree = {
        "format": "allocator/v1",
        "name": "far",
        "topology": [
            {"level": "node", "name": "a", "uplink": {"latency": f"{seconds} s"}} for seconds in ("1e8", "1e-12")
        ],
    }
    tree["topology"][1]["name"] = "b"  # type: ignore[index]
    with pytest.raises(MethodRefused, match="path delay"):
        latencies(compile_instance(instance_from_dict(tree), load_model("place")))
