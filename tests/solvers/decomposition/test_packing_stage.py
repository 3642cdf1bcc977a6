"""The stage ``packing``: when it applies, and that its plans and bounds stand before the checker."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import plan_of
from allocator.instance.entities import Conflict, Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.decomposition.packing.stage import Packing
from allocator.solvers.decomposition.stage import StageAnswer
from allocator.solvers.recorder import Recorder
from tests.builders import build, group, model, node, team, workload
from tests.solvers.bounds.tiny_packings import fewest_bins, random_packing

NODES = model("nodes")


def hosts(number: int, **fields: Any) -> list[Any]:
    fields = {"capacity": {"cpu": 10, "gpu": 4}, **fields}
    return [node(f"h{index}", **fields) for index in range(number)]


def run(compiled: Compiled, start: Assignment | None = None, recorder: Recorder | None = None) -> StageAnswer:
    budget = Limits(30).start()
    return Packing().run(
        compiled, budget=budget, recorder=recorder or Recorder(budget.elapsed), start=start, seed=0, threads=1
    )


def checked(instance: Instance, goals: Model, answer: StageAnswer) -> Fraction:
    """Value of the first level, after the checker accepted the plan."""
    assert answer.assignment is not None
    compiled = compile_instance(instance, goals)
    plan = plan_of(compiled, answer.assignment.counts, answer.assignment.shares, answer.assignment.theta)
    evaluation = check(instance, goals, plan)
    assert evaluation.feasible, evaluation.violations
    assert not plan.unplaced
    value = evaluation.levels[0]
    assert value is not None
    return value


@pytest.mark.parametrize("seed", range(40))
def test_plans_are_optimal_and_accepted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_packing(rng)
    names = ("cpu", "gpu", "memory")[: problem.num_resources]
    capacity = dict(zip(names, problem.capacity.tolist(), strict=True))
    classes = [
        workload(f"w{i}", int(units), dict(zip(names, row, strict=True)))
        for i, (units, row) in enumerate(zip(problem.demand, problem.sizes.tolist(), strict=True))
    ]
    classes.append(workload("twin", 2, dict(zip(names, problem.sizes[0].tolist(), strict=True))))
    classes.append(workload("nothing", 3))
    weight = Fraction(int(rng.integers(1, 5)), 3)
    instance = build(*hosts(int(problem.demand.sum()) + 2, capacity=capacity, weight=weight), workloads=classes)
    compiled = compile_instance(instance, NODES)
    assert Packing().applies(compiled)
    answer = run(compiled)
    demand = problem.demand.copy()
    demand[0] += 2
    assert answer.bound == weight * fewest_bins(replace(problem, demand=demand))
    assert answer.optimal
    assert checked(instance, NODES, answer) == answer.bound


def test_teams_and_members_that_need_nothing() -> None:
    classes = [workload("a", 4, {"cpu": 5}), workload("b", 2)]
    instance = build(*hosts(4), workloads=classes, teams=(team("t", 2, {"a": 2, "b": 1}, 5),))
    assert Packing().applies(compile_instance(instance, NODES))
    answer = run(compile_instance(instance, NODES))
    assert answer.optimal
    assert checked(instance, NODES, answer) == 2


def test_only_members_that_need_nothing() -> None:
    instance = build(*hosts(2), workloads=[workload("b", 5)])
    answer = run(compile_instance(instance, NODES))
    assert answer.optimal
    assert checked(instance, NODES, answer) == answer.bound == 1


def test_too_few_nodes_leave_a_bound_and_no_assignment() -> None:
    instance = build(*hosts(2), workloads=[workload("a", 3, {"cpu": 6})])
    answer = run(compile_instance(instance, NODES))
    assert answer == StageAnswer(None, Fraction(3), optimal=False)


def test_later_levels_keep_start_and_bound() -> None:
    both = model("nodes", "balance")
    instance = build(*hosts(4), workloads=[workload("a", 3, {"cpu": 6})])
    compiled = compile_instance(instance, both)
    assert Packing().applies(compiled)
    answer = run(compiled)
    assert checked(instance, both, answer) == answer.bound == 3


def test_a_better_start_is_handed_on() -> None:
    instance = build(*hosts(4), workloads=[workload("a", 2, {"cpu": 5})])
    compiled = compile_instance(instance, NODES)
    start = Assignment({(0, 0, 3): 2})
    budget = Limits().start()
    budget.interrupt()
    answer = Packing().run(compiled, budget=budget, recorder=Recorder(budget.elapsed), start=start, seed=0, threads=1)
    assert answer.assignment is not None
    assert checked(instance, NODES, answer) == 1


def test_the_recorder_hears_values_and_bounds() -> None:
    instance = build(*hosts(4, weight=Fraction(2)), workloads=[workload("a", 3, {"cpu": 6})])
    recorder = Recorder(lambda: 0.0)
    run(compile_instance(instance, NODES), recorder=recorder)
    last = recorder.trace[-1]
    assert (last.level, last.value, last.bound) == (0, 6.0, 6.0)


ONE = [workload("a", 3, {"cpu": 2})]


@pytest.mark.parametrize(
    ("instance", "goals"),
    [
        (build(*hosts(2), workloads=ONE), model("cost", "nodes")),
        (build(*hosts(2), workloads=ONE), model("nodes", "placed")),
        (build(*hosts(2), workloads=ONE), model("nodes", "cost", together=True)),
        (build(group("rack", "r", *hosts(2), capacity={"cpu": 15}), workloads=ONE), NODES),
        (build(*hosts(2), workloads=ONE, conflicts=(Conflict("a", "node", 1),)), NODES),
        (build(*hosts(2), workloads=ONE, current={"a": ["h0", None, None]}), NODES),
        (build(*hosts(2), workloads=[workload("a", 1, {"cpu": 11})]), NODES),
        (build(*hosts(2), workloads=[]), NODES),
        (build(*hosts(2, weight=Fraction(0)), workloads=ONE), NODES),
        (build(*hosts(2), workloads=ONE), Model("bare", "", ())),
    ],
)
def test_anything_else_is_left_to_others(instance: Instance, goals: Model) -> None:
    assert not Packing().applies(compile_instance(instance, goals))


def test_a_single_goal_in_a_level_of_its_own_weight() -> None:
    heavy = Model("heavy", "", (Level((Goal(GoalId.NODES, Fraction(5)),)),))
    instance = build(*hosts(4), workloads=[workload("a", 3, {"cpu": 6})])
    answer = run(compile_instance(instance, heavy))
    assert answer.bound == checked(instance, heavy, answer) == 15
