"""Equation (6) and goals (16), (17): tasks per second by offer, compute, memory in flight and granted traffic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from allocator.checker import check
from allocator.instance.entities import Demand, Flow, Instance, Mode, Work
from allocator.model.families import Family, GoalId
from tests.builders import build, model, node, plan, team, workload

F = Fraction


def one(**fields: Any) -> Instance:
    """One member that is offered 4 tasks/s."""
    return build(node("n", capacity={"cpu": 10_000, "memory": 1000}), workloads=[workload("a", 1, rate=4, **fields)])


def rate(instance: Instance, shares: dict[str, int] | None = None, ignore: tuple[Family, ...] = ()) -> Fraction | None:
    found = plan(instance, {"a": ["n"]}, shares={("a", 0): shares or {}})
    evaluation = check(instance, model("throughput", ignore=ignore), found)
    assert evaluation.classes[0].rate == evaluation.goals[GoalId.THROUGHPUT]
    return evaluation.classes[0].rate


@pytest.mark.parametrize(("cpu", "value"), [(0, 0), (100, F(1, 2)), (799, F(799, 200)), (800, 4), (900, 4)])
def test_compute_limits_the_rate(cpu: int, value: Fraction) -> None:
    """0.2 core-seconds a task: x / 0.2, at most the 4 offered."""
    assert rate(one(compute={"cpu": F(1, 5)}), {"cpu": cpu}) == value


def test_share_beyond_parallel_does_not_speed_up() -> None:
    """1/2 core-second a task; 3 cores, of which 1 (the default) or 3/2 can be used."""
    assert rate(one(compute={"cpu": F(1, 2)}), {"cpu": 3000}) == 2
    assert rate(one(compute={"cpu": F(1, 2)}, parallel=F(3, 2)), {"cpu": 3000}) == 3


def test_memory_in_flight_limits_the_rate() -> None:
    """50 bytes for 2 s a task: 300 bytes hold 3 tasks/s."""
    assert rate(one(memory={"memory": 50}, residence=2), {"memory": 300}) == 3
    assert rate(one(memory={"memory": 50}, residence=2), {"memory": 500}) == 4


def test_the_scarcest_resource_decides() -> None:
    instance = one(compute={"cpu": F(1, 5)}, memory={"memory": 50}, residence=2)
    assert rate(instance, {"cpu": 500, "memory": 300}) == F(5, 2)
    assert rate(instance, {"cpu": 700, "memory": 300}) == 3


def test_ignored_rates_leave_the_offer() -> None:
    assert rate(one(compute={"cpu": F(1, 5)}), {"cpu": 0}, ignore=(Family.RATES,)) == 4


def test_work_depends_on_mode_and_kind() -> None:
    """Mode fast takes 1/10 core-second, on kind arm 1/5; 100 millicores complete 1 and 1/2 tasks/s."""
    demand = [Demand({"cpu": 100}, {}, Work({"cpu": F(1, tenths)})) for tenths in (10, 5)]
    instance = build(
        node("x", kind="amd", capacity={"cpu": 1000}),
        node("y", kind="arm", capacity={"cpu": 1000}),
        workloads=[workload("a", 2, modes=[Mode("fast", demand[0], {"arm": demand[1]})], rate=4)],
    )
    assert check(instance, model("throughput"), plan(instance, {"a": ["x", "y"]})).levels == (F(3, 2),)


def test_unplaced_members_complete_nothing_and_weights_count() -> None:
    """a: 1 of 2 placed at 3/s with weight 5; b: no work, no rate."""
    instance = build(node("n"), workloads=[workload("a", 2, rate=3, weight=5), workload("b", 1)])
    evaluation = check(
        instance, model("placed", "throughput", "fairness"), plan(instance, {"a": ["n", None], "b": ["n"]})
    )
    assert evaluation.levels == (2, 15, F(1, 2))
    assert [(outcome.rate, outcome.offered) for outcome in evaluation.classes] == [(3, 6), (None, None)]


def test_fairness_is_the_smallest_fraction_and_1_without_offers() -> None:
    """Class a completes 3 of 6, b 2 of 8."""
    instance = build(node("n"), workloads=[workload("a", 2, rate=3), workload("b", 4, rate=2)])
    found = plan(instance, {"a": ["n", None], "b": ["n", None, None, None]})
    assert check(instance, model("placed", "fairness"), found).goals[GoalId.FAIRNESS] == F(1, 4)
    idle = build(node("n"), workloads=[workload("a", 1)])
    assert check(idle, model("fairness"), plan(idle, {"a": ["n"]})).levels == (1,)


def rates_with_grants(instance: Instance, grants: dict[Any, Any], ignore: tuple[Family, ...] = ()) -> list[Any]:
    where: dict[str, list[str | None]] = {"a": ["n", "n", "n"], "b": ["n"]}
    found = plan(instance, where, grants=grants)
    return [outcome.rate for outcome in check(instance, model("throughput", ignore=ignore), found).classes]


def talking(**traffic: Any) -> Instance:
    return build(node("n"), workloads=[workload("a", 3, rate=6), workload("b", 1, rate=6)], **traffic)


def test_a_teams_grant_binds_its_members_alone() -> None:
    """Team t/0 is a/0, a/1, b/0, granted 1/2: 3 + 3 + 6 for a, 3 for b. No grant is nothing."""
    instance = talking(teams=(team("t", 1, {"a": 2, "b": 1}, 10),))
    assert rates_with_grants(instance, {"t/0": "1/2"}) == [12, 3]
    assert rates_with_grants(instance, {}) == [6, 0]
    assert rates_with_grants(instance, {}, ignore=(Family.FABRIC,)) == [18, 6]


def test_a_pairs_grant_binds_both_ends_and_the_smallest_counts() -> None:
    """a/0 > b/0 at 1/2, b/0 > a/1 at 1/3: a has 3 + 2 + 6, b the smaller 2."""
    instance = talking(
        flows=(Flow("a", "b", "pairs", pairs=((0, 0, F(1)),)), Flow("b", "a", "pairs", pairs=((0, 1, F(1)),)))
    )
    assert rates_with_grants(instance, {("a/0", "b/0"): "1/2", ("b/0", "a/1"): "1/3"}) == [11, 2]


@pytest.mark.parametrize("pattern", ["spread", "broadcast"])
def test_an_entrys_grant_binds_both_classes(pattern: Any) -> None:
    instance = talking(flows=(Flow("a", "b", pattern, F(4)),))
    assert rates_with_grants(instance, {("a", "b"): "1/3"}) == [6, 2]


def test_flows_of_rate_0_and_flows_to_oneself_bind_nobody() -> None:
    """One member of b spreads to the other members of b: there are none."""
    instance = talking(teams=(team("t", 1, {"a": 2}, 0),), flows=(Flow("b", "b", "spread", F(4)),))
    assert rates_with_grants(instance, {}) == [18, 6]


def test_a_flow_binds_though_its_other_end_is_unplaced() -> None:
    instance = talking(flows=(Flow("a", "b", "pairs", pairs=((0, 0, F(1)),)),))
    for grants, value in (({}, 0), ({("a/0", "b/0"): 1}, 6)):
        found = plan(instance, {"a": ["n", None, None], "b": [None]}, grants=grants)  # type: ignore[arg-type]
        assert check(instance, model("placed", "throughput"), found).goals[GoalId.THROUGHPUT] == value
