"""Equation (7): offered and granted loads per uplink and direction, internal bandwidth, grants."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.checker import check
from allocator.instance.entities import Flow, Goodput, Instance, Uplink
from allocator.model.families import Family, GoalId
from allocator.plan.evaluation import LinkUse
from tests.builders import build, group, model, node, plan, team, workload

F = Fraction


def two_racks(uplink: Uplink | None = None, **fields: object) -> Instance:
    """Racks r and s of two nodes each; five members of a and two of b that ask for nothing."""
    racks = [
        group("rack", name, node("x"), node("y"), uplink=uplink or Uplink(bandwidth=F(1000)), **fields)
        for name in ("r", "s")
    ]
    return build(*racks, workloads=[workload("a", 5), workload("b", 2)])


def links(
    instance: Instance, where: dict[str, list[str | None]], grants: object = None
) -> dict[tuple[str, str], LinkUse]:
    evaluation = check(instance, model("placed"), plan(instance, where, grants=grants))  # type: ignore[arg-type]
    return {(link.domain, link.direction): link for link in evaluation.links}


def broken(instance: Instance, where: dict[str, list[str | None]], grants: object) -> set[Family]:
    evaluation = check(instance, model("placed"), plan(instance, where, grants=grants))  # type: ignore[arg-type]
    return {violation.family for violation in evaluation.violations}


TEAM = replace(two_racks(), teams=(team("t", 1, {"a": 4}, 10),))


def test_a_team_loads_each_way_with_rate_times_a_times_the_rest() -> None:
    """Four members, three in r (two on x, one on y) and one in s: 3 x 1 on r's uplink, 2 x 2 on x, 1 x 3 on y and z."""
    found = links(TEAM, {"a": ["r/x", "r/x", "r/y", "s/x", None], "b": [None] * 2})
    for direction in ("up", "down"):
        loads = {path: link.offered for (path, way), link in found.items() if way == direction}
        assert loads == {"r": 30, "r/x": 40, "r/y": 30, "s": 30, "s/x": 30}


@pytest.mark.parametrize(("bandwidth", "granted", "fits"), [(30, 1, True), (29, 1, False), (15, "1/2", True)])
def test_granted_traffic_fits_the_uplink_exactly(bandwidth: int, granted: object, fits: bool) -> None:
    """The team offers 30 on each rack's uplink; half of it is 15."""
    instance = replace(two_racks(Uplink(bandwidth=F(bandwidth))), teams=(team("t", 1, {"a": 4}, 10),))
    where: dict[str, list[str | None]] = {"a": ["r/x", "r/x", "r/y", "s/x", None], "b": [None] * 2}
    assert broken(instance, where, {"t/0": granted}) == (set() if fits else {Family.FABRIC})
    assert links(instance, where)["r", "up"].proportional == min(30, bandwidth)


def test_pair_flows_are_directed() -> None:
    """A flow of 7 from r/x to s/y goes up at r/x and r, down at s and s/y; its half is granted."""
    instance = replace(two_racks(), flows=(Flow("a", "b", "pairs", pairs=((0, 1, F(7)), (1, 0, F(5)))),))
    where: dict[str, list[str | None]] = {"a": ["r/x", None, None, None, None], "b": ["s/x", "s/y"]}
    found = links(instance, where, {("a/0", "b/1"): "1/2"})
    loaded = {key: (link.offered, link.granted) for key, link in found.items() if link.offered}
    assert loaded == {key: (7, F(7, 2)) for key in (("r/x", "up"), ("r", "up"), ("s", "down"), ("s/y", "down"))}


def test_parallel_pairs_are_one_flow() -> None:
    """7 + 2 from a/0 to b/0, granted by one fraction."""
    instance = replace(
        two_racks(),
        flows=(Flow("a", "b", "pairs", pairs=((0, 0, F(7)),)), Flow("a", "b", "pairs", pairs=((0, 0, F(2)),))),
    )
    where: dict[str, list[str | None]] = {"a": ["r/x", None, None, None, None], "b": ["s/x", None]}
    assert links(instance, where, {("a/0", "b/0"): "1/3"})["r", "up"].granted == 3


def test_spread_divides_by_all_members_of_the_target() -> None:
    """Each of 5 sources sends 8, split over the 2 of b (4 a pair); only b/0 is placed, so half of it arrives."""
    instance = replace(two_racks(), flows=(Flow("a", "b", "spread", F(8)),))
    found = links(instance, {"a": ["r/x", "r/y", "s/x", None, None], "b": ["s/y", None]})
    assert found["r", "up"].offered == 8
    assert found["s", "down"].offered == 8
    assert found["s/y", "down"].offered == 12
    assert ("s/y", "up") not in found or found["s/y", "up"].offered == 0


def test_a_class_that_spreads_to_itself_divides_by_the_others() -> None:
    """Five members send 8, 2 to each other one; 2 in r, 1 in s: 2 x 1 pairs each way."""
    instance = replace(two_racks(), flows=(Flow("a", "a", "spread", F(8)),))
    found = links(instance, {"a": ["r/x", "r/y", "s/x", None, None], "b": [None] * 2})
    assert {found[key].offered for key in (("r", "up"), ("r", "down"), ("s", "up"), ("s", "down"))} == {4}


def test_broadcast_sends_the_rate_to_everybody() -> None:
    """3 each from two sources in r to two targets in s: 4 pairs."""
    instance = replace(two_racks(), flows=(Flow("a", "b", "broadcast", F(3)),))
    found = links(instance, {"a": ["r/x", "r/x", None, None, None], "b": ["s/y", "s/y"]})
    assert found["r", "up"].offered == found["s", "down"].offered == 12
    assert found["r", "down"].offered == 0


