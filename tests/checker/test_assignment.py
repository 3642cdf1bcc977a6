"""Equation (1) on the checker's side: every member stands in one place or is unplaced; malformed plans are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allocator.checker import check
from allocator.checker.goals import GOALS
from allocator.model.families import Family
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup
from tests.builders import build, model, node, plan, team, workload

INSTANCE = build(
    node("n0", capacity={"cpu": 1000}),
    node("n1", capacity={"cpu": 1000}),
    workloads=[workload("a", 3, {"cpu": 100}), workload("b", 2, {"cpu": 100})],
    teams=(team("t", 1, {"a": 2, "b": 1}, 10),),
)
WHOLE = plan(INSTANCE, {"a": ["n0", "n1", "n0"], "b": ["n1", "n1"]})
GROUP = PlacedGroup("a", 0, 1, "default", ("n0",), {"cpu": 100})


def families(found: Plan, *goals: str) -> set[Family]:
    return {violation.family for violation in check(INSTANCE, model(*(goals or ("placed",))), found).violations}


def test_a_whole_plan_holds() -> None:
    """All five members stand somewhere, with or without the goal ``placed``."""
    assert families(WHOLE) == set()
    assert families(WHOLE, "nodes") == set()


def test_members_outside_of_teams_may_stay_out_only_with_the_goal_placed() -> None:
    """Member a/2 is in no team; leaving it out is fine under ``placed`` and a violation without."""
    left = plan(INSTANCE, {"a": ["n0", "n1", None], "b": ["n1", "n1"]})
    assert families(left, "placed") == set()
    assert families(left, "nodes") == {Family.ASSIGNMENT}


def test_a_team_is_placed_whole_or_not_at_all() -> None:
    """Team t/0 is a/0, a/1, b/0: none of them is fine, two of them are not."""
    none = plan(INSTANCE, {"a": [None, None, "n0"], "b": [None, "n1"]})
    torn = plan(INSTANCE, {"a": ["n0", None, "n0"], "b": ["n1", "n1"]})
    assert families(none) == set()
    assert families(torn) == {Family.ASSIGNMENT}


MALFORMED: dict[str, Plan] = {
    "unknown class": replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, workload="ghost"))),
    "unknown class unplaced": replace(WHOLE, unplaced=(UnplacedGroup("ghost", 0, 1, ""),)),
    "unknown node": replace(WHOLE, placements=(*WHOLE.placements[1:], replace(GROUP, nodes=("n9",)))),
    "inner domain as a node": replace(WHOLE, placements=(*WHOLE.placements[1:], replace(GROUP, nodes=("",)))),
    "unknown mode": replace(WHOLE, placements=(*WHOLE.placements[1:], replace(GROUP, mode="fast"))),
    "no nodes": replace(WHOLE, placements=(*WHOLE.placements[1:], replace(GROUP, nodes=()))),
    "two nodes for one member": replace(WHOLE, placements=(*WHOLE.placements[1:], replace(GROUP, nodes=("n0", "n1")))),
    "placed twice": replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, nodes=("n1",)))),
    "placed and unplaced": replace(WHOLE, unplaced=(UnplacedGroup("a", 2, 1, ""),)),
    "unplaced twice": replace(
        plan(INSTANCE, {"a": ["n0", "n1", None], "b": ["n1", "n1"]}),
        unplaced=(UnplacedGroup("a", 2, 1, ""), UnplacedGroup("a", 2, 1, "")),
    ),
    "missing": replace(WHOLE, placements=(*WHOLE.placements[:2], *WHOLE.placements[3:])),
    "number too high": replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, first=3))),
    "number below 0": replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, first=-1))),
    "range beyond the end": replace(WHOLE, placements=(*WHOLE.placements[:-1], replace(WHOLE.placements[-1], count=9))),
    "endless range": replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, first=2, count=10**18))),
    "count 0": replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, count=0))),
    "count below 0": replace(WHOLE, unplaced=(UnplacedGroup("a", 0, -5, ""),)),
}


@pytest.mark.parametrize("name", sorted(MALFORMED))
def test_malformed_placements_violate_assignment(name: str) -> None:
    assert Family.ASSIGNMENT in families(MALFORMED[name])


def test_an_ignored_family_does_not_excuse_a_malformed_plan() -> None:
    broken = check(INSTANCE, model("placed", ignore=list(Family)), MALFORMED["placed twice"]).violations
    assert {violation.family for violation in broken} == {Family.ASSIGNMENT}


WRONG: list[Any] = ["1", 1.5, None, True, Fraction(1, 2)]


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_numbers_of_the_wrong_type_are_violations_and_not_tracebacks(value: Any) -> None:
    """Counts, first numbers and shares must be integers; grants exact numbers."""
    assert families(replace(WHOLE, placements=(*WHOLE.placements, replace(GROUP, first=value)))) == {Family.ASSIGNMENT}
    assert Family.ASSIGNMENT in families(replace(WHOLE, unplaced=(UnplacedGroup("a", 0, value, ""),)))
    shares = replace(WHOLE.placements[0], shares={"cpu": value})
    assert families(replace(WHOLE, placements=(shares, *WHOLE.placements[1:]))) == {Family.SHARES}
    if not isinstance(value, (bool, Fraction)):
        assert families(replace(WHOLE, flows=(FlowGrant("t/0", "t/0", value),))) == {Family.FABRIC}


def test_messages_name_member_and_class() -> None:
    broken = check(INSTANCE, model("placed"), MALFORMED["placed twice"]).violations
    assert [(violation.where, violation.message) for violation in broken] == [
        ("a", "1 members are placed twice, the first is 0")
    ]


ODD_NAMES = st.sampled_from(["a", "b", "ghost", ""])
ODD_NODES = st.lists(st.sampled_from(["n0", "n1", "", "n9"]), max_size=4).map(tuple)
ODD_NUMBERS = st.integers(-2, 4) | st.sampled_from([10**18, -(10**18)])
ODD_SHARES = st.dictionaries(st.sampled_from(["cpu", "memory", "ghost"]), ODD_NUMBERS, max_size=2)
ODD_ENDS = st.sampled_from(["t/0", "t/1", "a", "a/0", ""])
ODD_PLANS = st.builds(
    Plan,
    st.just("test"),
    st.just("d1"),
    st.lists(
        st.builds(PlacedGroup, ODD_NAMES, ODD_NUMBERS, ODD_NUMBERS, st.just("default"), ODD_NODES, ODD_SHARES),
        max_size=5,
    ).map(tuple),
    st.lists(st.builds(FlowGrant, ODD_ENDS, ODD_ENDS, st.fractions(-1, 2, max_denominator=4)), max_size=3).map(tuple),
    st.lists(st.builds(UnplacedGroup, ODD_NAMES, ODD_NUMBERS, ODD_NUMBERS, st.just("")), max_size=3).map(tuple),
)


@given(ODD_PLANS)
@settings(max_examples=300, deadline=None)
def test_any_plan_gets_a_verdict(odd: Plan) -> None:
    """Whatever a plan holds: no traceback, and it is feasible only if every member is accounted for exactly once."""
    goals = [goal.value for goal in GOALS]
    evaluation = check(INSTANCE, model(*goals), odd)
    assert set(evaluation.goals) == set(GOALS)
    if evaluation.feasible:
        groups = (*odd.placements, *odd.unplaced)
        named = [(group.workload, group.first + i) for group in groups for i in range(group.count)]
        assert sorted(named) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]
