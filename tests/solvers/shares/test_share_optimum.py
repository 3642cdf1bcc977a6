"""Shares of a fixed placement: as good as an independent linear program says, and within every limit exactly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import assignment_of, plan_of
from allocator.instance import instance_from_dict
from allocator.instance.entities import Gang, Uplink
from allocator.model.entities import Model
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.shares.optimum import optimal_shares
from tests.builders import build, group, model, node, team, workload
from tests.oracle.brute_force import row_plan
from tests.oracle.goals import MOVED_BY_SHARES, RATE_GOALS, goal_values
from tests.oracle.placements import TooMany, Usage, enumerate_placements, feasibility
from tests.oracle.random_instances import random_case
from tests.oracle.share_problem import ShareProblem
from tests.oracle.tiny import Tiny

Counts = dict[tuple[int, int, int], int]
F = Fraction


def random_placements(seeds: range, each: int) -> Iterator[tuple[int, Compiled, Counts, ShareProblem]]:
    """Feasible placements of random instances whose model has a rate goal, with the oracle's program of each."""
    for seed in seeds:
        case = random_case(seed)
        if not case.model.has_rate_goals:
            continue
        instance = instance_from_dict(case.document)
        compiled = compile_instance(instance, case.model)
        tiny = Tiny(instance, case.model)
        try:
            usage = Usage(tiny, enumerate_placements(tiny))
        except TooMany:
            continue
        rows = np.nonzero(np.logical_and.reduce(list(feasibility(usage).values())))[0]
        if not len(rows):
            continue
        fixed = {
            goal.id: goal_values(usage, goal)
            for level in case.model.levels
            for goal in level.goals
            if goal.id not in RATE_GOALS | MOVED_BY_SHARES
        }
        for row in random.Random(seed).sample(rows.tolist(), min(each, len(rows))):
            known = {goal: values.exact(row) for goal, values in fixed.items()}
            counts, _, _ = assignment_of(compiled, row_plan(tiny, usage.rows[row]))
            yield seed, compiled, counts, ShareProblem(tiny, usage, row, known)


@pytest.mark.parametrize("block", range(4))
def test_the_first_level_is_as_good_as_scipys_linear_program_says(block: int) -> None:
    compared = shared = 0
    for seed, compiled, counts, problem in random_placements(range(block, 300, 4), 4):
        level = compiled.model.levels[0]
        best = problem.minimise(level, [])
        found = optimal_shares(compiled, counts)
        assert best is not None
        assert found is not None
        value = level_values(compiled, found.assignment)[0]
        sign = -1 if level.sense == "max" else 1
        assert abs(sign * float(value) - best.value) <= 1e-9 * max(1.0, abs(best.value)), f"seed {seed}"
        compared += 1
        shared += bool(found.assignment.shares)
    assert compared > 40
    assert shared > 10


@pytest.mark.parametrize("block", range(2))
def test_rounded_shares_and_grants_keep_every_limit_exactly(block: int) -> None:
    """The checker counts in integers and fractions: one unit too many would be a violation."""
    granted = 0
    for seed, compiled, counts, _ in random_placements(range(block, 240, 2), 4):
        found = optimal_shares(compiled, counts)
        assert found is not None
        assignment = found.assignment
        plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
        evaluation = check(compiled.instance, compiled.model, plan)
        assert evaluation.feasible, f"seed {seed}: {evaluation.violations[0]}"
        assert evaluation.levels == level_values(compiled, assignment)
        granted += any(0 < theta < 1 for theta in assignment.theta.values())
    assert granted > 5


def three_cores(capacity: int = 3000, **fields: object) -> Compiled:
    """Two members of weight 2 and three of weight 1 that need 1 core each for their whole rate, on 3 cores."""
    classes = [
        workload("heavy", 2, {"cpu": 100}, rate=1, weight=2, compute={"cpu": 1}),
        workload("light", 3, {"cpu": 200}, rate=1, compute={"cpu": 1}, **fields),  # type: ignore[arg-type]
    ]
    return compile_instance(build(node("n", capacity={"cpu": capacity}), workloads=classes), model("throughput"))


BOTH: Counts = {(0, 0, 0): 2, (1, 1, 0): 3}


def test_more_than_the_floor_goes_to_whom_it_is_worth_most() -> None:
    """Heavy members get their core each (4), the other 1000 millicores are left to the light ones (1)."""
    found = optimal_shares(three_cores(), BOTH)
    assert found is not None
    assert found.assignment.shares == {(0, 0, 0, 0): 2000, (1, 1, 0, 0): 1000}
    assert level_values(three_cores(), found.assignment) == (F(5),)


