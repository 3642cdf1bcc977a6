"""Response times in the summary: of classes against their targets, and end to end over teams."""

from __future__ import annotations

from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
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
