"""Rows 1 to 8 of the table of cases: numbers of very different sizes, and decimals."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from pathlib import Path

import pytest

from allocator import Status, TerminationReason, instance_from_dict
from allocator.formats.registry import READERS
from tests.cases.documents import EXACT, Document, document, node, placed, run, used, where, workload

DATA = os.environ.get("ALLOCATOR_DATA")
COST = {"goals": ["cost"]}
PLACE = {"goals": ["placed"]}

# ---------------------------------------------------------------- row 1

MEMORY, CPU, NETWORK = 1_600_000_000_000, Fraction(8), 10_000_000_000
NETWORK_RESOURCE = {"network": {"role": "other", "unit": "bit/s"}}


def mixed_items() -> list[tuple[int, Fraction, int, list[int]]]:
    """(bytes, cores, bit/s, cost on each of 4 machines) of 20 items.

    Five are cheapest on machine 0 and fill it to the byte; five are cheapest on machine 1 and are one byte too much.
    """
    rng = random.Random(1)
    items = []
    for favourite, total in ((0, MEMORY), (1, MEMORY + 1), (2, MEMORY // 2), (3, MEMORY // 3)):
        cuts = sorted(rng.sample(range(1, total), 4))
        for low, high in zip([0, *cuts], [*cuts, total], strict=True):
            cost = [1 if machine == favourite else rng.randint(10, 99) for machine in range(4)]
            items.append((high - low, Fraction(rng.randint(50, 1500), 1000), rng.randint(1, 10**9), cost))
    rng.shuffle(items)
    return items


Unit = tuple[str, int | Fraction]


def mixed(byte: Unit, core: Unit, bit: Unit) -> Document:
    """The same 20 items on 4 machines, in other units."""

    def text(value: Fraction, unit: str) -> str:
        exact = value.limit_denominator(10**15)
        assert exact == value
        scaled = exact * 10**15
        assert scaled.denominator == 1
        return f"{scaled.numerator}e-15 {unit}".strip()

    def amounts(size: int, cores: Fraction, bits: int) -> dict[str, str]:
        return {
            "memory": text(Fraction(size, byte[1]), byte[0]),
            "cpu": text(cores / core[1], core[0]),
            "network": text(Fraction(bits, bit[1]), bit[0]),
        }

    machines = [{**node(f"m{j}"), "kind": f"k{j}", "capacity": amounts(MEMORY, CPU, NETWORK)} for j in range(4)]
    classes = [
        {**workload(f"i{i}"), "requests": amounts(*item[:3]), "cost": {f"k{j}": c for j, c in enumerate(item[3])}}
        for i, item in enumerate(mixed_items())
    ]
    return document(machines, classes, resources=NETWORK_RESOURCE)


PLAIN: tuple[Unit, Unit, Unit] = (("B", 1), ("", 1), ("bit/s", 1))
SCALED: tuple[Unit, Unit, Unit] = (("GB", 10**9), ("m", Fraction(1, 1000)), ("Gbit/s", 10**9))


@pytest.mark.parametrize("method", EXACT)
def test_row_1_bytes_cores_and_bits_in_one_run(method: str) -> None:
    """20 items, 1.6e12 bytes a machine: every item on one machine, not one byte over, the same after rescaling."""
    requests = {f"i{i}": {"memory": m, "cpu": c, "network": n} for i, (m, c, n, _) in enumerate(mixed_items())}
    first, second = (run(mixed(*units), COST, method, seconds=60) for units in (PLAIN, SCALED))
    assert first.status is second.status is Status.OPTIMAL
    assert first.levels[0].value == second.levels[0].value
    assert where(first) == where(second)
    for result in (first, second):
        assert {name: sum(nodes.values()) for name, nodes in where(result).items()} == dict.fromkeys(requests, 1)
        amounts_by_node = used(result, requests)
        assert amounts_by_node["m0"]["memory"] == MEMORY
        for amounts in amounts_by_node.values():
            assert amounts["memory"] <= MEMORY
            assert amounts["cpu"] <= CPU
            assert amounts["network"] <= NETWORK


def test_row_1_units_do_not_change_the_instance() -> None:
    assert instance_from_dict(mixed(*PLAIN)).digest == instance_from_dict(mixed(*SCALED)).digest


# ---------------------------------------------------------------- row 2


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("size", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("spare", [0, 3])
def test_row_2_a_small_item_opens_a_large_machine(method: str, size: int, spare: int) -> None:
    """One item of 1 unit, opening cost 5: the machine counts as open, cost 5, at every size."""
    machines = [node(f"m{j}", storage=size, weight=5 + j) for j in range(1 + spare)]
    result = run(document(machines, [workload("i", storage=1)]), {"goals": ["nodes"]}, method)
    assert result.status is Status.OPTIMAL
    assert result.levels[0].value == result.levels[0].bound == 5
    assert where(result) == {"i": {"m0": 1}}


@pytest.mark.parametrize("method", EXACT)
def test_row_2_opening_is_weighed_against_cost(method: str) -> None:
    """Opening for 5 what saves 4 is never worth it, however large the machines are."""
    machines = [node("old", storage=10**12, weight=5), node("new", storage=10**12, weight=5)]
    items = [workload("a", storage=1, cost={"old": 0, "new": 9}), workload("b", storage=1, cost={"old": 4, "new": 0})]
    result = run(document(machines, items), {"goals": [{"nodes": 1, "cost": 1}]}, method)
    assert (result.status, result.levels[0].value) == (Status.OPTIMAL, 9)
    assert where(result) == {"a": {"old": 1}, "b": {"old": 1}}


# ---------------------------------------------------------------- row 3


@pytest.mark.parametrize("method", EXACT)
def test_row_3_a_little_too_large_is_too_large(method: str) -> None:
    """100,000,200 on a machine of 100,000,000: infeasible or unplaced, never placed 200 over."""
    whole = document([node("m", storage=100_000_000)], [workload("i", storage=100_000_200)])
    refused = run(whole, COST, method)
    assert (refused.status, refused.plan) == (Status.INFEASIBLE, None)
    assert refused.infeasibility is not None
    assert "200 B of storage short" in " ".join(refused.infeasibility.reasons)
    partial = run(whole, PLACE, method)
    assert (partial.status, placed(partial)) == (Status.OPTIMAL, 0)
    assert partial.plan is not None
    assert partial.plan.unplaced[0].short == {"storage": 200}


# ---------------------------------------------------------------- row 4


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("stated", [{}, {"cpu": 0, "memory": 0}, {"cpu": 0}, {"memory": 0, "cpu": 4}])
def test_row_4_next_to_nothing_is_not_nothing(method: str, stated: dict[str, int]) -> None:
    """1 millicore and 1 byte on a machine with none of it and 1e14 of something else: not placed there."""
    alone = document([node("m", storage=10**14, **stated)], [workload("i", cpu="1m", memory=1)])
    assert placed(run(alone, PLACE, method)) == 0
    assert run(alone, COST, method).status is Status.INFEASIBLE
    both = document([*alone["topology"], node("n", cpu="1m", memory=1)], [workload("i", 2, cpu="1m", memory=1)])
    assert where(run(both, PLACE, method)) == {"i": {"n": 1}}


# ---------------------------------------------------------------- row 5


def generalised_assignment(seed: int, agents: int = 5, jobs: int = 30) -> Document:
    """Costs run against loads, capacities are tight: the relaxation does not settle it."""
    rng = random.Random(seed)
    loads = [[rng.randint(5, 25) for _ in range(jobs)] for _ in range(agents)]
    costs = [[max(1, 30 - load + rng.randint(-3, 3)) for load in row] for row in loads]
    machines = [node(f"a{i}", kind=f"a{i}", storage=int(0.8 * sum(row) / agents)) for i, row in enumerate(loads)]
    tasks = [
        workload(
            f"j{j}",
            by_kind={f"a{i}": {"requests": {"storage": loads[i][j]}} for i in range(agents)},
            cost={f"a{i}": costs[i][j] for i in range(agents)},
        )
        for j in range(jobs)
    ]
    return document(machines, tasks)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("seed", [1, 2])
def test_row_5_within_the_gap_is_not_optimal(method: str, seed: int) -> None:
    """Gap 1 %: "optimal" is said only when value and bound agree, else "feasible", reason "gap"; gap 0 is exact."""
    whole = generalised_assignment(seed)
    exact, loose = run(whole, COST, method), run(whole, COST, method, gap=0.01)
    assert (exact.status, exact.levels[0].gap) == (Status.OPTIMAL, 0)
    value, gap, best = loose.levels[0].value, loose.levels[0].gap, exact.levels[0].value
    assert value is not None
    assert best is not None
    assert gap is not None
    assert best <= value <= best * Fraction(100, 99)
    if gap == 0:
        assert (loose.status, loose.termination.reason, value) == (Status.OPTIMAL, TerminationReason.OPTIMAL, best)
    else:
        assert (loose.status, loose.termination.reason) == (Status.FEASIBLE, TerminationReason.GAP)
        assert gap <= Fraction(1, 100)


@pytest.mark.skipif(not DATA, reason="ALLOCATOR_DATA names no folder of public instances")
@pytest.mark.parametrize("gap", [0.01, 0.0])
def test_row_5_c20100(gap: float) -> None:
    """GAP c20100, optimum 1243: gap 0 gives it; gap 1 % says "within the gap" unless the gap is 0."""
    path = Path(DATA or ".") / "gap" / "chu1997" / "c20100"
    result = run(READERS["gap"](path), COST, "auto", seconds=60, gap=gap)
    level = result.levels[0]
    assert level.value is not None
    assert 1243 <= level.value <= 1243 * (1 + Fraction(str(gap))) + 1
    if level.gap == 0:
        assert (result.status, level.value) == (Status.OPTIMAL, 1243)
    else:
        assert (result.status, result.termination.reason) == (Status.FEASIBLE, TerminationReason.GAP)
        assert gap > 0


# ---------------------------------------------------------------- row 6


@pytest.mark.parametrize("method", EXACT)
def test_row_6_bytes_and_mebibytes_are_the_same(method: str) -> None:
    """3000 items of 1 MiB stated in bytes, placement optional: the same result as stated in MiB."""
    results = []
    for size, room in (("1 MiB", "250 MiB"), (2**20, 250 * 2**20), (2**20, 251 * 2**20 - 1)):
        whole = document([node("m", count=10, memory=room)], [workload("i", 3000, memory=size)])
        results.append(run(whole, PLACE, method))
    assert [(r.status, r.levels[0].value, placed(r)) for r in results] == [(Status.OPTIMAL, 2500, 2500)] * 3
    assert where(results[0]) == where(results[1]) == where(results[2])


def test_row_6_as_three_thousand_classes() -> None:
    results = []
    for size, room in (("1 MiB", "750 MiB"), (2**20, 750 * 2**20)):
        items = [workload(f"i{i}", memory=size) for i in range(3000)]
        results.append(run(document([node("m", count=2, memory=room)], items), PLACE, "auto", seconds=20))
    assert [(r.status, r.levels[0].value) for r in results] == [(Status.OPTIMAL, 1500)] * 2


# ---------------------------------------------------------------- row 7


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize(
    ("parts", "room"),
    [
        (["0.1"] * 10, "1.0"),
        ([0.1] * 10, 1.0),
        (["0.1", "0.2"], "0.3"),
        ([0.1, 0.2], 0.3),
        ([1 / 9] * 9, 1),
        ([f"0.{'1' * 15}"] * 9, "1"),
    ],
)
def test_row_7_decimals_add_up(method: str, parts: list[str | float], room: str | float) -> None:
    """0.1 x 10 on 1.0, 1/9 x 9 on 1, 0.1 + 0.2 on 0.3: all fit, and the checker agrees with the solver."""
    whole = document([node("m", cpu=room)], [workload(f"i{i}", cpu=part) for i, part in enumerate(parts)])
    for model in (PLACE, COST):
        result = run(whole, model, method)
        assert (result.status, placed(result)) == (Status.OPTIMAL, len(parts))
        assert result.evaluation is not None
        assert result.evaluation.violations == ()
    one_more = document(whole["topology"], [*whole["workloads"], workload("more", cpu="0.01")])
    assert placed(run(one_more, PLACE, method)) < len(parts) + 1


# ---------------------------------------------------------------- row 8


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("classes", [1, 80])
def test_row_8_parts_of_accelerators(method: str, classes: int) -> None:
    """80 items of 0.18 on 16 accelerators: all 80 placed, at most 5 each, nothing left negative."""
    items = [workload(f"i{i}", 80 // classes, accelerator="0.18") for i in range(classes)]
    result = run(document([node("acc", count=16, accelerator=1)], items), PLACE, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 80)
    amounts = used(result, {item["class"]: {"accelerator": "0.18"} for item in items})
    assert {use["accelerator"] for use in amounts.values()} == {Fraction("0.9")}
    assert result.evaluation is not None
    assert all(use.used <= use.capacity for use in result.evaluation.uses)
