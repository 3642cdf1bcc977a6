"""Effective limits of capacity, pool and power: as stated, as overfull starts raise them, as a model ignores them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.instance.entities import Instance, Power
from allocator.model.families import Family
from tests.builders import build, group, model, node, workload

NONE = -1


def at(compiled: Compiled, path: str, resource: str, array: str = "limit") -> int:
    """Entry of an array [D, R]."""
    domain = compiled.instance.domain_by_path[path].index
    return int(getattr(compiled, array)[domain, compiled.resources.index(resource)])


def test_arrays_follow_the_tree_in_preorder_and_are_read_only() -> None:
    instance = build(
        group("rack", "r0", node("a", kind="x"), node("b", kind="y")),
        group("rack", "r1", node("c", kind="x")),
    )
    compiled = compile_instance(instance, model("cost"))
    assert compiled.parent.tolist() == [-1, 0, 1, 1, 0, 4]
    assert compiled.first_node.tolist() == [0, 0, 0, 1, 2, 2]
    assert compiled.end_node.tolist() == [3, 2, 1, 2, 3, 3]
    assert compiled.end_domain.tolist() == [6, 4, 3, 4, 6, 6]
    assert compiled.node_domain.tolist() == [2, 3, 5]
    assert [compiled.kinds[k] for k in compiled.node_kind] == ["x", "y", "x"]
    arrays = [value for value in vars(compiled).values() if isinstance(value, np.ndarray)]
    assert len(arrays) > 10
    assert not any(array.flags.writeable for array in arrays)


def test_capacities_at_any_domain_are_limits_and_the_rest_is_unlimited() -> None:
    instance = build(group("rack", "r", node("n", capacity={"cpu": 8}), capacity={"memory": 0}))
    compiled = compile_instance(instance, model("cost"))
    assert at(compiled, "r/n", "cpu") == 8
    assert at(compiled, "r", "memory") == 0, "a stated 0 is a limit"
    assert at(compiled, "r", "cpu") == at(compiled, "r/n", "memory") == at(compiled, "", "cpu") == NONE


def overfull_instance(limit: int) -> Instance:
    """Two members of 4 run on a node of a rack that holds less than 8."""
    nodes = (node("n", capacity={"cpu": 10}), node("m", capacity={"cpu": 10}))
    rack = group("rack", "r", *nodes, capacity={"cpu": limit})
    return build(
        rack, node("o", capacity={"cpu": 10}), workloads=[workload("a", 2, {"cpu": 4})], current={"a": ["r/n", "r/n"]}
    )


@pytest.mark.parametrize(("stated", "effective", "closed"), [(9, 9, False), (8, 8, False), (7, 8, True), (0, 8, True)])
def test_an_overfull_start_raises_the_limit_to_the_use_and_closes_the_domain(
    stated: int, effective: int, closed: bool
) -> None:
    compiled = compile_instance(overfull_instance(stated), model("cost"))
    assert at(compiled, "r", "cpu") == effective
    assert at(compiled, "r", "cpu", "capacity") == stated, "the stated capacity is kept for goals"
    rack = compiled.instance.domain_by_path["r"].index
    assert compiled.overfull[rack] == closed
    assert compiled.overfull.sum() == closed


def test_under_a_pool_the_node_has_no_limit_of_its_own_and_other_resources_keep_theirs() -> None:
    nodes = (node("n", capacity={"memory": 4, "cpu": 2}), node("m", capacity={"cpu": 2}))
    instance = build(group("super", "s", *nodes, pool={"memory": 10}, capacity={"memory": 12}))
    compiled = compile_instance(instance, model("cost"))
    assert at(compiled, "s/n", "memory") == NONE
    assert at(compiled, "s/n", "cpu") == 2
    assert at(compiled, "s", "memory") == 12, "domains above the nodes still count the whole use"
    assert at(compiled, "s", "memory", "pool_limit") == 10
    without = compile_instance(instance, model("cost", ignore=[Family.POOL]))
    assert at(without, "s/n", "memory") == 4
    assert (without.pool_limit == NONE).all()


@pytest.mark.parametrize(("size", "effective", "closed"), [(2, 2, False), (1, 2, True)])
def test_an_overdrawn_pool_is_raised_to_what_is_drawn_above_the_nodes_own(
    size: int, effective: int, closed: bool
) -> None:
    instance = build(
        group(
            "super", "s", node("n", capacity={"memory": 6}), node("m", capacity={"memory": 9}), pool={"memory": size}
        ),
        workloads=[workload("a", 2, {"memory": 4})],
        current={"a": ["s/n", "s/n"]},
    )
    compiled = compile_instance(instance, model("cost"))
    assert at(compiled, "s", "memory", "pool_limit") == effective
    assert compiled.overfull[compiled.instance.domain_by_path["s"].index] == closed


def test_a_power_cap_is_in_watts_and_rises_to_the_present_draw_of_nodes_and_members() -> None:
    """Idle 10 plus half of (30 - 10) plus 3 W of the member's own: 23 W now."""
    power = Power(Fraction(10), Fraction(30))
    for stated, effective in ((24, 24), (23, 23), (22, 23)):
        instance = build(
            group("rack", "r", node("n", capacity={"cpu": 8}, power=power), node("m"), capacity={"power": stated}),
            workloads=[workload("a", 1, {"cpu": 4, "power": 3})],
            current={"a": ["r/n"]},
        )
        compiled = compile_instance(instance, model("cost"))
        rack = instance.domain_by_path["r"].index
        assert compiled.power_limit[rack] == effective
        assert compiled.overfull[rack] == (stated < effective)
        assert [limit for index, limit in enumerate(compiled.power_limit) if index != rack] == [None, None, None]


