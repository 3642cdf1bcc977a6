"""Catalog profiles stand in for a part of the topology; an entry's own keys stand over them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import allocator.catalog
from tests.instance.documents import instance, words_of


@pytest.fixture(autouse=True)
def profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog of one rack, so that these tests depend on no product's data."""

    def expand(name: str, overrides: dict[str, Any]) -> dict[str, Any]:
        if name != "small-rack":
            raise KeyError(f"there is no profile {name}")
        for key in overrides:
            if key != "node.count":
                raise KeyError(f"the profile {name} has nothing at {key}")
        node = {"level": "node", "name": "n", "count": int(overrides.get("node.count", 2)), "capacity": {"cpu": 4}}
        return {"level": "rack", "name": "r", "capacity": {"power": "10 kW"}, "labels": {"a": "b"}, "children": [node]}

    module = ModuleType("allocator.catalog.profiles")
    module.expand = expand  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "allocator.catalog.profiles", module)
    monkeypatch.setattr(allocator.catalog, "profiles", module, raising=False)


def test_a_profile_is_expanded_and_overridden() -> None:
    """The entry's own keys replace the profile's, maps of amounts and labels key by key; set reaches inside."""
    found = instance(
        topology=[
            {"profile": "small-rack"},
            {
                "profile": "small-rack",
                "name": "s",
                "set": {"node.count": 3},
                "capacity": {"memory": 5},
                "labels": {"c": "d"},
            },
        ]
    )
    assert [node.path for node in found.nodes] == ["r/n0", "r/n1", "s/n0", "s/n1", "s/n2"]
    second = found.domain_by_path["s"]
    assert dict(second.capacity) == {"power": 10_000, "memory": 5}
    assert dict(second.labels) == {"a": "b", "c": "d"}


def test_a_profile_inside_the_tree() -> None:
    """Profiles stand wherever a domain does."""
    site = {"level": "site", "name": "x", "count": 2, "children": [{"profile": "small-rack"}]}
    assert len(instance(topology=[site]).nodes) == 4


def test_unknown_profiles_and_overrides() -> None:
    """What the catalog does not know is refused by its place."""
    words = words_of(
        topology=[
            {"profile": "nope"},
            {"level": "site", "name": "x", "children": [{"profile": "small-rack", "set": {"y": 1}}]},
        ]
    )
    assert "topology[0].profile = nope: there is no profile nope" in words
    assert "topology[1].children[0].profile = small-rack: the profile small-rack has nothing at y" in words
