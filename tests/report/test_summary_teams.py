"""The summary says which teams stand together and how far the others reach."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.instance import instance_from_dict
from allocator.report.summary import summarize, teams
from allocator.solve import solve


def document(**changes: Any) -> dict[str, Any]:
    """Two racks of two nodes with room for two each; one team of three and two teams of one."""
    node = {"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 2}}
    return {
        "format": "allocator/v1",
        "name": "t",
        "topology": [{"level": "rack", "name": "r", "count": 2, "children": [node]}],
        "workloads": [{"class": "a", "count": 5, "requests": {"cpu": 1}}],
        "teams": [
            {"team": "trio", "members": {"a": 3}, "traffic": {"rate": 1}},
            {"team": "single", "count": 2, "members": {"a": 1}, "traffic": {"rate": 1}},
        ],
        **changes,
    }


def rows(**changes: Any) -> list[tuple[str, ...]]:
    instance = instance_from_dict(document(**changes))
    section = teams.section(solve(instance, "place-close"), instance)
    assert section is not None
    assert section.sheet is not None
    return list(section.sheet.rows)


def test_a_split_team_and_teams_on_one_node() -> None:
    assert rows() == [
        ("trio", "1", "1", "0", "2 nodes, 1 rack"),
        ("single", "2", "2", "2", "1 node, 1 rack"),
    ]


def test_a_team_left_out_covers_nothing() -> None:
    """A team is placed whole or not at all."""
    big = [{"team": "big", "members": {"a": 9}, "traffic": {"rate": 1}}]
    assert rows(workloads=[{"class": "a", "count": 9, "requests": {"cpu": 1}}], teams=big) == [
        ("big", "0", "1", "0", "-")
    ]


@pytest.mark.parametrize("without", [{"teams": []}])
def test_no_section_without_teams(without: dict[str, Any]) -> None:
    instance = instance_from_dict(document(**without))
    result = solve(instance, "place-close")
    assert teams.section(result, instance) is None
    assert "Teams" not in summarize(result, instance)
