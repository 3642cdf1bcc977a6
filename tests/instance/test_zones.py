"""Zones of a level: its domains, or the nodes with one value of a label."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.errors import InputError
from allocator.instance import Instance, instance_from_dict


def document(level: str, **placement: Any) -> dict[str, Any]:
    def node(name: str, **more: Any) -> dict[str, Any]:
        return {"level": "node", "name": name, "capacity": {"cpu": 1}, **more}

    return {
        "format": "allocator/v1",
        "topology": [
            {"level": "rack", "name": "r0", "labels": {"feed": "x"},
             "children": [node("a", kind="big"), node("b", labels={"feed": "y"})]},
            {"level": "rack", "name": "r1", "children": [node("c", labels={"feed": "x"}), node("d")]},
            {"level": "rack", "name": "empty", "children": []},
        ],
        "workloads": [
            {"class": "c", "requests": {"cpu": 1},
             "placement": {"conflict": {"level": level, "at_most": 1}, **placement}}
        ],
    }  # fmt: skip


def zones(instance: Instance, level: str) -> dict[str, list[int]]:
    return {zone.name: list(zone.nodes) for zone in instance.zones_of(level)}


def test_zones_are_domains_or_values_of_a_label_inherited_ones_too() -> None:
    instance = instance_from_dict(document("label:feed"))
    assert zones(instance, "rack") == {"r0": [0, 1], "r1": [2, 3]}
    assert zones(instance, "node") == {"r0/a": [0], "r0/b": [1], "r1/c": [2], "r1/d": [3]}
    assert zones(instance, "label:feed") == {"label:feed=x": [0, 2], "label:feed=y": [1]}
    assert zones(instance, "label:kind") == {"label:kind=big": [0], "label:kind=node": [1, 2, 3]}
    assert zones(instance, "label:none") == {}


def test_a_level_of_the_tree_goes_before_a_label() -> None:
    stated = document("label:feed")
    for rack in stated["topology"]:
        rack["level"] = "label:feed"
    assert zones(instance_from_dict(stated), "label:feed") == {"r0": [0, 1], "r1": [2, 3]}


@pytest.mark.parametrize("level", ["label:fed", "label:", "Label:feed"])
def test_a_label_that_no_domain_has_is_refused(level: str) -> None:
    with pytest.raises(InputError, match=r"workloads\[0\]\.placement\.conflict\.level"):
        instance_from_dict(document(level))


def test_a_gang_stands_in_a_domain_not_under_a_label() -> None:
    with pytest.raises(InputError, match=r"gang\.level"):
        instance_from_dict(document("label:feed", gang={"size": 1, "level": "label:feed"}))
