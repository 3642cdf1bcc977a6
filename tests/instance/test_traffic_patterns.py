"""Teams and flows: which members exchange how much."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from allocator.instance.entities import Flow
from tests.instance.documents import instance, words_of

CLASSES = [{"class": "a", "count": 3, "work": {"rate": "2/s"}}, {"class": "b", "count": 3}, {"class": "one"}]


def flows(entry: dict[str, Any]) -> tuple[Flow, ...]:
    return instance(workloads=CLASSES, flows=[entry]).flows


@pytest.mark.parametrize(
    ("entry", "pairs"),
    [
        ({"from": "a", "to": "b", "pattern": "pair"}, [(0, 0), (1, 1), (2, 2)]),
        ({"from": "a", "to": "a", "pattern": "ring"}, [(0, 1), (1, 2), (2, 0)]),
        ({"from": "a", "to": "a", "pattern": "chain"}, [(0, 1), (1, 2)]),
        ({"from": "a", "to": "a", "pattern": "star"}, [(0, 1), (1, 0), (0, 2), (2, 0)]),
        ({"from": "one", "to": "one", "pattern": "ring"}, []),
        ({"from": "a", "to": "a", "pattern": "chain", "reverse": True}, [(1, 0), (2, 1)]),
        ({"from": "a", "to": "a", "pattern": "chain", "length": 2}, [(0, 1)]),
        ({"from": "a", "to": "a", "pattern": "ring", "length": 2}, [(0, 1), (1, 0)]),
        ({"from": "a", "to": "a", "pattern": "chain", "length": 9, "reverse": True}, [(1, 0), (2, 1)]),
    ],
)
def test_patterns_become_pairs(entry: dict[str, Any], pairs: list[tuple[int, int]]) -> None:
    """A pair joins equal numbers, a ring closes, a chain does not, a star goes both ways from member 0."""
    (flow,) = flows({**entry, "rate": 8})
    assert (flow.pattern, flow.source, flow.target) == ("pairs", entry["from"], entry["to"])
    assert list(flow.pairs) == [(i, j, 8) for i, j in pairs]


def test_a_star_between_classes_has_a_way_back() -> None:
    """The hub is member 0 of from; each member of to answers it."""
    there, back = flows({"from": "a", "to": "b", "pattern": "star", "rate": 8})
    assert (there.source, there.target, there.pairs) == ("a", "b", ((0, 0, 8), (0, 1, 8), (0, 2, 8)))
    assert (back.source, back.target, back.pairs) == ("b", "a", ((0, 0, 8), (1, 0, 8), (2, 0, 8)))


@pytest.mark.parametrize("pattern", ["spread", "broadcast"])
def test_group_patterns_keep_their_rate(pattern: str) -> None:
    """Both spread and broadcast stay one entry between two classes."""
    (flow,) = flows({"from": "a", "to": "b", "pattern": pattern, "rate": "50 kbit/s"})
    assert (flow.pattern, flow.rate, flow.pairs) == (pattern, 50_000, ())


def test_bytes_of_a_task_times_tasks() -> None:
    """per_task is the source's bytes per task: 1 MB at 2 tasks/s are 16 Mbit/s."""
    (flow,) = flows({"from": "a", "to": "b", "pattern": "spread", "per_task": "1 MB"})
    assert flow.rate == 16_000_000


def test_a_table_lists_pairs() -> None:
    """Rows name members and their rate; without one the entry's rate holds."""
    (flow,) = flows({"from": "a", "to": "b", "pattern": "table", "rate": 5, "table": [[0, 2, "1 kbit/s"], [2, 0]]})
    assert flow.pairs == ((0, 2, Fraction(1000)), (2, 0, Fraction(5)))


