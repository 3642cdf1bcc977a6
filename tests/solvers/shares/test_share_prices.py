"""The price of a binding resource or link is what one more unit of it is worth: the optimum solved again says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Flow, Instance, Power, Uplink
from allocator.model.entities import Model
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.shares.optimum import optimal_shares
from tests.builders import build, group, model, node, workload

F = Fraction
Counts = Mapping[tuple[int, int, int], int]


def optimum(instance: Instance, goals: Model, counts: Counts) -> tuple[float, Mapping[tuple[int, str], float]]:
    """Value of the first level and the prices."""
    compiled = compile_instance(instance, goals)
    found = optimal_shares(compiled, counts)
    assert found is not None
    return float(level_values(compiled, found.assignment)[0]), found.prices


def changed(instance: Instance, path: str, **fields: object) -> Instance:
    """The instance with other fields of one domain."""
    index = instance.domain_by_path[path].index
    domains = list(instance.domains)
    domains[index] = replace(domains[index], **fields)  # type: ignore[arg-type]
    return replace(instance, domains=tuple(domains))


def more(instance: Instance, path: str, resource: str, amount: int) -> Instance:
    """The instance with more of a stated capacity or pool."""
    domain = instance.domain_by_path[path]
    if resource in domain.pool:
        return changed(instance, path, pool={**domain.pool, resource: domain.pool[resource] + amount})
    return changed(instance, path, capacity={**domain.capacity, resource: domain.capacity[resource] + amount})


def cores(**fields: int) -> Instance:
    """Work that could use 5 cores on a node of 3, in a rack that states what ``fields`` says."""
    classes = [
        workload("heavy", 2, {"cpu": 100}, rate=1, weight=2, compute={"cpu": F(1, 2)}),
        workload("light", 4, {"cpu": 200}, rate=1, compute={"cpu": 1}),
    ]
    return build(group("rack", "r", node("n", capacity={"cpu": 3000}), capacity=dict(fields)), workloads=classes)


EVERYBODY: Counts = {(0, 0, 0): 2, (1, 1, 0): 4}


@pytest.mark.parametrize(("path", "fields"), [("r/n", {}), ("r", {"cpu": 2500})])
def test_the_price_of_a_core_where_it_binds(path: str, fields: dict[str, int]) -> None:
    """A core more is one light task more, whether the node or the rack binds; the other of them is worth nothing."""
    instance = cores(**fields)
    value, prices = optimum(instance, model("throughput"), EVERYBODY)
    after, _ = optimum(more(instance, path, "cpu", 100), model("throughput"), EVERYBODY)
    price = prices[instance.domain_by_path[path].index, "cpu"]
    assert after - value == pytest.approx(0.1)
    assert price * 0.1 == pytest.approx(after - value, rel=1e-6)
    assert sum(prices.values()) == pytest.approx(price)


def test_a_resource_that_does_not_bind_has_the_price_nothing() -> None:
    instance = more(cores(), "r/n", "cpu", 10_000)
    _, prices = optimum(instance, model("throughput"), EVERYBODY)
    assert prices[instance.domain_by_path["r/n"].index, "cpu"] == 0


def test_the_price_of_memory_is_per_byte() -> None:
    """A task holds 1e9 bytes for 2 s: a byte is worth 5e-10 tasks/s."""
    classes = [workload("a", 3, {"memory": 1000}, rate=5, residence=2, memory={"memory": 10**9})]
    instance = build(node("n", capacity={"memory": 16 * 10**9}), workloads=classes)
    value, prices = optimum(instance, model("throughput"), {(0, 0, 0): 3})
    after, _ = optimum(more(instance, "n", "memory", 10**9), model("throughput"), {(0, 0, 0): 3})
    assert prices[1, "memory"] * 10**9 == pytest.approx(after - value, rel=1e-6)
    assert prices[1, "memory"] == pytest.approx(5e-10)


def test_the_price_of_a_pool() -> None:
    classes = [workload("a", 2, {"memory": 1}, rate=5, residence=1, memory={"memory": 2})]
    tree = group("super", "s", node("n", capacity={"memory": 4}), node("m"), pool={"memory": 6})
    instance = build(tree, workloads=classes)
    counts = {(0, 0, 0): 1, (0, 0, 1): 1}
    value, prices = optimum(instance, model("throughput"), counts)
    after, _ = optimum(more(instance, "s", "memory", 1), model("throughput"), counts)
    assert after - value == pytest.approx(0.5)
    assert prices[instance.domain_by_path["s"].index, "memory"] == pytest.approx(after - value)


def test_the_price_of_a_watt() -> None:
    """100 W at 10 cores: a watt is a tenth of a core, hence a tenth of a task a second."""
    classes = [workload("a", 5, {"cpu": 100}, rate=1, compute={"cpu": 1})]
    tree = group("rack", "r", node("n", capacity={"cpu": 10_000}, power=Power(F(20), F(120))), capacity={"power": 50})
    instance = build(tree, workloads=classes)
    value, prices = optimum(instance, model("throughput"), {(0, 0, 0): 5})
    after, _ = optimum(more(instance, "r", "power", 1), model("throughput"), {(0, 0, 0): 5})
    assert after - value == pytest.approx(0.1)
    assert prices[instance.domain_by_path["r"].index, "power"] == pytest.approx(after - value)


def linked(bandwidth: int) -> Instance:
    """Two members send 8 bit/s each to one of the other rack and back, over the uplink of the first rack."""
    racks = [
        group("rack", f"r{i}", node("n", capacity={"cpu": 9000}), uplink=Uplink(F(bandwidth) if i == 0 else None))
        for i in range(2)
    ]
    classes = [workload("out", 1, rate=3), workload("back", 1, rate=5), workload("sink", 1)]
    pairs = (("out", "sink"), ("sink", "back"))
    flows = tuple(Flow(source, target, "pairs", pairs=((0, 0, F(8)),)) for source, target in pairs)
    return build(*racks, workloads=classes, flows=flows)


def test_the_price_of_a_link_counts_both_its_directions() -> None:
    """One more bit/s of bandwidth is one more each way: 3/8 of a task of one class and 5/8 of the other's."""
    counts = {(0, 0, 0): 1, (1, 1, 0): 1, (2, 2, 1): 1}
    instance = linked(4)
    value, prices = optimum(instance, model("throughput"), counts)
    after, _ = optimum(linked(5), model("throughput"), counts)
    assert after - value == pytest.approx(1.0)
    assert prices[instance.domain_by_path["r0"].index, "bandwidth"] == pytest.approx(after - value)


def test_prices_are_those_of_the_first_level_in_its_own_value() -> None:
    """Of levels throughput, fairness the price is tasks/s a core; of fairness alone, its share a core."""
    instance = cores()
    both = optimum(instance, model("throughput", "fairness"), EVERYBODY)[1]
    first = optimum(instance, model("throughput"), EVERYBODY)[1]
    fair_value, fair = optimum(instance, model("fairness"), EVERYBODY)
    after, _ = optimum(more(instance, "r/n", "cpu", 100), model("fairness"), EVERYBODY)
    domain = instance.domain_by_path["r/n"].index
    assert both[domain, "cpu"] == pytest.approx(first[domain, "cpu"])
    assert fair[domain, "cpu"] == pytest.approx((after - fair_value) / 0.1, rel=1e-4)
    assert fair[domain, "cpu"] != pytest.approx(first[domain, "cpu"])
