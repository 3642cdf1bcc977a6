"""The stage ``assignment``: when it applies, and that its plans and bounds stand before the checker."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.instance.entities import Conflict, Demand, Instance, Mode
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.decomposition.assignment.extract import member_assignment
from allocator.solvers.decomposition.assignment.stage import AssignmentSearch
from allocator.solvers.decomposition.stage import StageAnswer
from allocator.solvers.recorder import Recorder
from tests.builders import build, group, model, node, plan, workload

COST = model("cost")


def first_level(instance: Instance, goals: Model, assignment: Assignment) -> Fraction:
    compiled = compile_instance(instance, goals)
    made = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
    evaluation = check(instance, goals, made)
    assert evaluation.feasible, evaluation.violations
    value = evaluation.levels[0]
    assert value is not None
    return value


def both_parts(instance: Instance, goals: Model, start: Assignment | None = None) -> tuple[StageAnswer, StageAnswer]:
    compiled = compile_instance(instance, goals)
    stage = AssignmentSearch()
    assert stage.applies(compiled)
    budget = Limits(20).start()
    recorder = Recorder(budget.elapsed)
    quick = stage.run(compiled, budget=budget, recorder=recorder, start=start, seed=0, threads=1)
    after = stage.run_after(
        compiled, budget=budget, recorder=recorder, incumbent=quick.assignment, bound=quick.bound, seed=0, threads=1
    )
    return quick, after


def random_instance(seed: int) -> Instance:
    """Up to three nodes of different kinds, three classes of up to two members, fractional costs also below 0."""
    rng = np.random.default_rng(seed)
    kinds = ("k0", "k1", "k2")[: int(rng.integers(1, 4))]
    hosts = [
        node(f"h{kind}", kind=kind, capacity={"cpu": int(rng.integers(6, 16)), "memory": 10**12}) for kind in kinds
    ]
    classes = []
    for w in range(int(rng.integers(1, 4))):
        demand = {
            kind: Demand({"cpu": int(rng.integers(1, 8)), "memory": int(rng.integers(1, 5)) * 10**11}) for kind in kinds
        }
        cost = {kind: Fraction(int(rng.integers(-10, 20)), int(rng.integers(1, 4))) for kind in kinds}
        modes = [Mode("default", Demand(), demand)]
        classes.append(workload(f"w{w}", int(rng.integers(1, 3)), modes=modes, cost=cost))
    return build(*hosts, workloads=classes)


def cheapest(instance: Instance, goals: Model) -> Fraction | None:
    """By the checker, over all plans."""
    paths = [host.path for host in instance.nodes]
    best: Fraction | None = None
    for spots in itertools.product(paths, repeat=instance.num_members):
        left = iter(spots)
        where = {w.name: [next(left) for _ in range(w.count)] for w in instance.workloads}
        evaluation = check(instance, goals, plan(instance, where))
        value = evaluation.levels[0] if evaluation.feasible else None
        if value is not None and (best is None or value < best):
            best = value
    return best


@pytest.mark.parametrize("seed", range(60))
def test_values_and_bounds_against_all_plans(seed: int) -> None:
    instance = random_instance(seed)
    goals = Model("m", "", (Level((Goal(GoalId.COST, Fraction(3, 2)),)),))
    if not AssignmentSearch().applies(compile_instance(instance, goals)):
        pytest.skip("a member fits no node")
    best = cheapest(instance, goals)
    quick, after = both_parts(instance, goals)
    if best is None:
        assert quick.assignment is None
        assert after.assignment is None
        return
    assert quick.bound is not None
    assert quick.bound <= best
    if quick.assignment is not None:
        assert first_level(instance, goals, quick.assignment) >= best
    assert after.optimal
    assert after.assignment is not None
    assert first_level(instance, goals, after.assignment) == after.bound == best


def test_a_start_is_kept_when_it_is_better_and_ignored_when_it_breaks_a_capacity() -> None:
    host = [node("a", capacity={"cpu": 2}, kind="a"), node("b", capacity={"cpu": 9}, kind="b")]
    instance = build(*host, workloads=[workload("w", 2, {"cpu": 2}, cost={"a": Fraction(1), "b": Fraction(5)})])
    broken = Assignment({(0, 0, 0): 2})
    for start in (None, broken, Assignment({(0, 0, 1): 2})):
        quick, after = both_parts(instance, COST, start)
        assert after.optimal
        assert quick.assignment is not None
        assert after.assignment is not None
        assert first_level(instance, COST, after.assignment) == 6


def hosts(**fields: Any) -> list[Any]:
    return [node("h0", **{"capacity": {"cpu": 10}, **fields}), node("h1", **{"capacity": {"cpu": 10}, **fields})]


PAID = {"default": Fraction(1)}
ONE = [workload("a", 3, {"cpu": 2}, cost=PAID)]


@pytest.mark.parametrize(
    ("instance", "goals"),
    [
        (build(*hosts(), workloads=ONE), model("nodes")),
        (build(*hosts(), workloads=ONE), model("cost", "placed")),
        (build(*hosts(), workloads=ONE), model("cost", "nodes", together=True)),
        (build(*hosts(), workloads=[workload("a", 3, {"cpu": 2})]), COST),
        (build(group("rack", "r", *hosts(), capacity={"cpu": 15}), workloads=ONE), COST),
        (build(*hosts(), workloads=ONE, conflicts=(Conflict("a", "node", 1),)), COST),
        (build(*hosts(), workloads=ONE, current={"a": ["h0", None, None]}), COST),
        (build(*hosts(), workloads=[workload("a", 1, {"cpu": 11}, cost=PAID)]), COST),
        (build(*hosts(), workloads=[]), COST),
        (build(*hosts(), workloads=[workload("a", 4000, {"cpu": 0}, cost=PAID)]), COST),
        (
            build(
                *hosts(),
                workloads=[
                    workload("a", 1, cost=PAID, modes=[Mode("x", Demand({"cpu": 1})), Mode("y", Demand({"cpu": 2}))])
                ],
            ),
            COST,
        ),
    ],
)
def test_anything_else_is_left_to_others(instance: Instance, goals: Model) -> None:
    assert not AssignmentSearch().applies(compile_instance(instance, goals))


def test_numbers_too_large_hand_on_what_is_known() -> None:
    """Costs of more than 31 bits beside each other are left to the exact model."""
    host = [node("a", capacity={"cpu": 9}, kind="a"), node("b", capacity={"cpu": 9}, kind="b")]
    cost = {"a": Fraction(1, 10**12), "b": Fraction(10**12)}
    instance = build(
        *host, workloads=[workload("w", 2, {"cpu": 2}, cost=cost), workload("v", 1, cost={"a": Fraction(1)})]
    )
    start = Assignment({(0, 0, 0): 2, (1, 1, 1): 1})
    quick, after = both_parts(instance, COST, start)
    assert quick == after == StageAnswer(start, None, optimal=False)


def test_noise_of_a_given_bound_is_not_rounded_up() -> None:
    """A bound a millionth of a millionth above a whole number does not become the next one."""
    host = [node("a", capacity={"cpu": 2}, kind="a"), node("b", capacity={"cpu": 9}, kind="b")]
    instance = build(*host, workloads=[workload("w", 2, {"cpu": 2}, cost={"a": Fraction(1, 3), "b": Fraction(2, 3)})])
    members = member_assignment(compile_instance(instance, COST))
    assert members is not None
    assert members.value(1) == 1
    assert members.cost(Fraction(1)) == 1
    assert members.cost(Fraction(1) + Fraction(1, 10**12)) == 1
    assert members.cost(Fraction(1) + Fraction(1, 1000)) == 2


def test_the_exact_model_gets_less_time_where_jobs_a_node_are_few() -> None:
    few = compile_instance(build(*hosts(), workloads=[workload("a", 24, {"cpu": 0}, cost=PAID)]), COST)
    many = compile_instance(build(*hosts(), workloads=[workload("a", 25, {"cpu": 0}, cost=PAID)]), COST)
    assert 0 < AssignmentSearch().exact_share(few) < AssignmentSearch().exact_share(many) < 1