@pytest.mark.parametrize(("internal", "fits"), [(20, True), (19, False)])
def test_internal_bandwidth_bounds_what_meets_exactly_there(internal: int, fits: bool) -> None:
    """Pairs whose lowest common domain is r: (x, y) both ways, 10 each. Those on one node and across do not count."""
    instance = replace(two_racks(internal=F(internal)), teams=(team("t", 1, {"a": 4}, 10),))
    where: dict[str, list[str | None]] = {"a": ["r/x", "r/y", "s/x", "s/x", None], "b": [None] * 2}
    assert broken(instance, where, {"t/0": 1}) == (set() if fits else {Family.FABRIC})


def test_members_on_one_node_meet_at_the_node() -> None:
    """Two members on x exchange 10 each way: 20 inside the node, whatever the rack allows."""
    for internal, fits in ((20, True), (19, False)):
        rack = group("rack", "r", node("x", internal=F(internal)), internal=F(0))
        instance = build(rack, workloads=[workload("a", 2)], teams=(team("t", 1, {"a": 2}, 10),))
        assert broken(instance, {"a": ["r/x", "r/x"]}, {"t/0": 1}) == (set() if fits else {Family.FABRIC})


@pytest.mark.parametrize(
    "grants", [{"ghost/0": 1}, {"t/1": 1}, {"t": 1}, {("a", "b"): 1}, {"t/0": "1.01"}, {"t/0": "-0.01"}], ids=str
)
def test_grants_of_unknown_flows_or_outside_0_to_1_are_violations(grants: object) -> None:
    assert broken(TEAM, {"a": ["r/x"] * 4 + [None], "b": [None] * 2}, grants) == {Family.FABRIC}


def test_names_are_escaped() -> None:
    instance = build(node("x"), workloads=[workload("a", 2)], teams=(team("t/~", 1, {"a": 2}, 10),))
    assert broken(instance, {"a": ["x", "x"]}, {"t~1~0/0": 1}) == set()


def test_an_ignored_fabric_is_not_checked() -> None:
    instance = replace(two_racks(Uplink(bandwidth=F(1))), teams=(team("t", 1, {"a": 4}, 10),))
    found = plan(instance, {"a": ["r/x", "r/x", "r/y", "s/x", None], "b": [None] * 2}, grants={"t/0": 1})
    assert not check(instance, model("placed"), found).feasible
    assert check(instance, model("placed", ignore=[Family.FABRIC]), found).feasible


def test_the_knee_curve_decides_exactly() -> None:
    """With p = 2, C = L = 30: G = 30 / sqrt(2) = 21.2132...; granted 21.2132 fits, 21.2133 does not."""
    instance = replace(
        two_racks(Uplink(bandwidth=F(30), goodput=Goodput("knee", F(2)))), teams=(team("t", 1, {"a": 4}, 10),)
    )
    where: dict[str, list[str | None]] = {"a": ["r/x", "r/x", "r/y", "s/x", None], "b": [None] * 2}
    assert broken(instance, where, {"t/0": F("21.2132") / 30}) == set()
    assert broken(instance, where, {"t/0": F("21.2133") / 30}) == {Family.FABRIC}


def test_congestion_by_hand() -> None:
    """C = 30, L = 30 both ways on r and s: psi(1) = 1/3 + 1 + 10 x 7/30 + 70/10 = 32/3; 4 links of 30 x 32/3."""
    racks = [group("rack", name, node("x"), node("y"), uplink=Uplink(bandwidth=F(30))) for name in ("r", "s")]
    instance = build(*racks, workloads=[workload("a", 4)], teams=(team("t", 1, {"a": 4}, 10),))
    found = plan(instance, {"a": ["r/x", "r/x", "r/y", "s/x"]})
    assert check(instance, model("congestion"), found).goals[GoalId.CONGESTION] == 4 * 30 * F(32, 3)
    less = plan(instance, {"a": ["r/x"] * 4})
    assert check(instance, model("congestion"), less).goals[GoalId.CONGESTION] == 0


def test_congestion_beyond_capacity_and_without_any() -> None:
    """L = 33 on C = 30: psi(1.1) = 32/3 + 50; on C = 0 the last slope alone: 5000 L."""
    for bandwidth, value in ((30, 30 * (F(32, 3) + 50)), (0, F(5000 * 33))):
        link = Uplink(bandwidth=F(bandwidth))
        instance = build(
            node("x", uplink=link),
            node("y"),
            workloads=[workload("a", 2)],
            flows=(Flow("a", "a", "pairs", pairs=((0, 1, F(33)),)),),
        )
        evaluation = check(instance, model("congestion"), plan(instance, {"a": ["x", "y"]}))
        assert evaluation.goals[GoalId.CONGESTION] == value


def test_a_link_carries_what_its_curve_says_of_the_whole_offered_load() -> None:
    """Collapse: of 30 offered on 20 it carries 12, however little of it is granted."""
    curve = Goodput("table", points=((F(1), F(1)), (F(3, 2), F(3, 5))))
    instance = replace(two_racks(Uplink(bandwidth=F(20), goodput=curve)), teams=(team("t", 1, {"a": 4}, 10),))
    where: dict[str, list[str | None]] = {"a": ["r/x", "r/x", "r/y", "s/x", None], "b": [None] * 2}
    assert links(instance, where)["r", "up"].carried == 12
    assert broken(instance, where, {"t/0": F(2, 5)}) == set()
    assert broken(instance, where, {"t/0": F(2, 5) + F(1, 10**12)}) == {Family.FABRIC}
