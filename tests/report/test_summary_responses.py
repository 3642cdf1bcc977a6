"""Response times in the summary: of classes against their targets, and end to end over teams."""

from __future__ import annotations

import math
from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.plan.document import result_document
from allocator.plan.result import Result
from allocator.report.summary import summarize
from tests.builders import model


def instance(slo: dict[str, Any]) -> Instance:
    nodes = [{"level": "node", "name": f"n{i}", "capacity": {"cpu": 8}} for i in range(2)]
    work = {"rate": "1/s", "cpu": "200 ms", "parallel": 1}
    classes: list[dict[str, Any]] = [
        {"class": "fast", "count": 4, "requests": {"cpu": 1}, "work": work, "slo": slo},
        {"class": "plain", "count": 2, "requests": {"cpu": 1}},
    ]
    teams = [{"team": "chat", "count": 2, "members": {"fast": 2, "plain": 1}, "traffic": {"rate": "1 Mbit/s"}}]
    topology = [{"level": "rack", "name": "r", "children": nodes}]
    whole = {"format": "allocator/v1", "name": "i", "topology": topology, "workloads": classes, "teams": teams}
    return instance_from_dict(whole)


def text(slo: dict[str, Any], goal: str) -> str:
    asked = instance(slo)
    return summarize(solve(asked, model("placed", goal), method="milp", threads=1), asked)


def row(summary: str, section: str, first: str) -> list[str]:
    lines = summary[summary.index(f"\n{section}\n") :].splitlines()
    return next(line.split() for line in lines if line.split()[:1] == [first])


def test_classes_show_their_slowest_member_against_the_target() -> None:
    """At 1 core: ln(100) / (1 / 0.2 - 1) = 1.151 s."""
    summary = text({"p99": "2 s"}, "cost")
    assert row(summary, "Classes", "fast")[-4:] == ["1.15", "s", "2", "s"]
    assert row(summary, "Classes", "plain")[-2:] == ["-", "-"]


def test_teams_show_their_members_one_after_the_other_and_all_at_once() -> None:
    """Two stages of mean 0.25 s: 2 * 0.25 * ln(200) = 2.649 s, and 1.325 s."""
    summary = text({"critical": True}, "p99")
    assert row(summary, "End to end", "chat") == ["chat", "2", "2.65", "s", "1.32", "s"]


@pytest.mark.parametrize("section", ["End to end", "P99"])
def test_nothing_is_said_where_nobody_has_a_response_time(section: str) -> None:
    assert section not in text({}, "cost")


def apart(rate: str) -> tuple[Instance, Result]:
    """Two critical members on a node each, messages of 1 kB over links of 10 Mbit/s."""
    work = {"rate": "1/s", "cpu": "200 ms", "parallel": 1}
    node = {"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 1}, "uplink": {"bandwidth": "10 Mbit/s"}}
    team = {"team": "chat", "members": {"c": 2}, "traffic": {"rate": rate, "message": "1 kB"}}
    asked = instance_from_dict(
        {
            "format": "allocator/v1",
            "name": "apart",
            "topology": [node],
            "workloads": [{"class": "c", "count": 2, "requests": {"cpu": 1}, "work": work, "slo": {"critical": True}}],
            "teams": [team],
        }
    )
    return asked, solve(asked, model("p99"), method="milp", threads=1)


def test_messages_show_what_they_take_at_the_load_of_the_links() -> None:
    """8,000 bits over 8 Mbit/s: 4.605 ms a crossing. End to end: 6 exponential times, 4 of them crossings."""
    asked, result = apart("2 Mbit/s")
    summary = summarize(result, asked)
    assert row(summary, "Messages on links", "n0") == ["n0", "down", "20", "%", "1,000", "B", "4.61", "ms"]
    assert "Messages between them are counted" in summary
    longer = math.log(600)
    assert row(summary, "End to end", "chat")[2] == f"{2 * longer * (0.25 + 2 * 0.001):.2f}"
    assert "P99 does not count the delay of messages" in summary
    entries = result_document(result, asked)["messages"]
    assert {(e["domain"], e["direction"]) for e in entries} == {(n, d) for n in ("n0", "n1") for d in ("up", "down")}
    assert all((e["bytes"], e["bounded"], e["offered"]) == (1000, True, 2_000_000) for e in entries)
    assert all(e["p99"] == pytest.approx(8000 * math.log(100) / 8e6) for e in entries)


def test_a_link_offered_more_than_99_percent_has_no_number() -> None:
    asked, result = apart("9.95 Mbit/s")
    summary = summarize(result, asked)
    assert row(summary, "Messages on links", "n0")[-2:] == ["no", "bound"]
    assert row(summary, "End to end", "chat") == ["chat", "2", "no", "bound", "no", "bound"]
    assert "No bound on 4 of 4 link directions" in summary
    assert all(not e["bounded"] and e["p99"] is None for e in result_document(result, asked)["messages"])
