"""Amounts beyond what a float resolves: one byte too many is too many, and proofs stay exact."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Instance
from allocator.plan.result import Status
from allocator.solvers.budget import Limits
from allocator.solvers.milp import levels
from allocator.solvers.milp.build import build
from allocator.solvers.milp.cuts import broken_rows
from allocator.solvers.milp.terms import Terms
from tests.builders import build as build_instance
from tests.builders import model, node, workload

TERA = 10**12


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were broken, each time a solution was cut off."""
    calls: list[int] = []
    real = levels.forbid

    def spy(solver: object, rows: Iterable[Terms], solution: np.ndarray) -> None:
        found = list(rows)
        calls.append(len(found))
        real(solver, found, solution)  # type: ignore[arg-type]

    monkeypatch.setattr(levels, "forbid", spy)
    return calls


def best_value(sizes: Sequence[int], counts: Sequence[int], values: Sequence[int], room: int) -> int:
    """Most value that fits, by trying every choice, in integers."""
    best = 0
    for chosen in product(*(range(count + 1) for count in counts)):
        if sum(size * number for size, number in zip(sizes, chosen, strict=True)) <= room:
            best = max(best, sum(value * number for value, number in zip(values, chosen, strict=True)))
    return best


def one_machine(sizes: Sequence[int], counts: Sequence[int], values: Sequence[int], room: int) -> Instance:
    classes = [
        workload(f"c{i}", count, {"memory": size}, value=value)
        for i, (size, count, value) in enumerate(zip(sizes, counts, values, strict=True))
    ]
    return build_instance(node("n", capacity={"memory": room}), workloads=classes)


def test_two_halves_of_a_terabyte_do_not_fit_on_one_byte_less(cut_off: list[int]) -> None:
    """A relative excess of 1e-12 is far below the solver's tolerance of 1e-6."""
    for room, placed in ((TERA + 1, 2), (TERA, 1)):
        instance = one_machine([TERA // 2, TERA // 2 + 1], [1, 1], [1, 1], room)
        result = solve(instance, model("placed"), method="milp", threads=1)
        assert result.status is Status.OPTIMAL
        assert result.levels[0].value == result.levels[0].bound == placed
    assert cut_off, "only exact arithmetic tells"


@pytest.mark.parametrize("most", [1, 3])
def test_knapsacks_in_bytes_are_solved_to_the_exact_optimum(most: int, cut_off: list[int]) -> None:
    """The room is one byte short of a random choice; members of one class are counted together."""
    for seed in range(12):
        rng = random.Random(seed)
        sizes = [rng.randint(TERA // 10, TERA // 3) for _ in range(7 if most == 1 else 4)]
        counts = [rng.randint(1, most) for _ in sizes]
        values = [rng.randint(5, 9) for _ in sizes]
        room = sum(size * rng.randint(0, count) for size, count in zip(sizes, counts, strict=True)) - 1
        instance = one_machine(sizes, counts, values, max(room, TERA // 10))
        result = solve(instance, model("placed"), method="milp", threads=1)
        assert result.status is Status.OPTIMAL, f"seed {seed}"
        best = best_value(sizes, counts, values, max(room, TERA // 10))
        assert result.levels[0].value == result.levels[0].bound == best, f"seed {seed}"
    assert cut_off


def test_a_placement_that_only_floats_accept_is_no_plan(cut_off: list[int]) -> None:
    """Three members that must be placed on two machines of one byte too few: infeasible, not optimal."""
    sizes = [TERA // 2, TERA // 2 + 1, TERA]
    for room, status in ((TERA + 1, Status.OPTIMAL), (TERA, Status.INFEASIBLE)):
        machines = [node(f"n{i}", capacity={"memory": room}) for i in range(2)]
        classes = [workload(f"c{i}", 1, {"memory": size}) for i, size in enumerate(sizes)]
        result = solve(build_instance(*machines, workloads=classes), model("nodes"), method="milp", threads=1)
        assert result.status is status
    pair = [workload(f"c{i}", 2, {"memory": TERA // 4 + 1 + i}) for i in range(4)]
    tight = build_instance(*(node(f"n{i}", capacity={"memory": TERA}) for i in range(2)), workloads=pair)
    assert solve(tight, model("nodes"), method="milp", threads=1).status is Status.INFEASIBLE
    assert cut_off


def test_only_rows_that_floats_cannot_judge_are_checked_again() -> None:
    small = one_machine([3, 4], [1, 1], [1, 1], 6)
    form, _ = build(compile_instance(small, model("placed")), Limits().start())
    assert form.exact == []
    large = one_machine([TERA // 2, TERA // 2 + 1], [1, 1], [1, 1], TERA)
    form, _ = build(compile_instance(large, model("placed")), Limits().start())
    assert len(form.exact) == 1
    assert broken_rows(form, np.array([1.0 - 1e-9, 1e-9])) == []
    assert len(broken_rows(form, np.array([1.0 - 1e-9, 1.0]))) == 1


def test_a_common_divisor_makes_large_numbers_small() -> None:
    """Sizes in whole GiB need no second look: the row is divided by what they share."""
    form, _ = build(
        compile_instance(one_machine([2**30, 3 * 2**30], [1, 1], [1, 1], 4 * 2**30 + 5), model("placed")),
        Limits().start(),
    )
    assert form.exact == []
    row = next(row for row in form.rows if row.part == "capacity")
    assert (row.coefs, row.upper) == ([1.0, 3.0], 4.0)


def test_the_last_unit_of_a_large_value_is_found_and_proven_where_integers_can() -> None:
    """A value of 3e9 - 1: floats leave the bound some units off and say so; ``auto`` settles it in integers."""
    nodes = [node("n", capacity={"cpu": 2}), node("m", kind="other", capacity={"cpu": 1})]
    classes = [workload("a", 3, {"cpu": 1}, cost={"k": Fraction(10**9), "other": Fraction(10**9 - 1)})]
    instance, true = build_instance(*nodes, workloads=classes), 3 * 10**9 - 1
    (floats,) = solve(instance, model("cost"), method="milp", threads=1).levels
    assert floats.value == true
    assert floats.bound is not None
    assert true - 5 <= floats.bound <= true
    proven = solve(instance, model("cost"), threads=1)
    assert proven.status is Status.OPTIMAL
    assert proven.levels[0].value == proven.levels[0].bound == true
