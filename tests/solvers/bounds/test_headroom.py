"""Headroom: a bound on further copies, never below what truly fits."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from allocator.compiled.compile import compile_instance
from allocator.solvers.base import Assignment
from allocator.solvers.bounds.headroom import headroom
from allocator.solvers.bounds.room import aggregates, room, usable_nodes
from tests.builders import build, group, model, node, workload


def placed(instance, goals=("cost",)):
    """Everybody on the first node that may hold a member of the class."""
    compiled = compile_instance(instance, model(*goals))
    counts = {}
    for block in compiled.blocks:
        option = compiled.options_of(block.workload)[0]
        spot = int(compiled.eligible[option].argmax())
        counts[block.index, option, spot] = block.count
    return compiled, Assignment(counts)


def test_the_scarcest_resource_decides() -> None:
    a = workload("a", 2, {"cpu": 1000, "memory": 10})
    instance = build(node("n", capacity={"cpu": 10_000, "memory": 65}), workloads=[a])
    found = headroom(*placed(instance))
    assert found is not None
    assert (found.copies, found.kind, found.resource) == (Fraction(2), "bound", "memory")


def test_a_class_confined_to_few_nodes_decides_alone() -> None:
    a = workload("a", 1, {"cpu": 1000}, require={"zone": ("x",)})
    b = workload("b", 1, {"cpu": 1000})
    small = node("small", capacity={"cpu": 3000}, labels={"zone": "x"})
    instance = build(small, node("big", capacity={"cpu": 90_000}), workloads=[a, b])
    found = headroom(*placed(instance))
    assert found is not None
    assert found.copies == 2


def test_a_rack_limits_what_its_nodes_could_hold() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 8000}) for i in range(4)]
    instance = build(group("rack", "r", *nodes, capacity={"cpu": 5000}), workloads=[workload("a", 1, {"cpu": 1000})])
    found = headroom(*placed(instance))
    assert found is not None
    assert found.copies == 4


def test_a_pool_is_room_once() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 64_000, "memory": 4}) for i in range(2)]
    instance = build(group("rack", "r", *nodes, pool={"memory": 6}), workloads=[workload("a", 1, {"memory": 2})])
    compiled, _ = placed(instance)
    memory = compiled.resources.index("memory")
    assert room(compiled, memory, usable_nodes(compiled, 0)) == 14


def test_nothing_of_a_resource_that_nobody_states() -> None:
    instance = build(node("n", capacity={"cpu": 1000}), workloads=[workload("a", 1, {"cpu": 1000})])
    compiled, _ = placed(instance)
    assert room(compiled, compiled.resources.index("gpu"), usable_nodes(compiled, 0)) == 0


def test_missing_without_limits_or_members() -> None:
    free = build(node("n", capacity={"cpu": 1000}), workloads=[workload("a", 3)])
    assert headroom(*placed(free)) is None
    compiled, _ = placed(free)
    assert headroom(compiled, Assignment({})) is None
    assert list(aggregates(compiled, [3])) == []


@pytest.mark.parametrize("seed", range(30))
def test_never_below_the_copies_that_are_packed_by_hand(seed: int) -> None:
    """As many whole copies as first fit packs into the nodes are at most what the bound allows."""
    rng = random.Random(seed)
    sizes = [(rng.randint(1, 4), rng.randint(1, 9)) for _ in range(rng.randint(1, 3))]
    counts = [rng.randint(1, 2) for _ in sizes]
    caps = [(rng.randint(6, 20), rng.randint(10, 40)) for _ in range(rng.randint(2, 4))]
    nodes = [node(f"n{i}", capacity={"cpu": c, "memory": m}) for i, (c, m) in enumerate(caps)]
    classes = [
        workload(f"w{i}", n, {"cpu": c, "memory": m}) for i, (n, (c, m)) in enumerate(zip(counts, sizes, strict=True))
    ]
    free = [list(cap) for cap in caps]
    copies = 0

    def pack() -> bool:
        for count, (cpu, memory) in zip(counts, sizes, strict=True):
            for _ in range(count):
                spot = next((left for left in free if left[0] >= cpu and left[1] >= memory), None)
                if spot is None:
                    return False
                spot[0] -= cpu
                spot[1] -= memory
        return True

    while pack():
        copies += 1
    found = headroom(*placed(build(*nodes, workloads=classes)))
    assert found is not None
    assert found.copies >= copies - 1
