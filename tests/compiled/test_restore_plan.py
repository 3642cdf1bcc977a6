"""From counts to numbered members and back: nothing is lost, shares split exactly, gangs keep distinct nodes."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import assignment_of, plan_of
from allocator.instance.entities import Gang
from allocator.model.families import Family
from allocator.plan.entities import PlacedGroup, Plan
from tests.builders import build, group, model, node, plan, workload
from tests.solvers.random_assignments import compiled_case, random_assignment


@pytest.mark.parametrize("block", range(3))
def test_an_assignment_survives_the_way_to_a_plan_and_back(block: int) -> None:
    shared = granted = 0
    for seed in range(block, 240, 3):
        compiled, _ = compiled_case(seed)
        found = random_assignment(compiled, random.Random(seed))
        restored = plan_of(compiled, found.counts, found.shares, found.theta)
        counts, shares, theta = assignment_of(compiled, restored)
        assert counts == found.counts, f"seed {seed}"
        assert {key: value for key, value in theta.items() if value} == {k: v for k, v in found.theta.items() if v}
        for key, count in counts.items():
            for r in range(len(compiled.resources)):
                floor = int(compiled.floor[key[1], compiled.node_kind[key[2]], r]) * count
                assert shares[*key, r] == found.shares.get((*key, r), floor), f"seed {seed}"
        members = [number for group_ in restored.placements for number in range(group_.count)]
        missing = sum(group_.count for group_ in restored.unplaced)
        assert len(members) + missing == compiled.instance.num_members
        shared += bool(found.shares)
        granted += bool(theta)
    assert shared > 10
    assert granted > 5


@pytest.mark.parametrize("total", [6, 7, 8, 9, 5_000_000_000_000_000_001])
def test_a_total_is_split_into_equal_shares_that_differ_by_one_unit_at_most(total: int) -> None:
    instance = build(node("n", capacity={"cpu": 9 * 10**18}), workloads=[workload("a", 3, {"cpu": 2})])
    compiled = compile_instance(instance, model("throughput"))
    cpu = compiled.resources.index("cpu")
    restored = plan_of(compiled, {(0, 0, 0): 3}, {(0, 0, 0, cpu): total}, {})
    amounts = [g.shares["cpu"] for g in restored.placements for _ in range(g.count)]
    assert sum(amounts) == total
    assert max(amounts) - min(amounts) <= 1
    assert amounts == sorted(amounts, reverse=True)


def test_members_without_a_spot_are_listed_as_gaps() -> None:
    instance = build(node("n", capacity={"cpu": 9}), workloads=[workload("a", 5), workload("b", 2)])
    restored = plan_of(compile_instance(instance, model("placed")), {(0, 0, 0): 3}, {}, {})
    assert [(g.workload, g.first, g.count, g.nodes) for g in restored.placements] == [("a", 0, 3, ("n",))]
    assert [(g.workload, g.first, g.count) for g in restored.unplaced] == [("a", 3, 2), ("b", 0, 2)]


def test_members_on_several_nodes_in_a_row_are_one_entry_and_mean_the_same() -> None:
    instance = build(node("n"), node("m"), workloads=[workload("a", 4)])
    compiled = compile_instance(instance, model("placed"))
    restored = plan_of(compiled, {(0, 0, 0): 1, (0, 0, 1): 3}, {}, {})
    (entry,) = restored.placements
    assert entry.nodes == ("n", "m", "m", "m")
    assert assignment_of(compiled, restored)[0] == {(0, 0, 0): 1, (0, 0, 1): 3}
    apart = plan(instance, {"a": ["n", "m", "m", "m"]})
    assert assignment_of(compiled, apart)[0] == assignment_of(compiled, restored)[0]


def test_merged_entries_with_one_node_stand_for_all_their_members() -> None:
    instance = build(node("n"), node("m"), workloads=[workload("a", 4)])
    compiled = compile_instance(instance, model("placed"))
    found = Plan("test", "d1", (PlacedGroup("a", 1, 3, "default", ("m",), {}),))
    assert assignment_of(compiled, found)[0] == {(0, 0, 1): 3}


def test_what_the_instance_does_not_know_is_left_out() -> None:
    """A plan of an older instance as a start: unknown class, mode, node and member number."""
    instance = build(node("n"), workloads=[workload("a", 2)])
    compiled = compile_instance(instance, model("placed"))
    entries = (
        PlacedGroup("gone", 0, 1, "default", ("n",), {}),
        PlacedGroup("a", 0, 1, "old mode", ("n",), {}),
        PlacedGroup("a", 0, 1, "default", ("old node",), {}),
        PlacedGroup("a", 1, 2, "default", ("n",), {}),
    )
    assert assignment_of(compiled, Plan("test", "d1", entries))[0] == {(0, 0, 0): 1}


def random_gang_counts(rng: random.Random, size: int) -> tuple[list[int], int]:
    """Members on each node of one domain, and r: r gangs of the size, no node with more than r (equation 9)."""
    gangs = rng.randint(1, 6)
    nodes = rng.randint(size, size + 4)
    left = [gangs] * nodes
    counts = [0] * nodes
    for _ in range(size * gangs):
        free = [n for n in range(nodes) if left[n]]
        chosen = rng.choice(free)
        counts[chosen] += 1
        left[chosen] -= 1
    return counts, gangs


def test_any_counts_that_equation_9_allows_are_dealt_to_gangs_on_distinct_nodes() -> None:
    """McNaughton's wrap-around rule, on random counts in two domains beside each other."""
    for seed in range(400):
        rng = random.Random(seed)
        size = rng.randint(1, 5)
        parts = [random_gang_counts(rng, size) for _ in range(2)]
        racks = [
            group("rack", f"r{i}", *(node(f"n{j}") for j in range(len(counts)))) for i, (counts, _) in enumerate(parts)
        ]
        total = sum(gangs for _, gangs in parts) * size
        instance = build(*racks, workloads=[workload("a", total, gang=Gang(size, "rack"))])
        compiled = compile_instance(instance, model("placed"))
        flat = [count for counts, _ in parts for count in counts]
        counts = {(0, 0, n): count for n, count in enumerate(flat) if count}
        found = check(instance, model("placed"), plan_of(compiled, counts, {}, {}))
        broken = [v for v in found.violations if v.family in (Family.GANG, Family.ASSIGNMENT)]
        assert not broken, f"seed {seed}: {broken[0].message}"
        assert found.classes[0].placed == total


def test_gangs_that_run_already_keep_their_members_where_counts_say_they_stay() -> None:
    instance = build(
        group("rack", "r", node("n"), node("m"), node("o")),
        workloads=[workload("a", 4, gang=Gang(2, "rack"))],
        current={"a": ["r/n", "r/m", None, None]},
    )
    compiled = compile_instance(instance, model("moves"))
    counts = {(0, 0, 0): 1, (1, 0, 2): 1, (2, 0, 1): 1, (2, 0, 2): 1}
    found = check(instance, model("moves"), plan_of(compiled, counts, {}, {}))
    assert found.feasible
    assert found.levels == (Fraction(1),), "only the member that leaves m moves"
