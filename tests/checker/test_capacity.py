"""Equations (4), (8), (12): capacities of all domains, transient use, power, overfull starts; awkward magnitudes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from allocator.checker import check
from allocator.instance.entities import Instance, Power, Resource, Role
from allocator.model.families import Family, GoalId
from allocator.plan.entities import Plan
from tests.builders import RESOURCES, build, group, model, node, plan, workload


def broken(instance: Instance, found: Plan, *goals: str, ignore: tuple[Family, ...] = ()) -> set[Family]:
    evaluation = check(instance, model(*(goals or ("placed",)), ignore=ignore), found)
    return {violation.family for violation in evaluation.violations}


def test_a_capacity_holds_to_the_unit_at_every_domain() -> None:
    """Two members of 500 on 1000 fit; on 999 they are one millicore over, at node, rack or root alike."""
    for fields in ({}, {"root": {"capacity": {"cpu": 999}}}):
        for at_rack in (1000, 999):
            for at_node in (1000, 999):
                rack = group("rack", "r", node("n", capacity={"cpu": at_node}), capacity={"cpu": at_rack})
                instance = build(rack, workloads=[workload("a", 2, {"cpu": 500})], **dict(fields))
                fits = not fields and at_rack == at_node == 1000
                assert (broken(instance, plan(instance, {"a": ["r/n", "r/n"]})) == set()) == fits


def test_the_excess_is_stated_in_base_units() -> None:
    instance = build(node("n", capacity={"cpu": 999}), workloads=[workload("a", 2, {"cpu": 500})])
    (violation,) = check(instance, model("placed"), plan(instance, {"a": ["n", "n"]})).violations
    assert violation.amount == Fraction(1, 1000)
    assert violation.where == "n"
    assert violation.message == "cpu: 1 core used, the limit is 0.999 cores"


def test_a_resource_nobody_states_is_not_there() -> None:
    """Case 4: 1 millicore and 1 byte on a machine with none of it and 1e14 of something else."""
    instance = build(
        node("other", capacity={"gpu": 10**14}),
        node("right", capacity={"cpu": 1, "memory": 1}),
        workloads=[workload("a", 1, {"cpu": 1, "memory": 1})],
    )
    assert broken(instance, plan(instance, {"a": ["other"]})) == {Family.CAPACITY}
    assert broken(instance, plan(instance, {"a": ["right"]})) == set()
    assert broken(instance, plan(instance, {"a": ["other"]}), ignore=(Family.CAPACITY,)) == set()


def test_resources_of_very_different_size_in_one_run() -> None:
    """Case 1: memory in bytes (1.6e12 a machine), cpu and bit/s together; not one byte beyond."""
    resources = {**RESOURCES, "nic": Resource("nic", Role.BANDWIDTH, "bit/s")}
    for size in (1_600_000_000_000, 1_599_999_999_999):
        instance = build(
            node("n", capacity={"cpu": 20_000, "memory": size, "nic": 10**11}),
            workloads=[workload("a", 20, {"cpu": 1000, "memory": 80_000_000_000, "nic": 5 * 10**9})],
            resources=resources,
        )
        assert (broken(instance, plan(instance, {"a": ["n"] * 20})) == set()) == (size == 1_600_000_000_000)


def test_200_over_in_a_hundred_million_is_over() -> None:
    """Case 3."""
    for asked, fits in ((100_000_000, True), (100_000_200, False)):
        instance = build(node("n", capacity={"memory": 100_000_000}), workloads=[workload("a", 1, {"memory": asked})])
        assert (broken(instance, plan(instance, {"a": ["n"]})) == set()) == fits
        assert broken(instance, plan(instance, {"a": [None]})) == set()


@pytest.mark.parametrize(("each", "count", "capacity"), [(100, 10, 1000), (1, 9, 9), (100, 1, 100), (180, 5, 900)])
def test_sums_that_floats_get_wrong_fit_exactly(each: int, count: int, capacity: int) -> None:
    """Case 7 (0.1 x 10 on 1; 1/9 x 9 on 1 as ninths) and case 8 (0.18 x 5 on an accelerator: 900 of 1000)."""
    instance = build(node("n", capacity={"cpu": capacity}), workloads=[workload("a", count, {"cpu": each})])
    assert broken(instance, plan(instance, {"a": ["n"] * count})) == set()
    less = build(node("n", capacity={"cpu": capacity - 1}), workloads=[workload("a", count, {"cpu": each})])
    assert broken(less, plan(less, {"a": ["n"] * count})) == {Family.CAPACITY}


def test_0_1_and_0_2_on_0_3() -> None:
    """Case 7."""
    instance = build(
        node("n", capacity={"cpu": 300}), workloads=[workload("a", 1, {"cpu": 100}), workload("b", 1, {"cpu": 200})]
    )
    assert broken(instance, plan(instance, {"a": ["n"], "b": ["n"]})) == set()


def test_six_fractions_of_an_accelerator_are_too_many() -> None:
    """Case 8: 80 members of 0.18 on 16 unit accelerators, at most 5 each."""
    instance = build(
        *(node(f"g{i}", capacity={"cpu": 1000}) for i in range(16)), workloads=[workload("a", 80, {"cpu": 180})]
    )
    even = [f"g{i // 5}" for i in range(80)]
    assert broken(instance, plan(instance, {"a": even})) == set()
    assert broken(instance, plan(instance, {"a": [*even[:5], "g0", *even[6:]]})) == {Family.CAPACITY}


def test_nothing_asked_and_nothing_there() -> None:
    """Case 20: a member that asks for nothing, a node with 0 of a resource, a node with nothing at all."""
    instance = build(
        node("zero", capacity={"cpu": 0}),
        node("bare"),
        workloads=[workload("free", 2, {}), workload("asks", 1, {"cpu": 1})],
    )
    evaluation = check(instance, model("peak", "nodes"), plan(instance, {"free": ["zero", "bare"], "asks": [None]}))
    assert {violation.family for violation in evaluation.violations} == {Family.ASSIGNMENT}
    assert evaluation.goals == {GoalId.PEAK: 0, GoalId.NODES: 2}
    assert [use.utilization for use in evaluation.uses] == [None]
    assert broken(instance, plan(instance, {"free": ["zero", "bare"], "asks": ["zero"]})) == {Family.CAPACITY}
    assert broken(instance, plan(instance, {"free": ["zero", "bare"], "asks": ["bare"]})) == {Family.CAPACITY}


def overfull() -> Instance:
    """Case 19: three members of 500 run on a node of 1000; a fourth runs elsewhere, a fifth nowhere."""
    return build(
        node("full", capacity={"cpu": 1000}),
        node("free", capacity={"cpu": 3000}),
        workloads=[workload("a", 5, {"cpu": 500})],
        current={"a": ["full", "full", "full", "free", None]},
    )


@pytest.mark.parametrize(
    ("where", "fine"),
    [
        (["full", "full", "full", "free", "free"], True),
        (["full", "full", "free", "free", "free"], True),
        (["full", "full", "full", "free", "full"], False),
        (["full", "full", "free", "full", "free"], False),
        (["full", "free", "free", "free", "full"], False),
    ],
)
def test_an_overfull_start_may_stay_or_shrink_but_nobody_enters(where: list[str], fine: bool) -> None:
    """Even where use stays at or below what it was, a member that was not there may not enter."""
    instance = overfull()
    evaluation = check(instance, model("placed"), plan(instance, {"a": where}))
    assert evaluation.feasible == fine
    assert len(evaluation.warnings) == 1
    assert "full: the current placement uses 1.5 cores of cpu, its capacity is 1 core:" in evaluation.warnings[0]


def test_a_move_below_an_overfull_domain_is_no_entry() -> None:
    """The rack is overfull (1500 of 1000); moving a member from one of its nodes to another is fine."""
    instance = build(
        group("rack", "r", node("x"), node("y"), capacity={"cpu": 1000}),
        workloads=[workload("a", 3, {"cpu": 500})],
        current={"a": ["r/x", "r/x", "r/x"]},
    )
    assert broken(instance, plan(instance, {"a": ["r/x", "r/x", "r/y"]})) == set()


def test_transient_use_counts_old_floors_of_members_that_leave() -> None:
    """Swapping two members of 60 between disks of 100 holds 120 on each during the change; cpu swaps freely."""
    instance = build(
        node("x", capacity={"disk": 100, "cpu": 100}),
        node("y", capacity={"disk": 100, "cpu": 100}),
        workloads=[workload("a", 2, {"disk": 60, "cpu": 60})],
        current={"a": ["x", "y"]},
    )
    swap = plan(instance, {"a": ["y", "x"]})
    assert broken(instance, swap) == {Family.TRANSIENT}
    assert broken(instance, swap, ignore=(Family.TRANSIENT,)) == set()
    assert broken(instance, plan(instance, {"a": ["x", "y"]})) == set()


def test_transient_use_of_the_evicted_counts_and_adds_upwards() -> None:
    """The evicted member's 60 stay on x; the new one's 40 fill rack and node to exactly 100, 41 do not fit."""
    for new, fits in ((40, True), (41, False)):
        instance = build(
            group("rack", "r", node("x", capacity={"disk": 100}), node("y"), capacity={"disk": 100}),
            workloads=[workload("old", 1, {"disk": 60}), workload("new", 1, {"disk": new})],
            current={"old": ["r/x"]},
        )
        found = plan(instance, {"old": [None], "new": ["r/x"]})
        assert broken(instance, found) == (set() if fits else {Family.TRANSIENT})


def test_goals_use_the_final_state_alone() -> None:
    """Overload of disk (weight 2) with safety 50: the new 40 alone stay below, whatever is held during the change."""
    instance = build(
        node("x", capacity={"disk": 100}, safety={"disk": 50}),
        workloads=[workload("old", 1, {"disk": 60}), workload("new", 1, {"disk": 40})],
        current={"old": ["x"]},
    )
    evaluation = check(instance, model("placed", "overload"), plan(instance, {"old": [None], "new": ["x"]}))
    assert evaluation.goals[GoalId.OVERLOAD] == 0


def powered(cap: int) -> Instance:
    """Two nodes of 1 core, 100 W idle and 300 W busy, one member of half a core and 7 W of its own."""
    watts = Power(Fraction(100), Fraction(300))
    nodes = [node(name, capacity={"cpu": 1000}, power=watts) for name in ("x", "y")]
    member = workload("a", 2, {"cpu": 500, "power": 7})
    return build(group("rack", "r", *nodes, capacity={"power": cap}), workloads=[member])


@pytest.mark.parametrize(
    ("where", "watts"), [(["r/x", None], 207), (["r/x", "r/x"], 314), (["r/x", "r/y"], 414), ([None, None], 0)]
)
def test_power_is_idle_plus_busy_by_use_plus_own_shares(where: list[str], watts: int) -> None:
    """One member: 100 + 200/2 + 7 = 207 W; both on x: 300 + 14; on two nodes: 2 x 200 + 14."""
    for cap in (watts, watts - 1):
        instance = powered(max(cap, 0))
        fits = watts in (cap, 0)
        assert (broken(instance, plan(instance, {"a": where})) == set()) == fits
    uses = check(powered(500), model("placed"), plan(powered(500), {"a": where})).uses
    assert next(use.used for use in uses if use.resource == "power") == watts


def test_a_node_without_compute_draws_its_idle_power() -> None:
    instance = build(
        node("x", power=Power(Fraction(50), Fraction(90)), capacity={"cpu": 0}), workloads=[workload("a", 1, {})]
    )
    assert check(instance, model("power"), plan(instance, {"a": ["x"]})).levels == (50,)
