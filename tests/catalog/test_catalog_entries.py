"""Every entry can stand in an instance, and every number in it says where it is from."""

from __future__ import annotations

import pytest

from allocator.catalog import GROUPS, ILLUSTRATIVE, list_entries, show
from allocator.instance import Instance, instance_from_dict

NAMES = [entry.name for entry in list_entries()]


def instance_of(name: str, **changes: object) -> Instance:
    """An instance with one catalog entry and nothing to place."""
    topology = [{"profile": name, **changes}]
    return instance_from_dict({"format": "allocator/v1", "name": "x", "topology": topology, "workloads": []})


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_stands_in_an_instance(name: str) -> None:
    instance = instance_of(name)
    assert instance.nodes
    kinds = {node.kind for node in instance.nodes}
    assert kinds <= set(NAMES)
    for node in instance.nodes:
        assert all(amount > 0 for amount in node.capacity.values())
        assert node.uplink is not None
        assert node.uplink.bandwidth
        assert node.power is not None
        assert 0 < node.power.idle < node.power.busy


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_a_source(name: str) -> None:
    numbers = show(name).numbers()
    assert numbers
    for number in numbers:
        assert number.value[0].isdigit(), number
        assert number.source.strip(), number


def test_published_hardware_has_published_numbers() -> None:
    """Cores and watts of sockets and memory of accelerators are not made up, but for what says so in its line."""
    for entry in list_entries():
        sources = {number.path: number.source for number in entry.numbers()}
        if entry.group == "cpu":
            assert sources["node.capacity.cpu"] != ILLUSTRATIVE
            assert sources["node.power.busy"] != ILLUSTRATIVE or "power was not found" in entry.about
        if entry.group == "accelerator" and entry.name != "accelerator":
            assert sources["node.capacity.hbm"] != ILLUSTRATIVE


def test_groups_are_listed_in_their_order() -> None:
    groups = [entry.group for entry in list_entries()]
    assert groups == sorted(groups, key=GROUPS.index)
    assert set(groups) == set(GROUPS)


def test_sizes_are_those_in_the_names() -> None:
    for name, nodes in {"cpu-rack-384": 384, "cpu-rack-384-mixed": 384, "cpu-rack-16": 16, "nvl72": 72}.items():
        assert len(instance_of(name).nodes) == nodes
    for name, nodes in {"supernode-16": 16, "supernode-64": 64, "cloudmatrix-384": 384}.items():
        assert len(instance_of(name).nodes) == nodes


def test_half_of_the_mixed_rack_is_arm() -> None:
    arch = [node.labels["arch"] for node in instance_of("cpu-rack-384-mixed").nodes]
    assert arch.count("arm64") == arch.count("x86_64") == 192


def test_the_largest_rack_fits_its_own_uplink() -> None:
    """400 Gbit/s from each of 384 CPUs, over 4."""
    rack = instance_of("cpu-rack-384").domain_by_path["rack"]
    assert rack.uplink is not None
    assert rack.uplink.bandwidth == 384 * 400 * 10**9 // 4


def test_unknown_names_are_answered_with_known_ones() -> None:
    with pytest.raises(KeyError, match="did you mean epyc-9965"):
        show("epyc-9956")
    with pytest.raises(KeyError, match="supernode-16"):
        show("zzz")
