"""The bound of ``overload``: what is stuck, and what a node can never hold, count beyond the totals."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.bounds.overload import overload_bound
from tests.oracle.brute_force import brute_force
from tests.oracle.placements import TooMany

OVERLOAD = Model("m", "", (Level((Goal(GoalId.OVERLOAD),)),))


def document(*, transient: bool = True, **more: Any) -> dict[str, Any]:
    """Two nodes; the large one of the members runs where it is too large, and the other node is half full."""
    return {
        "format": "allocator/v1",
        "resources": {"disk": {"role": "other", "transient": transient}},
        "topology": [
            {"level": "node", "name": "a", "capacity": {"disk": 10}, "safety": {"disk": 4}},
            {"level": "node", "name": "b", "capacity": {"disk": 10}, "safety": {"disk": 9}},
        ],
        "workloads": [
            {"class": "large", "requests": {"disk": 7}},
            {"class": "small", "count": 2, "requests": {"disk": 2}},
        ],
        "current": [{"class": "large", "node": "a"}, {"class": "small", "count": 2, "node": "b"}],
        **more,
    }


def bound(stated: dict[str, Any], model: Model = OVERLOAD) -> Fraction:
    return overload_bound(compile_instance(instance_from_dict(stated), model))


def optimum(stated: dict[str, Any]) -> Fraction | float:
    return brute_force(instance_from_dict(stated), OVERLOAD).values[0]


def test_what_cannot_leave_its_node_overloads_it() -> None:
    # 7 stays on a, 3 beyond its safety: b has room for 6 beside what it holds now
    assert bound(document()) == optimum(document()) == 3


def test_without_what_is_held_during_the_change_totals_alone_count() -> None:
    assert bound(document(transient=False)) == 0
    assert bound(document(), Model("m", "", OVERLOAD.levels, frozenset({Family.TRANSIENT}))) == 0


def test_room_is_judged_at_every_domain_above() -> None:
    rack = {"level": "rack", "name": "r", "capacity": {"disk": 17}, "children": document()["topology"]}
    for node in rack["children"]:
        node["capacity"] = {"disk": 20}
    stated = document(topology=[rack], current=[])
    stated["current"] = [{"class": "large", "node": "r/a"}, {"class": "small", "count": 2, "node": "r/b"}]
    assert bound(stated) == optimum(stated) == 3
    rack["capacity"] = {"disk": 18}
    assert (bound(stated), optimum(stated)) == (0, 2)  # the large one may go, though with the small ones there


def test_a_node_that_few_can_reach_takes_no_more_than_they_are() -> None:
    stated = document(transient=False, current=[])
    stated["topology"][1]["labels"] = {"zone": "x"}
    stated["workloads"][0]["placement"] = {"require": {"name": "a"}}
    assert bound(stated) == optimum(stated) == 3
    stated["workloads"][0] = {
        "class": "large",
        "count": 2,
        "requests": {"disk": 4},
        "placement": {"require": {"name": "a"}},
    }
    assert bound(stated) == optimum(stated) == 4


def test_who_stays_may_take_a_smaller_mode() -> None:
    stated = document()
    stated["workloads"][1] = {
        "class": "small",
        "count": 2,
        "modes": {"full": {"requests": {"disk": 2}}, "lean": {"requests": {"disk": 1}}},
    }
    assert bound(stated) == optimum(stated) == 0


def random_document(rng: random.Random) -> dict[str, Any]:
    nodes = [
        {"level": "node", "name": f"n{i}", "kind": "ab"[i % 2], "capacity": {"disk": rng.randint(6, 12)},
         "safety": {"disk": rng.randint(0, 6)}}
        for i in range(3)
    ]  # fmt: skip
    racks = [{"level": "rack", "name": "r", "capacity": {"disk": rng.randint(12, 30)}, "children": nodes}]
    classes, current = [], []
    for number in range(3):
        count = rng.randint(1, 2)
        stated: dict[str, Any] = {"class": f"c{number}", "count": count, "requests": {"disk": rng.randint(1, 6)}}
        if rng.random() < 0.4:
            stated["by_kind"] = {"b": {"requests": {"disk": rng.randint(1, 6)}}}
        if rng.random() < 0.3:
            stated["modes"] = {"x": {}, "y": {"requests": {"disk": rng.randint(1, 6)}}}
        if rng.random() < 0.3:
            stated["placement"] = {"require": {"name": rng.sample(["n0", "n1", "n2"], 2)}}
        classes.append(stated)
        current += [{"class": f"c{number}", "first": i, "node": f"r/n{rng.randrange(3)}"} for i in range(count)]
    resources = {"disk": {"role": "other", "transient": rng.random() < 0.8}}
    current = current if rng.random() < 0.8 else []
    return {
        "format": "allocator/v1", "resources": resources, "topology": racks, "workloads": classes, "current": current
    }  # fmt: skip


@pytest.mark.parametrize("block", range(2))
def test_the_bound_holds_on_random_instances_and_is_often_tight(block: int) -> None:
    tight = met = 0
    for seed in range(block, 240, 2):
        stated = random_document(random.Random(seed))
        try:
            truth = brute_force(instance_from_dict(stated), OVERLOAD)
        except TooMany:
            continue
        if truth.feasible:
            found = bound(stated)
            assert found <= truth.values[0], f"seed {seed}"
            met += 1
            tight += found == truth.values[0] > 0
    assert met > 50
    assert tight > 15
