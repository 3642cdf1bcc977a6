"""A first placement begins with teams that talk much, then takes who has partners, then who is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.solvers.heuristic.kernels.build import build_problem
from allocator.solvers.heuristic.kernels.items import items_of
from allocator.solvers.heuristic.kernels.problem import Problem
from allocator.solvers.heuristic.search.order import order_of, sizes_of
from tests.builders import model


def problem(**more: Any) -> Problem:
    """Two nodes of 4 cores and 8 B each; items 0 to 4: a, b, b, c, c."""
    whole = {
        "format": "allocator/v1",
        "name": "i",
        "topology": [{"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 4, "memory": 8}}],
        "workloads": [
            {"class": "a", "requests": {"cpu": 2, "memory": 1}},
            {"class": "b", "count": 2, "requests": {"cpu": 1, "memory": 8}},
            {"class": "c", "count": 2, "requests": {"cpu": 1}},
        ],
        **more,
    }
    compiled = compile_instance(instance_from_dict(whole), model("traffic"))
    return build_problem(compiled, items_of(compiled))


def test_a_size_is_the_largest_part_of_what_there_is() -> None:
    assert np.allclose(sizes_of(problem()), [2 / 8, 8 / 16, 8 / 16, 1 / 8, 1 / 8])


def test_large_items_come_first_and_equal_ones_in_their_order() -> None:
    assert order_of(problem()).tolist() == [1, 2, 0, 3, 4]


def test_partners_come_before_size_and_teams_before_partners() -> None:
    ring = [{"from": "c", "to": "c", "pattern": "ring", "rate": "1 bit/s"}]
    assert order_of(problem(flows=ring)).tolist() == [3, 4, 1, 2, 0]
    team = [{"team": "t", "members": {"a": 1, "b": 1}, "traffic": {"rate": "1 bit/s"}}]
    assert order_of(problem(flows=ring, teams=team)).tolist() == [1, 0, 3, 4, 2]
