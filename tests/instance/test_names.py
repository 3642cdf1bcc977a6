"""Names are strings, whatever they look like; duplicates are named twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from allocator.instance import load_instance
from tests.instance.documents import base, instance, words_of

NAMES = [
    "agent-1", "agent 1", "agent/1", "agent_1", "agent~1", "agent~01", "b", "free", "inf", "e9", "nan",
    "1", "1.0", "01",
    "no", "1e9", "12:30", "0x1F", "null", "~", "true", " ", "a.b", "[0]", "Ж", "机器", "🤖",
    "e\u0301", "é", "x" * 253, "root",
]  # fmt: skip


def document() -> dict[str, Any]:
    return base(
        topology=[{"level": "node", "name": name} for name in NAMES],
        workloads=[{"class": name, "placement": {"require": {"name": name}}} for name in NAMES],
    )


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_all_names_are_distinct_and_kept(tmp_path: Path, suffix: str) -> None:
    """Names that look alike, like numbers, like keywords, or come in any script are kept as they are."""
    path = tmp_path / f"names.{suffix}"
    path.write_text(json.dumps(document(), ensure_ascii=suffix == "json"), encoding="utf-8")
    found = load_instance(path)
    assert [workload.name for workload in found.workloads] == NAMES
    paths = [node.path for node in found.nodes]
    assert len(set(paths)) == len(NAMES)
    assert [part.replace("~1", "/").replace("~0", "~") for part in paths] == NAMES


def test_unquoted_yaml_names_stay_strings(tmp_path: Path) -> None:
    """no, 1e9, 12:30 and 0x1F need no quotes."""
    path = tmp_path / "names.yaml"
    path.write_text("format: allocator/v1\nworkloads: [{class: no}, {class: 1e9}, {class: 12:30}, {class: 0x1F}]\n")
    assert [workload.name for workload in load_instance(path).workloads] == ["no", "1e9", "12:30", "0x1F"]


def test_a_slash_in_a_name_is_no_level() -> None:
    """The node a/b is not the node b below a."""
    found = instance(
        topology=[
            {"level": "node", "name": "a/b"},
            {"level": "rack", "name": "a", "children": [{"level": "node", "name": "b"}]},
        ]
    )
    assert [node.path for node in found.nodes] == ["a~1b", "a/b"]


def test_two_classes_of_one_name() -> None:
    """Both places are named."""
    words = words_of(workloads=[{"class": "a"}, {"class": "b"}, {"class": "a"}])
    assert words == "workloads[2].class = a: has the name of workloads[0] (class a) (class a)"


def test_two_teams_of_one_name() -> None:
    """Both places are named."""
    team = {"team": "t", "members": {"a": 1}, "traffic": {"rate": 1}}
    assert "teams[1].team = t: has the name of teams[0]" in words_of(teams=[team, team])


def test_one_node_twice() -> None:
    """Both places are named, also when one name comes from a count, and only among siblings."""
    node = {"level": "node", "name": "n"}
    assert "topology[1].name = n: has the name of topology[0] (domain n)" in words_of(topology=[node, node])
    counted = {"level": "node", "name": "n", "count": 3}
    single = {"level": "node", "name": "n2"}
    assert "topology[1].name = n2: has the name of topology[0]" in words_of(topology=[counted, single])
    inside = {"level": "rack", "name": "r", "children": [node, counted, node]}
    assert "topology[0].children[2].name = n" in words_of(topology=[inside])
    assert len(instance(topology=[{**inside, "name": name, "children": [node]} for name in "rs"]).nodes) == 2
