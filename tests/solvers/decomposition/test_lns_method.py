"""Large neighbourhood search: never worse than its start, the same for the same seed, stopped at any moment."""

from __future__ import annotations

import random
import threading
import time
from fractions import Fraction

import pytest

from allocator import solve
from allocator.checker import check
from allocator.compiled.restore import plan_of
from allocator.errors import MethodRefused
from allocator.instance.entities import Instance
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.decomposition.lns.method import LnsMethod
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.outcome import ahead
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import method_named
from tests.builders import build, group, model, node, team, workload
from tests.solvers.random_assignments import compiled_case

F = Fraction


def assigned(jobs: int, agents: int, seed: int) -> Instance:
    """Dear jobs are small: what is cheap does not fit together."""
    rng = random.Random(seed)
    classes = []
    sizes = [rng.randint(5, 25) for _ in range(jobs)]
    for j, size in enumerate(sizes):
        costs = {f"n{i}": F(max(1, 40 - size + rng.randint(-9, 9))) for i in range(agents)}
        classes.append(workload(f"c{j}", 1, {"cpu": size}, cost=costs))
    room = sum(sizes) * 11 // (10 * agents)
    return build(*(node(f"n{i}", capacity={"cpu": room}) for i in range(agents)), workloads=classes)


@pytest.mark.parametrize("block", range(4))
def test_answers_hold_and_are_no_worse_than_the_start(block: int) -> None:
    plans = better = 0
    for seed in range(block, 100, 4):
        compiled, _ = compiled_case(seed)
        budget = Limits(60.0, 6).start()
        first = method_named("greedy")
        start: Assignment | None = None
        try:
            start = first.solve(
                compiled, budget=budget, recorder=Recorder(budget.elapsed), start=None, seed=0, threads=1, gap=0.0
            ).assignment
        except MethodRefused:
            continue
        if start is None:
            continue
        plan = plan_of(compiled, start.counts, start.shares, start.theta)
        if not check(compiled.instance, compiled.model, plan).feasible:
            continue  # greedy does not know every rule
        answer = LnsMethod().solve(
            compiled, budget=budget, recorder=Recorder(budget.elapsed), start=start, seed=1, threads=1, gap=0.0
        )
        found = answer.assignment
        assert found is not None
        assert answer.status is Status.FEASIBLE
        evaluation = check(
            compiled.instance, compiled.model, plan_of(compiled, found.counts, found.shares, found.theta)
        )
        assert evaluation.feasible, f"seed {seed}: {evaluation.violations[0]}"
        assert answer.claims == evaluation.levels, f"seed {seed}"
        before = level_values(compiled, start)
        assert not ahead(compiled, before, evaluation.levels), f"seed {seed}"
        better += ahead(compiled, evaluation.levels, before)
        plans += 1
    assert plans > 8
    assert better > 1


def test_parts_reach_what_the_whole_model_proves() -> None:
    instance = assigned(24, 4, 3)
    goals = model("cost")
    best = solve(instance, goals, method="milp", threads=1)
    assert best.status is Status.OPTIMAL
    found = solve(instance, goals, method="lns", threads=1, iterations=60)
    assert found.levels[0].value is not None
    assert best.levels[0].value is not None
    assert found.levels[0].value <= best.levels[0].value * F(1005, 1000)


def test_the_same_seed_and_an_iteration_limit_give_the_same_plan() -> None:
    instance = assigned(90, 9, 7)
    runs = [solve(instance, model("cost"), method="lns", threads=1, iterations=12, seed=seed) for seed in (3, 3, 4)]
    assert runs[0].plan == runs[1].plan
    assert runs[0].termination.reason is TerminationReason.ITERATION_LIMIT
    assert runs[0].termination == runs[1].termination


def test_a_part_that_is_the_whole_ends_the_search() -> None:
    instance = build(node("n0", capacity={"cpu": 5}), node("n1", capacity={"cpu": 5}), workloads=[workload("a", 4)])
    result = solve(instance, model("nodes"), method="lns", threads=1, time_limit=30)
    assert result.termination.reason is TerminationReason.CONVERGED
    assert result.seconds["total"] < 20
    assert result.levels[0].value == 1


def test_teams_that_stand_apart_come_together() -> None:
    racks = [group("rack", f"r{i}", *(node(f"n{j}", capacity={"cpu": 6}) for j in range(3))) for i in range(3)]
    instance = build(*racks, workloads=[workload("a", 18, {"cpu": 2})], teams=(team("t", 6, {"a": 3}, 8),))
    apart = solve(instance, model("traffic"), method="uniform")
    together = solve(instance, model("traffic"), method="lns", warm_start=apart.plan, iterations=60, threads=1)
    best = solve(instance, model("traffic"), method="greedy")
    assert apart.levels[0].value is not None
    assert together.levels[0].value == best.levels[0].value == 0 < apart.levels[0].value


def test_an_interruption_returns_the_plan_held() -> None:
    instance = assigned(240, 16, 11)
    budget = Limits(120.0).start()
    timer = threading.Timer(4.0, budget.interrupt)
    timer.start()
    began = time.monotonic()
    result = solve(instance, model("cost"), method="lns", threads=1, budget=budget)
    timer.cancel()
    assert result.plan is not None
    assert result.termination.reason in {TerminationReason.INTERRUPTED, TerminationReason.CONVERGED}
    assert time.monotonic() - began < 20


def test_what_nobody_can_start_from_is_said() -> None:
    instance = build(node("n", capacity={"cpu": 1}), workloads=[workload("a", 2, {"cpu": 1})])
    result = solve(instance, model("cost"), method="lns", threads=1)
    assert result.plan is None
    assert result.status is Status.UNKNOWN
    assert "no plan to start from" in result.termination.detail
