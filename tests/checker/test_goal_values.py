"""Goals (15), (18), (19), (21) to (26) on plans worked out by hand; rates and links have their own modules."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from allocator.checker import check
from allocator.checker.goals import GOALS
from allocator.errors import UnsupportedFamily
from allocator.instance.entities import BalanceTriple, Distances, Flow, Instance, MoveCosts, Power, Uplink
from allocator.model.entities import Goal
from allocator.model.families import GoalId
from tests.builders import build, group, model, node, plan, team, workload

F = Fraction


def value(instance: Instance, goal: str | Goal, where: dict[str, Any]) -> Fraction:
    evaluation = check(instance, model("placed", goal) if goal != "placed" else model(goal), plan(instance, where))
    assert evaluation.feasible, evaluation.violations
    return evaluation.levels[-1]


def test_placed_sums_values() -> None:
    """2 of a at 3, 1 of b at 1/2."""
    instance = build(node("n"), workloads=[workload("a", 3, value=3), workload("b", 1, value=F(1, 2))])
    assert value(instance, "placed", {"a": ["n", None, "n"], "b": ["n"]}) == F(13, 2)


def test_cost_by_path_then_kind_then_default_then_nothing() -> None:
    """On x 7 (its path), on y 5 (kind k), on z 2 (default); b costs only on kind k."""
    instance = build(
        node("x"),
        node("y"),
        node("z", kind="other"),
        workloads=[
            workload("a", 3, cost={"x": F(7), "k": F(5), "default": F(2)}),
            workload("b", 1, cost={"k": F(11)}),
        ],
    )
    assert value(instance, "cost", {"a": ["x", "y", "z"], "b": ["z"]}) == 14
    assert value(instance, "cost", {"a": ["x", "x", None], "b": ["y"]}) == 25


def test_traffic_by_link_weights() -> None:
    """Nodes weigh 1, racks 3: x to y in one rack 2, x to z in the other 8. Team of x, y, z at 10 a pair."""
    racks = [
        group("rack", "r", node("x"), node("y"), uplink=Uplink(weight=F(3))),
        group("rack", "s", node("z"), uplink=Uplink(weight=F(3))),
    ]
    instance = build(*racks, workloads=[workload("a", 3)], teams=(team("t", 1, {"a": 3}, 10),))
    assert value(instance, "traffic", {"a": ["r/x", "r/y", "s/z"]}) == 10 * 2 * (2 + 8 + 8)
    assert value(instance, "traffic", {"a": ["r/x", "r/x", "r/x"]}) == 0
    assert value(instance, "traffic", {"a": [None, None, None]}) == 0


MATRIX = {("x", "x"): F(1), ("x", "y"): F(5), ("y", "x"): F(7)}


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        ({"teams": (team("t", 1, {"a": 3}, 10),)}, 10 * (2 * 1 + 2 * 5 + 2 * 7)),
        (
            {"flows": (Flow("a", "a", "pairs", pairs=((0, 1, F(2)), (0, 2, F(3)), (2, 1, F(4)))),)},
            2 * 1 + 3 * 5 + 4 * 7,
        ),
        ({"flows": (Flow("a", "b", "spread", F(4)),)}, 2 * (2 * 1 + 2 * 5 + 7 + 0)),
        ({"flows": (Flow("a", "b", "broadcast", F(4)),)}, 4 * (2 * 1 + 2 * 5 + 7 + 0)),
        ({"flows": (Flow("a", "a", "broadcast", F(1)),)}, 2 * 1 + 2 * 5 + 2 * 7),
    ],
    ids=["team", "pairs", "spread", "broadcast", "self"],
)
def test_traffic_by_a_matrix_with_a_diagonal(traffic: dict[str, Any], expected: int) -> None:
    """Class a stands on x, x, y and b on x, y; x-x costs 1, y-y nothing, x-y 5, y-x 7."""
    instance = build(
        node("x"), node("y"), workloads=[workload("a", 3), workload("b", 2)], distances=Distances(MATRIX), **traffic
    )
    assert value(instance, "traffic", {"a": ["x", "x", "y"], "b": ["x", "y"]}) == expected


def loaded() -> Instance:
    return build(
        group(
            "rack",
            "r",
            node("x", capacity={"cpu": 1000, "memory": 100}, safety={"cpu": 400, "disk": 3}),
            node("y", capacity={"cpu": 2000}, safety={"cpu": 400}),
            capacity={"cpu": 2500, "power": 10, "disk": 99},
            safety={"cpu": 900},
        ),
        workloads=[workload("a", 2, {"cpu": 500, "memory": 10}), workload("b", 1, {"disk": 5, "power": 9})],
    )


WHERE: dict[str, list[str | None]] = {"a": ["r/x", "r/x"], "b": ["r/x"]}


def test_peak_by_resource_and_level() -> None:
    """cpu: x 1000/1000, r 1000/2500; memory: x 20/100; power 9/10 only when named."""
    assert value(loaded(), "peak", WHERE) == 1
    assert value(loaded(), Goal(GoalId.PEAK, resources=("memory",)), WHERE) == F(1, 5)
    assert value(loaded(), Goal(GoalId.PEAK, at_level="rack"), WHERE) == F(2, 5)
    assert value(loaded(), Goal(GoalId.PEAK, resources=("power",)), WHERE) == F(9, 10)
    assert value(loaded(), Goal(GoalId.PEAK, resources=("gpu",)), WHERE) == 0


def test_overload_in_base_units_weighted() -> None:
    """x: 1 - 0.4 core, r: 1 - 0.9 core; disk 5 - 3 at weight 2."""
    assert value(loaded(), "overload", WHERE) == F(6, 10) + F(1, 10) + 4


def test_balance_by_hand() -> None:
    """Node x: 200 x 0 cores free - 80 bytes < 0; y: 200 x 2 - 0; racks: 3 x (2.5 - 1) - (0 - 20) = 24.5, weight 2."""
    instance = loaded()
    triples = (
        BalanceTriple("cpu", "memory", F(200), F(1), "node"),
        BalanceTriple("cpu", "memory", F(3), F(2), "rack"),
    )
    balanced = replace(instance, balance=triples)
    assert value(balanced, "balance", WHERE) == 400 + 2 * F(49, 2)


def test_moves_adds_process_group_and_machine_costs() -> None:
    """a/0 (cost 2) moves x > y, a/1 is evicted, b/0 (cost 5) moves x > y; groups: a 2 moved, b 1; machine 3 each."""
    instance = build(
        node("x"),
        node("y"),
        workloads=[workload("a", 3, move_cost=2), workload("b", 1, move_cost=5)],
        current={"a": ["x", "x", "x"], "b": ["x"]},
        moves=MoveCosts(F(1), F(100), F(1000), {("x", "y"): F(3), ("y", "x"): F(9)}),
    )
    where = {"a": ["y", None, "x"], "b": ["y"]}
    assert value(instance, "moves", where) == (2 + 2 + 5) + 100 * 2 + 1000 * 6
    outcomes = check(instance, model("placed", "moves"), plan(instance, where)).classes
    assert [outcome.moved for outcome in outcomes] == [2, 1]


def test_moves_is_0_without_a_current_placement_and_counts_members_by_default() -> None:
    nowhere = build(node("x"), node("y"), workloads=[workload("a", 2)])
    assert value(nowhere, "moves", {"a": ["x", "y"]}) == 0
    running = build(node("x"), node("y"), workloads=[workload("a", 2, move_cost=4)], current={"a": ["x", "x"]})
    assert value(running, "moves", {"a": ["x", "y"]}) == 4


@pytest.mark.parametrize("size", [10**6, 10**9, 10**12])
def test_a_node_counts_as_open_however_little_it_holds(size: int) -> None:
    """Case 2: 1 unit on a machine of 1e6, 1e9, 1e12, opening cost 5."""
    instance = build(
        node("x", capacity={"memory": size}, weight=F(5)),
        node("y", weight=F(7)),
        workloads=[workload("a", 1, {"memory": 1})],
    )
    assert value(instance, "nodes", {"a": ["x"]}) == 5
    assert value(instance, "nodes", {"a": [None]}) == 0


def test_power_sums_nodes_in_use() -> None:
    """x: 10 + 20 x 1/4 = 15; y idle in use 40; z not in use."""
    instance = build(
        node("x", capacity={"cpu": 400}, power=Power(F(10), F(30))),
        node("y", capacity={"cpu": 100}, power=Power(F(40), F(90))),
        node("z", power=Power(F(1000), F(1000))),
        workloads=[workload("a", 1, {"cpu": 100}), workload("b", 1)],
    )
    assert value(instance, "power", {"a": ["x"], "b": ["y"]}) == 55


def test_a_weighted_level_negates_maximised_goals() -> None:
    """One node minus two placed members."""
    instance = build(node("x"), workloads=[workload("a", 2)])
    evaluation = check(instance, model("nodes", "placed", together=True), plan(instance, {"a": ["x", "x"]}))
    assert evaluation.levels == (-1,)
    assert evaluation.goals == {GoalId.NODES: 1, GoalId.PLACED: 2}


def test_goals_without_a_definition_are_refused_by_name() -> None:
    instance = build(node("x"), workloads=[workload("a", 1)])
    for goal in set(GoalId) - set(GOALS):
        with pytest.raises(UnsupportedFamily, match=goal.value):
            check(instance, model("placed", goal.value), plan(instance, {"a": ["x"]}))
    assert set(GoalId) - set(GOALS) == {GoalId.QUALITY}


def test_services_are_refused() -> None:
    instance = build(node("x"), workloads=[workload("a", 1)], services=({"name": "s"},))
    with pytest.raises(UnsupportedFamily, match="services"):
        check(instance, model("placed"), plan(instance, {"a": ["x"]}))
