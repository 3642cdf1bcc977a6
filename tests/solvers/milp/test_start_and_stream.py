"""A start is taken, never lost and never made worse; what becomes known is told in order."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import assignment_of
from allocator.instance import instance_from_dict
from allocator.model.entities import Model
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.milp.build import build
from allocator.solvers.milp.columns import read_counts, start_values
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import compile_matrix
from allocator.solvers.milp.method import MilpMethod
from allocator.solvers.recorder import Event, Recorder
from tests.builders import model
from tests.oracle.brute_force import brute_force
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import random_case
from tests.solvers.milp.slow_instances import hard_assignment

HARD = hard_assignment(30, 6)
ONE_PASS = {"mip_max_nodes": 0, "mip_heuristic_effort": 0.0, "presolve": "off"}


def feasible_start(compiled: Compiled, seed: int) -> Assignment:
    """Some assignment of jobs that keeps every capacity: each to a node where it needs little."""
    rng = random.Random(seed)
    room = {n: int(compiled.limit[compiled.node_domain[n], n]) for n in range(compiled.num_nodes)}
    counts = {}
    for block in compiled.blocks:
        needs = {n: int(compiled.floor[block.workload, compiled.node_kind[n], n]) for n in room}
        chosen = min((n for n in room if needs[n] <= room[n]), key=lambda n, needs=needs: needs[n] + rng.randint(0, 9))  # type: ignore[misc]
        room[chosen] -= needs[chosen]
        counts[block.index, block.workload, chosen] = 1
    return Assignment(counts)


def test_the_start_is_the_first_incumbent_of_the_solver() -> None:
    """Without heuristics, presolve and branching the solver knows no plan but the one it was given."""
    compiled = compile_instance(HARD, model("cost"))
    start = feasible_start(compiled, 1)
    form, objectives = build(compiled, Limits().start())
    matrix = compile_matrix(form, objectives)
    for given in (None, start):
        heard: list[float] = []
        outcome = HighsRun(matrix, seed=0, threads=1).run(
            matrix.objectives[0],
            minimise=True,
            budget=Limits(20).start(),
            relative_gap=0.0,
            absolute_gap=0.0,
            start=start_values(form, matrix, given),
            on_incumbent=heard.append,
            on_bound=lambda bound: None,
            options=ONE_PASS,
        )
        if given is None:
            assert not heard
        else:
            assert outcome.solution is not None
            assert read_counts(form, matrix, outcome.solution) == start.counts
            assert len(heard) == 1


def test_placement_columns_of_a_start_are_given_and_the_rest_is_left_to_the_solver() -> None:
    compiled = compile_instance(HARD, model("cost", "nodes"))
    start = feasible_start(compiled, 1)
    form, objectives = build(compiled, Limits().start())
    matrix = compile_matrix(form, objectives)
    values = start_values(form, matrix, start)
    assert values is not None
    known = ~np.isnan(values)
    assert known.sum() == len(form.entries) < len(values)
    assert np.nansum(values) == len(compiled.blocks)
    assert start_values(form, matrix, None) is None


@pytest.mark.parametrize("limit", [0.001, 1.0])
def test_a_plan_is_never_worse_than_the_start_however_short_the_time(limit: float) -> None:
    compiled = compile_instance(HARD, model("cost"))
    start = feasible_start(compiled, 2)
    answer = MilpMethod().solve(
        compiled,
        budget=Limits(limit).start(),
        recorder=Recorder(lambda: 0.0),
        start=start,
        seed=0,
        threads=1,
        gap=0.0,
    )
    (before,) = level_values(compiled, start)
    assert answer.assignment is not None
    assert answer.claims == level_values(compiled, answer.assignment)
    assert answer.claims[0] is not None
    assert answer.claims[0] <= before
    if limit < 0.01:
        assert answer.assignment is start
        assert answer.termination.reason is TerminationReason.TIME_LIMIT
        assert answer.status is Status.FEASIBLE
    else:
        assert answer.claims[0] < before, "a second is enough to improve on a random plan"


def test_a_start_from_any_plan_leads_to_the_same_optimum() -> None:
    compared = 0
    for seed in range(60):
        case = random_case(seed)
        instance = instance_from_dict(case.document)
        try:
            truth = brute_force(instance, Model("first", "", case.model.levels[:1]))
        except TooMany:
            continue
        if truth.plan is None or case.model.has_rate_goals:
            continue
        compiled = compile_instance(instance, case.model)
        counts, shares, theta = assignment_of(compiled, truth.plan)
        answer = MilpMethod().solve(
            compiled,
            budget=Limits(20).start(),
            recorder=Recorder(lambda: 0.0),
            start=Assignment(counts, shares, theta),
            seed=0,
            threads=1,
            gap=0.0,
        )
        allowed = case.model.levels[0].slack.allowance(Fraction(truth.values[0]))
        assert answer.claims[0] is not None
        assert abs(answer.claims[0] - Fraction(truth.values[0])) <= allowed, f"seed {seed}"
        compared += 1
    assert compared > 20


def test_incumbents_and_bounds_come_in_order_and_close_in_on_each_other() -> None:
    heard: list[Event] = []
    result = solve(HARD, model("cost"), method="milp", time_limit=4, threads=1, listeners=[heard.append])
    assert [e.seconds for e in heard] == sorted(e.seconds for e in heard)
    start = next(i for i, e in enumerate(heard) if e.kind == "phase" and e.level == 0)
    level = [e for e in heard[start:] if e.kind != "phase"]
    assert all(e.level == 0 for e in level)
    bounds = [e.bound for e in level if e.kind == "bound"]
    values = [e.value for e in level if e.kind == "incumbent"]
    assert len(bounds) > 1
    assert values
    slip = 1e-6 * abs(values[-1] or 0.0)
    assert all(second >= first - slip for first, second in pairwise(bounds) if first is not None and second is not None)
    assert all(second <= first + slip for first, second in pairwise(values) if first is not None and second is not None)
    value, bound = result.levels[0].value, result.levels[0].bound
    assert value is not None
    assert bound is not None
    assert values[-1] == pytest.approx(float(value)), "the last word is the exact value"
    assert max(b for b in bounds if b is not None) <= float(value) + slip


def test_every_level_is_announced_before_what_is_known_of_it() -> None:
    heard: list[Event] = []
    solve(HARD, model("cost", "nodes"), method="milp", time_limit=2, threads=1, listeners=[heard.append])
    begun: set[int] = set()
    for event in heard:
        if event.kind == "phase" and event.level is not None:
            begun.add(event.level)
        elif event.level is not None:
            assert event.level in begun
    assert 0 in begun