def test_teams_take_the_next_members() -> None:
    """Later entries take members after those that earlier entries took."""
    found = instance(
        workloads=[{"class": "a", "count": 10}, {"class": "b", "count": 4}],
        teams=[
            {
                "team": "t",
                "count": 2,
                "members": {"a": 2, "b": 1},
                "traffic": {"pattern": "all-to-all", "rate": "2 Mbit/s"},
            },
            {"team": "u", "members": {"a": 6}, "traffic": {"rate": 1}},
        ],
    )
    first, second = found.teams
    assert (first.count, first.size, first.rate, dict(first.offsets)) == (2, 3, 2_000_000, {"a": 0, "b": 0})
    assert (second.count, dict(second.offsets)) == (1, {"a": 4})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"to": "b", "pattern": "spread"}, "flows[0].rate: must be stated"),
        ({"to": "b", "pattern": "spread", "rate": 1, "per_task": 1}, "state one of the two"),
        ({"from": "b", "to": "a", "pattern": "spread", "per_task": 1}, "needs the work.rate of class b"),
        ({"to": "b", "pattern": "ring", "rate": 1}, "flows[0].to = b: must be the class of from"),
        (
            {"to": "b", "pattern": "spread", "rate": 1, "length": 2},
            "flows[0].length: belongs to the patterns",
        ),
        (
            {"to": "b", "pattern": "spread", "rate": 1, "reverse": True},
            "flows[0].reverse: belongs to the",
        ),
        ({"to": "a", "pattern": "pair", "rate": 1}, "must be another class"),
        ({"to": "one", "pattern": "pair", "rate": 1}, "pairs need as many of each"),
        ({"to": "zz", "pattern": "pair", "rate": 1}, "flows[0].to = zz: there is no such class"),
        ({"to": "b", "pattern": "mesh", "rate": 1}, "must be one of"),
        ({"to": "b", "pattern": "table"}, "must be stated for the pattern table"),
        ({"to": "b", "pattern": "pair", "rate": 1, "table": []}, "belongs to the pattern table"),
        ({"to": "b", "pattern": "table", "table": "pairs"}, "table = pairs: there is no such table"),
        ({"to": "b", "pattern": "table", "table": [[0, 3, 1]]}, "table[0] = 0, 3, 1: members are numbered"),
        ({"to": "b", "pattern": "table", "table": [[0, 1]]}, "must be [member of from"),
        ({"to": "b", "pattern": "table", "table": [[0, 0.5, 1]]}, "whole number"),
        ({"to": "b", "pattern": "table", "table": [[0, 1, -1]]}, "at least 0"),
        ({"to": "a", "pattern": "table", "table": [[1, 1, 1]]}, "cannot send to itself"),
    ],
)
def test_flows_that_cannot_be(entry: dict[str, Any], expected: str) -> None:
    """A flow that its pattern or its classes do not allow is refused by its place."""
    assert expected in words_of(workloads=CLASSES, flows=[{"from": "a", **entry}])


def test_teams_that_cannot_be() -> None:
    """Members beyond the class are counted over all teams; teams of nobody and of gangs are refused."""
    team = {"team": "t", "count": 2, "members": {"a": 1}, "traffic": {"rate": 1}}
    more = {**team, "team": "u", "members": {"a": 1}}
    words = words_of(workloads=CLASSES, teams=[team, more])
    assert words == "teams[1].members.a = 1: takes 4 members in all, and the class has 3 (team u)"
    assert "must be at least 0" in words_of(teams=[{**team, "members": {"a": -1}}]) or "more than 0" in words_of(
        teams=[{**team, "members": {"a": -1}}]
    )
    assert "at least one class" in words_of(teams=[{**team, "members": {}}])


def test_gangs_have_no_traffic_of_their_own() -> None:
    """Gang members can neither join teams nor have flows member by member."""
    gang = [{"class": "a", "count": 2, "placement": {"gang": {"size": 2, "level": "node"}}}]
    team = {"team": "t", "members": {"a": 2}, "traffic": {"rate": 1}}
    flow = {"from": "a", "to": "a", "pattern": "ring", "rate": 1}
    words = words_of(workloads=gang, teams=[team], flows=[flow, {**flow, "pattern": "spread"}])
    assert "teams[0].members.a: is a class of gangs" in words
    assert "flows[0].from = a: is a class of gangs" in words
    assert "flows[1]" not in words


def test_too_many_pairs_are_refused_at_once() -> None:
    """A ring of a thousand million members is refused before it is written out."""
    ring = {"from": "a", "to": "a", "pattern": "ring", "rate": 1}
    assert "pairs of members" in words_of(workloads=[{"class": "a", "count": 10**9}], flows=[ring])