def test_floors_that_fill_the_node_leave_nothing_to_share() -> None:
    found = optimal_shares(three_cores(800), BOTH)
    assert found is not None
    assert not found.assignment.shares
    assert level_values(three_cores(800), found.assignment) == (F(2 * 2 * 100 + 3 * 200, 1000),)


def test_a_model_without_a_rate_goal_leaves_every_share_at_its_floor() -> None:
    compiled = three_cores()
    plain = compile_instance(compiled.instance, model("peak"))
    found = optimal_shares(plain, BOTH)
    assert found is not None
    assert not found.assignment.shares
    assert not found.prices


def test_equal_floats_that_do_not_divide_are_rounded_to_integers_that_fit() -> None:
    """Three classes of 1 at equal weight on 1000 millicores: 333.3 each in floats, 1000 in all in integers."""
    classes = [workload(name, 1, rate=1, compute={"cpu": 1}) for name in "abc"]
    instance = build(node("n", capacity={"cpu": 1000}), workloads=classes)
    compiled = compile_instance(instance, model("fairness"))
    found = optimal_shares(compiled, {(b, b, 0): 1 for b in range(3)})
    assert found is not None
    amounts = [found.assignment.shares[b, b, 0, 0] for b in range(3)]
    assert sum(amounts) <= 1000
    assert min(amounts) == 333


@pytest.mark.parametrize("memory", [10**12 + 1, 3 * 10**15 + 7])
def test_bytes_beyond_what_a_float_resolves_are_not_given_away(memory: int) -> None:
    """Seven members want everything: the sum is at most the capacity, to the byte, and misses it by few units."""
    classes = [workload(f"c{i}", 1, rate=1, residence=1, memory={"memory": F(10) ** 16}) for i in range(7)]
    instance = build(node("n", capacity={"memory": memory}), workloads=classes)
    compiled = compile_instance(instance, model("throughput"))
    found = optimal_shares(compiled, {(b, b, 0): 1 for b in range(7)})
    assert found is not None
    r = compiled.resources.index("memory")
    total = sum(found.assignment.shares.get((b, b, 0, r), 0) for b in range(7))
    assert total <= memory
    assert memory - total <= memory * F(1, 10**9)


def test_levels_reached_before_are_kept_within_their_slack() -> None:
    """Throughput first (5 at best), fairness second: held at 5 the light class stays at 1/3; nothing keeps 6."""
    compiled = compile_instance(three_cores().instance, model("throughput", "fairness"))
    kept = optimal_shares(compiled, BOTH, [F(5)])
    assert kept is not None
    first, second = level_values(compiled, kept.assignment)
    assert abs(first - 5) <= F(1, 10**6)
    assert abs(second - F(1, 3)) <= F(1, 10**6)
    looser = optimal_shares(compiled, BOTH, [F(4)])
    assert looser is not None
    assert level_values(compiled, looser.assignment)[1] > F(1, 2)
    assert optimal_shares(compiled, BOTH, [F(6)]) is None


def test_gang_members_and_teams_share_like_everybody() -> None:
    """A team across a link of 4 bit/s offers 8 each way: half its rate is granted, so half its work is done."""
    racks = [group("rack", f"r{i}", node("n", capacity={"cpu": 9000}), uplink=Uplink(F(4))) for i in range(2)]
    classes = [workload("a", 4, {"cpu": 1}, rate=1, compute={"cpu": 1}, gang=Gang(1, "rack"))]
    instance = build(*racks, workloads=classes, teams=(team("t", 1, {"a": 4}, 2),))
    compiled = compile_instance(instance, model("throughput"))
    found = optimal_shares(compiled, {(0, 0, 0): 2, (0, 0, 1): 2})
    assert found is not None
    assert found.assignment.theta == {("team", 0): F(1, 2)}
    assert level_values(compiled, found.assignment) == (F(2),)


def test_no_counts_at_all_are_a_plan_of_value_zero() -> None:
    compiled = three_cores()
    found = optimal_shares(compiled, {})
    assert found is not None
    assert level_values(compiled, found.assignment) == (F(0),)


def test_the_model_decides_what_is_shared_not_the_instance() -> None:
    """Weighted with fairness, the same placement gives up some throughput."""
    compiled = three_cores()
    mixed = compile_instance(compiled.instance, Model("m", "", model("throughput", "fairness", together=True).levels))
    found = optimal_shares(mixed, BOTH)
    assert found is not None
    # value = -(throughput + fairness): one third of fairness costs nothing, more of it costs 6 of throughput a unit
    assert abs(level_values(mixed, found.assignment)[0] + F(16, 3)) <= F(1, 10**6)
