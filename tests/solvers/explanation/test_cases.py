"""Inputs that broke other tools, and what is right to say of them."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.plan.entities import Plan
from allocator.plan.result import Status
from allocator.solvers.budget import Limits
from allocator.solvers.explanation import explain_infeasible, explain_unplaced, relaxed
from tests.solvers.explanation.broken import MODEL, PLACED, document, node, rack, workload
from tests.solvers.explanation.judging import answer


def why(whole, model=MODEL, seconds=20.0):
    return explain_infeasible(instance_from_dict(whole), model, budget=Limits(seconds).start())


def unplaced(whole) -> Plan:
    instance = instance_from_dict(whole)
    _, plan, evaluation = answer(instance, PLACED)
    explained = explain_unplaced(compile_instance(instance, PLACED), plan, evaluation)
    assert [g.count for g in explained.unplaced] == [g.count for g in plan.unplaced]
    return explained


def test_two_thousand_agents_on_one_machine() -> None:
    found = why(document([node("m", 48, "96 GB")], [workload("agent", 2000, 1, "2 GB")]))
    text = " ".join(found.reasons)
    assert "1,952 cores of cpu and 3,904 GB of memory short" in text
    assert "from the 49th member on" in text
    assert {(c["resource"], c["add"], c["unit"]) for c in found.relaxation} == {
        ("cpu", 1952, "core"),
        ("memory", 3904 * 10**9, "B"),
    }
    assert len(found.conflict) == 2


def test_a_byte_too_much_is_too_much() -> None:
    found = why(document([node("m", 4, 100_000_000)], [workload("x", 1, 1, 100_000_200)]))
    assert "200 B of memory short" in found.reasons[0]
    assert found.relaxation[0]["add"] == 200


def test_31_items_that_fill_the_capacities_exactly_but_cannot_be_packed() -> None:
    """No subset fills 1480: three or four of the small ones, two with one large, none with two large ones."""
    sizes = [700] * 24 + [380] * 3 + [385] * 4
    capacities = [8000, 5000, 5000, 1480]
    assert sum(sizes) == sum(capacities)
    whole = document(
        [rack("r", *(node(f"n{i}", 99, room) for i, room in enumerate(capacities)))],
        [workload(f"w{i}", 1, 0, size) for i, size in enumerate(sizes)],
    )
    found = why(whole)
    assert found.reasons[0].startswith("The totals fit, but")
    assert {element["family"] for element in found.conflict} == {"assignment", "capacity"}
    assert found.relaxation
    partial = unplaced(whole)
    assert sum(group.count for group in partial.unplaced) == 1
    assert "no room left" in partial.unplaced[0].reason


def test_no_nodes() -> None:
    found = why(document([], [workload("x", 3)]))
    assert "there is no node" in found.reasons[0]
    assert [(c["family"], c["leave_out"]) for c in found.relaxation] == [("assignment", 3)]


def test_item_node_resource_and_amount_are_named() -> None:
    topology = [rack("r", node("small", 2, 8), node("large", 4, 16, labels={"zone": "a"}))]
    plan = unplaced(
        document(
            topology,
            [
                workload("whale", 1, 1, 20),
                workload("pinned", 2, 3, 1, placement={"require": {"name": ["large"]}}),
                workload("lost", 1, placement={"require": {"zone": ["z"]}}),
            ],
        )
    )
    by_class = {group.workload: group for group in plan.unplaced}
    assert by_class["whale"].short == {"memory": 4}
    assert "r/large" in by_class["whale"].reason
    assert by_class["pinned"].count == 1
    assert by_class["pinned"].short == {"cpu": 2}
    assert "r/large" in by_class["pinned"].reason
    assert by_class["lost"].short == {}
    assert "label zone = z" in by_class["lost"].reason
    assert "nodes have a" in by_class["lost"].reason


def test_thirty_items_for_a_node_of_seventy_gibibytes() -> None:
    plan = unplaced(document([node("n", 64, "70 GiB")], [workload("item", 30, 1, "32 GiB")]))
    assert sum(group.count for group in plan.unplaced) == 28
    for group in plan.unplaced:
        assert group.short == {"memory": 26 * 2**30}
        assert "32 GiB of memory" in group.reason
        assert "26 GiB of memory short" in group.reason


def test_a_rule_that_holds_back_is_named() -> None:
    rule = {"conflict": {"level": "node", "at_most": 1}}
    plan = unplaced(document([node("n", 64, 64)], [workload("loner", 3, 1, 1, placement=rule)]))
    assert plan.unplaced[0].count == 2
    assert "at most 1 member of group loner in one node" in plan.unplaced[0].reason


def test_a_gang_is_missed_as_a_whole() -> None:
    crew = workload("crew", 6, 1, 1, placement={"gang": {"size": 3, "level": "rack"}})
    plan = unplaced(document([rack("r0", node("a", 1), node("b", 1), node("c", 1)), rack("r1", node("d", 1))], [crew]))
    assert plan.unplaced[0].count == 3
    assert "whole gang" in plan.unplaced[0].reason


def test_a_team_is_missed_as_a_whole() -> None:
    teams = [
        {"team": "pair", "count": 2, "members": {"x": 2}, "traffic": {"pattern": "all-to-all", "rate": "1 Mbit/s"}}
    ]
    plan = unplaced(document([node("n", 3)], [workload("x", 4)], teams=teams))
    assert sum(group.count for group in plan.unplaced) == 2
    assert "team pair" in plan.unplaced[0].reason


def test_a_feasible_instance_has_nothing_to_explain() -> None:
    found = why(document([node("n")], [workload("x", 1)]))
    assert (found.reasons, found.conflict, found.relaxation) == ((), (), ())


def test_without_time_nothing_is_guessed() -> None:
    whole = document(
        [rack(f"r{i}", *(node(f"n{j}", 7, 13 + j) for j in range(8))) for i in range(6)],
        [workload(f"w{i}", 9, 1 + i % 3, 2 + i % 5) for i in range(30)],
    )
    budget = Limits(30.0).start()
    budget.interrupt()
    found = explain_infeasible(instance_from_dict(whole), MODEL, budget=budget)
    assert found.conflict == ()
    assert found.relaxation == ()
    assert any("short" in reason for reason in found.reasons), "counting needs no solver"
    assert any("No irreducible conflict" in reason for reason in found.reasons)


def test_leaving_members_out_takes_their_teams_and_places_along() -> None:
    whole = document(
        [node("n", 8)],
        [workload("x", 6), workload("y", 3)],
        teams=[{"team": "t", "count": 3, "members": {"x": 2}, "traffic": {"pattern": "all-to-all", "rate": "8 bit/s"}}],
        current=[{"class": "x", "first": 1, "count": 4, "node": "n", "mode": "default"}],
    )
    instance = instance_from_dict(whole)
    eased = relaxed(instance, [{"family": "assignment", "class": "x", "leave_out": 1, "members": [[2, 1]]}])
    assert eased.workload_by_name["x"].count == 5
    assert [(t.count, dict(t.offsets)) for t in eased.teams] == [(1, {"x": 0}), (1, {"x": 3})]
    assert [(c.first, c.count) for c in eased.current or ()] == [(1, 3)]
    assert answer(eased, MODEL)[0].status is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(5))
def test_added_capacity_is_least(seed: int) -> None:
    """On one node the least addition is what is short, to the millicore."""
    rng = random.Random(seed)
    room, count, size = rng.randint(1, 5000), rng.randint(2, 9), rng.randint(600, 2600)
    count = max(count, room // size + 1)
    found = why(document([node("n", f"{room}m")], [workload("x", count, f"{size}m", 0)]))
    assert [c["add"] for c in found.relaxation] == [Fraction(count * size - room, 1000)]