def test_a_model_that_ignores_capacity_has_no_limits_and_no_closed_domain() -> None:
    compiled = compile_instance(overfull_instance(0), model("cost", ignore=[Family.CAPACITY]))
    assert (compiled.limit == NONE).all()
    assert not compiled.overfull.any()
    assert compiled.eligible.all()


def test_the_resource_that_drives_the_draw_is_the_first_compute_resource_with_a_capacity() -> None:
    nodes = (node("n", capacity={"cpu": 0, "memory": 1}), node("m", capacity={"cpu": 1}), node("o"))
    compiled = compile_instance(build(*nodes), model("power"))
    assert compiled.compute_resource.tolist() == [-1, compiled.resources.index("cpu"), -1]


def test_a_missing_ceiling_is_the_nearest_capacity_with_the_pool_and_never_below_the_floor() -> None:
    instance = build(
        group(
            "super",
            "s",
            node("own", capacity={"memory": 4}),
            node("bare"),
            pool={"memory": 10},
            capacity={"cpu": 7},
        ),
        workloads=[
            workload("open", 1, {"memory": 1, "cpu": 1}),
            workload("tight", 1, {"memory": 6}, limits={"memory": 6}),
            workload("huge", 1, {"memory": 50}),
        ],
    )
    compiled = compile_instance(instance, model("throughput"))
    memory, cpu = compiled.resources.index("memory"), compiled.resources.index("cpu")
    assert compiled.ceiling_of(0, 0, memory) == 14
    assert compiled.ceiling_of(0, 1, memory) == 10
    assert compiled.ceiling_of(0, 0, cpu) == 7
    assert compiled.ceiling_of(1, 0, memory) == 6
    assert compiled.ceiling_of(2, 0, memory) == 50


def test_shares_above_floors_pay_only_with_a_rate_goal_and_work_on_the_resource() -> None:
    instance = build(node("n"), workloads=[workload("a", 1, compute={"cpu": 1}), workload("b")])
    with_rates, without = (compile_instance(instance, model(goal)) for goal in ("throughput", "cost"))
    cpu, memory = with_rates.resources.index("cpu"), with_rates.resources.index("memory")
    assert with_rates.uses_shares(0, cpu)
    assert not with_rates.uses_shares(0, memory)
    assert not with_rates.uses_shares(1, cpu)
    assert not without.uses_shares(0, cpu)


def test_costs_are_by_path_then_kind_then_default_then_nothing() -> None:
    nodes = (node("n"), node("m"), node("o", kind="other"))
    costs = {"n": Fraction(1), "k": Fraction(2), "default": Fraction(3)}
    instance = build(
        *nodes, workloads=[workload("a", cost=costs), workload("b", cost={"k": Fraction(5)}), workload("c")]
    )
    compiled = compile_instance(instance, model("cost"))
    assert compiled.cost is not None
    assert compiled.cost.tolist() == [[1, 2, 3], [5, 5, 0], [0, 0, 0]]
    assert compile_instance(build(*nodes, workloads=[workload("a")]), model("cost")).cost is None
