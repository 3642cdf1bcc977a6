"""A population of placements: what children inherit, who survives, and answers that hold."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from allocator import solve
from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.errors import MethodRefused
from allocator.instance.entities import Instance
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.genetic.crossover import leaders, settle, some_nodes
from allocator.solvers.heuristic.genetic.method import GeneticMethod
from allocator.solvers.heuristic.genetic.population import Individual, Population
from allocator.solvers.heuristic.kernels.build import build_problem
from allocator.solvers.heuristic.kernels.items import items_of
from allocator.solvers.heuristic.kernels.problem import tabled
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.builders import build, model, node, team, workload
from tests.solvers.random_assignments import compiled_case

F = Fraction


def priced(jobs: int, agents: int, seed: int) -> Instance:
    rng = random.Random(seed)
    sizes = [rng.randint(5, 25) for _ in range(jobs)]
    classes = [
        workload(f"c{j}", 1, {"cpu": size}, cost={f"n{i}": F(rng.randint(1, 40)) for i in range(agents)})
        for j, size in enumerate(sizes)
    ]
    room = sum(sizes) * 11 // (10 * agents)
    return build(*(node(f"n{i}", capacity={"cpu": room}) for i in range(agents)), workloads=classes)


@pytest.mark.parametrize("block", range(3))
def test_answers_hold_and_claim_what_they_are_worth(block: int) -> None:
    plans = tried = 0
    for seed in range(block, 75, 3):
        compiled, _ = compiled_case(seed)
        method = GeneticMethod()
        try:
            method.refuse(compiled)
        except MethodRefused:
            continue
        budget = Limits(60.0, 4).start()
        answer = method.solve(
            compiled, budget=budget, recorder=Recorder(budget.elapsed), start=None, seed=2, threads=1, gap=0.0
        )
        tried += 1
        if answer.assignment is None:
            assert answer.status is Status.UNKNOWN
            continue
        found = answer.assignment
        evaluation = check(
            compiled.instance, compiled.model, plan_of(compiled, found.counts, found.shares, found.theta)
        )
        assert evaluation.feasible, f"seed {seed}: {evaluation.violations[0]}"
        assert answer.claims == evaluation.levels, f"seed {seed}"
        plans += 1
    assert tried > 12
    assert plans > 0.6 * tried


def test_breeding_gains_over_the_first_population_and_keeps_a_better_start() -> None:
    instance = priced(60, 6, 5)
    goals = model("cost")
    first = solve(instance, goals, method="genetic", iterations=0, threads=1, seed=1)
    later = solve(instance, goals, method="genetic", iterations=150, threads=1, seed=1)
    assert first.levels[0].value is not None
    assert later.levels[0].value is not None
    assert later.levels[0].value < first.levels[0].value
    assert later.termination.reason is TerminationReason.ITERATION_LIMIT
    best = solve(instance, goals, method="lns", threads=1, iterations=5)
    again = solve(instance, goals, method="genetic", iterations=3, threads=1, warm_start=best.plan)
    assert best.levels[0].value is not None
    assert again.levels[0].value is not None
    assert again.levels[0].value <= best.levels[0].value


def test_the_same_seed_gives_the_same_plan_and_another_one_need_not() -> None:
    instance = priced(50, 5, 8)
    plans = [
        solve(instance, model("cost"), method="genetic", iterations=10, threads=1, seed=seed).plan for seed in (3, 3)
    ]
    assert plans[0] == plans[1]


def test_children_inherit_teams_whole() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 20}) for i in range(6)]
    instance = build(*nodes, workloads=[workload("a", 30, {"cpu": 3})], teams=(team("t", 10, {"a": 3}, 5),))
    compiled = compile_instance(instance, model("placed", "traffic"))
    items = items_of(compiled)
    problem = build_problem(compiled, items)
    table = tabled(problem)
    leader = leaders(problem)
    rng = np.random.default_rng(4)
    parents = []
    for number in range(2):
        where = rng.integers(6, size=30).astype(np.int64)
        walker = Walker(problem, table.table, items, number)
        walker.put(where, problem.first_option[problem.workload])
        parents.append((walker.state.where.copy(), walker.state.option.copy()))
    everywhere = np.ones(6, dtype=np.bool_)
    cut = 0
    for _ in range(40):
        parts = [(parents[0], some_nodes(6, rng)), (parents[1], everywhere)]
        child = settle(lambda: Walker(problem, table.table, items, 9), leader, parts, problem)
        stands = (child.state.where >= 0).reshape(10, 3).sum(axis=1)
        assert set(stands.tolist()) <= {0, 3}
        use = np.bincount(child.state.where[child.state.where >= 0], minlength=6) * 3
        assert use.max() <= 20
        cut += int((stands == 0).any())
    assert cut, "some teams of the parents do not fit together"


def test_the_best_survive_and_twins_are_not_taken() -> None:
    here = np.zeros(1, dtype=np.int64)

    def one(*values: float) -> Individual:
        return Individual(here, here, values)

    population = Population(3)
    assert all(population.add(one(0.0, value)) for value in (5.0, 3.0, 4.0))
    assert not population.add(one(0.0, 3.0)), "a twin"
    assert not population.add(one(0.0, 9.0)), "worse than all"
    assert not population.add(one(1.0, 0.0)), "breaks a rule"
    assert population.add(one(0.0, 1.0))
    assert population.best.values == (0.0, 1.0)
    assert {member.values[1] for member in population.members} == {1.0, 3.0, 4.0}
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = population.parents(rng)
        assert first is not second
