"""Generated instances are valid, of the size and load asked for, feasible, and the same for the same seed."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from allocator.checker import check
from allocator.errors import ArgumentError
from allocator.generate import FAMILIES, generate
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model import load_model
from tests.generate.packing import pack

NAMES = sorted(FAMILIES)


def made(family: str, **arguments: Any) -> Instance:
    return instance_from_dict(generate(family, **arguments))


def loads(instance: Instance) -> dict[str, float]:
    """Floors over capacity by resource, all nodes together; capacity at racks where nodes have none."""
    use: dict[str, int] = {}
    space: dict[str, int] = {}
    for workload in instance.workloads:
        for resource, amount in workload.modes[0].default.requests.items():
            use[resource] = use.get(resource, 0) + amount * workload.count
    for resource in use:
        at_nodes = sum(node.capacity.get(resource, 0) for node in instance.nodes)
        space[resource] = at_nodes or sum(d.capacity.get(resource, 0) for d in instance.domains_of("rack"))
    return {resource: use[resource] / space[resource] for resource in use}


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("agents", [100, 399, 2000, 40_000])
def test_has_as_many_members_as_asked_for(family: str, agents: int) -> None:
    assert made(family, agents=agents).num_members == agents


@pytest.mark.parametrize("family", ["claims", "twin"])
@pytest.mark.parametrize("load", [0.5, 0.85, 0.97, 1.3])
def test_the_load_is_that_of_the_scarcest_resource(family: str, load: float) -> None:
    found = loads(made(family, agents=1000, load=load, seed=3))
    assert max(found, key=lambda name: found[name]) == "cpu"
    assert found["cpu"] == pytest.approx(load, rel=2e-3)
    assert found["cpu"] <= load


@pytest.mark.parametrize("load", [0.85, 0.97])
def test_both_halves_of_mixed_are_full_to_the_load_when_free_classes_are_divided_alike(load: float) -> None:
    instance = made("mixed", agents=4000, load=load)
    full = {
        arch: sum(node.capacity["cpu"] for node in instance.nodes if node.labels.get("arch") == arch)
        for arch in ("x86_64", "arm64")
    }
    only = {"x86_64": 0, "arm64": 0}
    free = [0, 0]
    for workload in instance.workloads:
        floor = workload.modes[0].default.requests.get("cpu", 0) * workload.count
        require = workload.placement.require.get("arch")
        if require:
            only[require[0]] += floor
        elif floor:
            free[0] += floor
            free[1] += workload.modes[0].demand("ampereone").requests["cpu"] * workload.count
    # the part p on Arm that makes both equally full
    ratio = full["arm64"] / full["x86_64"]
    part = (ratio * (only["x86_64"] + free[0]) - only["arm64"]) / (free[1] + ratio * free[0])
    assert 0 < part < 1
    assert (only["x86_64"] + (1 - part) * free[0]) / full["x86_64"] == pytest.approx(load, rel=2e-3)
    assert (only["arm64"] + part * free[1]) / full["arm64"] == pytest.approx(load, rel=2e-3)


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize(
    ("agents", "load", "seed"), [(100, 0.85, 0), (1000, 0.85, 1), (1000, 0.97, 2), (3000, 0.97, 0)]
)
def test_a_simple_packer_finds_a_plan_that_keeps_every_rule(family: str, agents: int, load: float, seed: int) -> None:
    instance = made(family, agents=agents, load=load, seed=seed)
    evaluation = check(instance, load_model("place"), pack(instance))
    assert [str(violation) for violation in evaluation.violations[:3]] == []


@pytest.mark.parametrize("family", NAMES)
def test_offered_work_needs_less_than_the_floors_and_is_stable(family: str) -> None:
    instance = made(family, agents=2000, seed=4)
    for workload in instance.workloads:
        for demand in (workload.modes[0].default, *workload.modes[0].by_kind.values()):
            for resource, per_task in demand.work.compute.items():
                scale = Fraction(10) ** instance.resources[resource].exponent
                usable = min(demand.requests[resource] * scale, workload.parallel)
                assert workload.rate * per_task * Fraction(101, 100) < usable


@pytest.mark.parametrize("family", NAMES)
def test_some_classes_have_targets_and_are_critical(family: str) -> None:
    workloads = made(family, agents=2000).workloads
    assert any(workload.slo.p99 is not None for workload in workloads)
    assert any(workload.slo.critical for workload in workloads)


@pytest.mark.parametrize("family", NAMES)
def test_the_same_arguments_give_the_same_document_and_another_seed_another(family: str) -> None:
    first, second, other = (json.dumps(generate(family, agents=500, seed=seed)) for seed in (7, 7, 8))
    assert first == second
    assert first != other


@pytest.mark.parametrize("family", NAMES)
def test_a_million_agents_are_a_small_document(family: str) -> None:
    document = generate(family, agents=1_000_000)
    assert len(document["workloads"]) < 100
    assert len(document.get("teams", [])) < 10


def test_racks_grow_with_the_agents() -> None:
    instance = made("claims", agents=200_000)
    assert len(instance.domains_of("rack")) == 5
    assert len(instance.nodes) == 5 * 384
    assert len(instance.domains_of("sled")) == 5 * 96


def test_mixed_is_half_of_each_architecture_beside_a_supernode() -> None:
    instance = made("mixed", agents=40_000)
    kinds = [node.kind for node in instance.nodes]
    assert [kinds.count(kind) for kind in ("epyc-9965", "ampereone", "accelerator")] == [192, 192, 64]
    assert {"power", "cooling"} <= set(instance.domains_of("rack")[0].capacity)
    assert {"power", "cooling"} <= set(instance.domains_of("sled")[0].capacity)
    assert {rule.level for rule in instance.spreads} == {"sled"}
    assert any(flow.target == "large-model" for flow in instance.flows)


def test_stations_of_a_line_talk_to_their_neighbours_and_lines_do_not() -> None:
    document = generate("twin", agents=1000)
    instance = instance_from_dict(document)
    chain = next(flow for flow in document["flows"] if flow["pattern"] == "chain")
    down, up = instance.flows[:2]
    length = chain["length"]
    assert all(j == i + 1 and j % length for i, j, _ in down.pairs)
    assert [(j, i) for i, j, _ in up.pairs] == [(i, j) for i, j, _ in down.pairs]
    missing = {i for i, _, _ in down.pairs} ^ set(range(instance.workload_by_name[chain["from"]].count))
    assert all(b - a == length for a, b in pairwise(sorted(missing)))


def test_a_supplier_feeds_several_lines() -> None:
    document = generate("twin", agents=4000)
    fed: dict[int, int] = {}
    for flow in document["flows"]:
        if flow["from"] == "supplier":
            for supplier, _ in flow["table"]:
                fed[supplier] = fed.get(supplier, 0) + 1
    assert min(fed.values()) >= 1
    assert max(fed.values()) <= 6
    assert sum(fed.values()) / len(fed) > 2


@pytest.mark.parametrize(
    "arguments", [{"agents": 99}, {"agents": 1_000_001}, {"load": 0}, {"load": 4.1}, {"load": float("nan")}]
)
def test_numbers_out_of_range_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="must be"):
        generate("claims", **arguments)


def test_an_unknown_family_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match="claims, twin, mixed"):
        generate("magic")
