"""What `set` reaches in a profile, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.catalog.entries import ILLUSTRATIVE, show
from allocator.catalog.profiles import expand


def test_a_level_reaches_all_its_domains() -> None:
    rack = expand("cpu-rack-384-mixed", {"sled.count": "8", "node.capacity.cpu": "24"})
    assert [sled["count"] for sled in rack["children"]] == ["8", "8"]
    assert {sled["children"][0]["capacity"]["cpu"] for sled in rack["children"]} == {"24"}


def test_a_name_wins_over_a_kind_and_that_over_a_level_in_any_order() -> None:
    wanted = {"cpu.capacity.cpu": "1", "ampereone.capacity.cpu": "2", "node.capacity.cpu": "3"}
    for overrides in (wanted, dict(reversed(wanted.items()))):
        rack = expand("cpu-rack-384-mixed", overrides)
        assert {sled["children"][0]["capacity"]["cpu"] for sled in rack["children"]} == {"1"}
    del wanted["cpu.capacity.cpu"]
    x86, arm = expand("cpu-rack-384-mixed", wanted)["children"]
    assert (x86["children"][0]["capacity"]["cpu"], arm["children"][0]["capacity"]["cpu"]) == ("3", "2")


def test_another_kind_brings_its_numbers() -> None:
    supernode = expand("supernode-16", {"node.profile": "h200-sxm"})
    node = supernode["children"][0]
    assert node["kind"] == "h200-sxm"
    assert node["capacity"] == expand("h200-sxm", {})["capacity"]
    assert node["count"] == "16"
    assert expand("h100-sxm", {"node.profile": "h200-sxm"})["capacity"] == node["capacity"]


def test_bandwidth_stands_instead_of_oversubscription_and_the_other_way_round() -> None:
    assert expand("cpu-rack-16", {"rack.uplink.bandwidth": "1 Tbit/s"})["uplink"] == {"bandwidth": "1 Tbit/s"}
    assert expand("nvl72", {"supernode.uplink.oversubscription": "9"})["uplink"] == {"oversubscription": "9"}


def test_sources_stay_behind() -> None:
    assert ILLUSTRATIVE not in str(expand("cpu-rack-384", {}))


def test_an_expansion_changes_no_entry() -> None:
    before = str(show("cpu-rack-16"))
    found = expand("cpu-rack-16", {"node.capacity.cpu": "1", "sled.uplink.bandwidth": "2"})
    found["capacity"]["power"] = "0"
    found["children"][0]["children"][0]["capacity"]["cpu"] = "0"
    assert str(show("cpu-rack-16")) == before


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"pod.count": "1"}, "no level, kind or name pod"),
        ({"sled": "1"}, "cannot be set"),
        ({"": "1"}, "cannot be set"),
        ({"sled.": "1"}, "cannot be set"),
        ({"sled.capacity": "1"}, "cannot be set"),
        ({"sled.color": "1"}, "cannot be set"),
        ({"sled.count.more": "1"}, "cannot be set"),
        ({"node.capacity.cpu": {"value": "1"}}, "single value"),
        ({"node.profile": "nope"}, "not in the catalog"),
        ({"node.profile": "cpu-rack-16"}, "refer to each other"),
    ],
)
def test_refused_overrides(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expand("cpu-rack-16", overrides)


def test_unknown_profiles() -> None:
    with pytest.raises(KeyError, match="did you mean cpu-rack-16"):
        expand("cpu-rack-1", {})
