"""One greedy pass: feasible by the checker or nothing; teams and gangs whole; ties by fit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from allocator import solve
from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.errors import UnsupportedFamily
from allocator.instance.entities import Conflict, Distances, Gang, Instance, Power
from allocator.model.entities import Model
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.greedy import GreedyMethod
from allocator.solvers.recorder import Recorder
from allocator.solvers.support import used_families
from tests.builders import build, group, model, node, team, workload
from tests.solvers.random_assignments import compiled_case

F = Fraction


def greedily(instance: Instance, goals: Model, start: Assignment | None = None) -> Answer:
    """The answer of the method alone."""
    compiled = compile_instance(instance, goals)
    return GreedyMethod().solve(
        compiled, budget=Limits().start(), recorder=Recorder(lambda: 0.0), start=start, seed=0, threads=1, gap=0.0
    )


def where(instance: Instance, goals: Model, **arguments: Any) -> dict[str, list[str]]:
    """Nodes of the placed members by class, in order of number."""
    result = solve(instance, goals, method="greedy", **arguments)
    assert result.plan is not None
    found: dict[str, list[str]] = {}
    for name, _, _, path in sorted(result.plan.members()):
        found.setdefault(name, []).append(path)
    return found


@pytest.mark.parametrize("block", range(4))
def test_a_greedy_plan_is_feasible_or_there_is_none(block: int) -> None:
    """The checker is the judge, and the claimed values are its values."""
    plans = tried = 0
    for seed in range(block, 600, 4):
        compiled, _ = compiled_case(seed)
        method = GreedyMethod()
        if not used_families(compiled.instance, compiled.model) <= method.support.families:
            continue
        answer = method.solve(
            compiled, budget=Limits().start(), recorder=Recorder(lambda: 0.0), start=None, seed=0, threads=1, gap=0.0
        )
        tried += 1
        assert answer.bounds == (None,) * len(compiled.model.levels), "one pass proves nothing"
        if answer.assignment is None:
            assert answer.status is Status.UNKNOWN
            continue
        found = answer.assignment
        evaluation = check(
            compiled.instance, compiled.model, plan_of(compiled, found.counts, found.shares, found.theta)
        )
        assert evaluation.feasible, f"seed {seed}: {evaluation.violations[0]}"
        assert answer.claims == evaluation.levels, f"seed {seed}"
        assert answer.status is Status.FEASIBLE
        plans += 1
    assert tried > 60
    assert plans > 0.6 * tried


@pytest.mark.parametrize("family", [Family.SPREAD, Family.DEPENDENCY, Family.MOVE_LIMIT, Family.RESERVE])
def test_rules_that_one_pass_cannot_promise_are_refused_before_placing(family: Family) -> None:
    assert family not in GreedyMethod().support.families
    for seed in range(400):
        compiled, _ = compiled_case(seed)
        if family in used_families(compiled.instance, compiled.model):
            with pytest.raises(UnsupportedFamily) as caught:
                solve(compiled.instance, compiled.model, method="greedy")
            assert family in caught.value.families
            return
    raise AssertionError("no instance uses the family")


def test_goals_that_save_pack_tightly_and_goals_that_spread_leave_room() -> None:
    nodes = [node(name, capacity={"cpu": size}) for name, size in (("big", 9), ("small", 4))]
    instance = build(*nodes, workloads=[workload("a", 1, {"cpu": 3})])
    assert where(instance, model("nodes")) == {"a": ["small"]}
    assert where(instance, model("peak")) == {"a": ["big"]}


def test_large_members_are_placed_before_small_ones() -> None:
    """In order of the file the small ones would fill the node that the large one needs."""
    nodes = [node("n0", capacity={"cpu": 4}), node("n1", capacity={"cpu": 4})]
    instance = build(*nodes, workloads=[workload("small", 4, {"cpu": 1}), workload("large", 1, {"cpu": 4})])
    found = where(instance, model("peak"))
    assert len(set(found["large"]) & set(found["small"])) == 0


def test_members_that_talk_stand_together_by_tree_or_by_matrix() -> None:
    racks = [group("rack", f"r{i}", *(node(f"n{j}", capacity={"cpu": 1}) for j in range(2))) for i in range(2)]
    paths = ["r0/n0", "r0/n1", "r1/n0", "r1/n1"]
    classes = [workload("a", 2, {"cpu": 1})]
    teams = (team("t", 1, {"a": 2}, 5),)
    (found,) = where(build(*racks, workloads=classes, teams=teams), model("traffic")).values()
    assert found[0][:2] == found[1][:2], "one rack"
    near = {(p, q): F(0 if {p, q} == {"r0/n0", "r1/n1"} or p == q else 9) for p in paths for q in paths}
    instance = build(*racks, workloads=classes, teams=teams, distances=Distances(near))
    assert sorted(where(instance, model("traffic"))["a"]) == ["r0/n0", "r1/n1"]


def test_cost_decides_where_it_is_a_goal() -> None:
    nodes = [node("n", capacity={"cpu": 9}), node("m", kind="cheap", capacity={"cpu": 9})]
    instance = build(*nodes, workloads=[workload("a", 2, {"cpu": 1}, cost={"k": F(3), "cheap": F(2)})])
    assert where(instance, model("cost")) == {"a": ["m", "m"]}


def test_members_stay_where_they_run_when_nothing_else_decides() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 4}) for i in range(3)]
    instance = build(*nodes, workloads=[workload("a", 3, {"cpu": 1})], current={"a": ["n2", "n2", "n1"]})
    assert where(instance, model("moves")) == {"a": ["n2", "n2", "n1"]}


def test_gangs_take_distinct_nodes_of_one_domain_and_a_team_that_does_not_fit_leaves_nothing_behind() -> None:
    racks = [
        group("rack", f"r{i}", *(node(f"n{j}", capacity={"cpu": 2}) for j in range(size)))
        for i, size in enumerate((2, 3))
    ]
    gang = workload("g", 3, {"cpu": 1}, gang=Gang(3, "rack"))
    assert {path[:2] for path in where(build(*racks, workloads=[gang]), model("placed"))["g"]} == {"r1"}
    crowd = build(
        *racks,
        workloads=[workload("a", 3, {"cpu": 2}), workload("b", 4, {"cpu": 2})],
        teams=(team("t", 1, {"a": 3, "b": 3}, 1),),
    )
    assert where(crowd, model("placed")) == {"b": ["r0/n0"]}, "6 members of a team do not fit on 5 nodes, 1 other does"


def test_conflicts_hold_at_every_level_and_for_groups_of_classes() -> None:
    racks = [group("rack", f"r{i}", node("n0", capacity={"cpu": 9}), node("n1", capacity={"cpu": 9})) for i in range(2)]
    classes = [workload("a", 1, {"cpu": 1}, group="g"), workload("b", 2, {"cpu": 1}, group="g")]
    rules = (Conflict("g", "rack", 2), Conflict("g", "host", 1))
    found = where(build(*racks, workloads=classes, conflicts=rules), model("nodes"))
    assert len({path for paths in found.values() for path in paths}) == 3


def test_who_must_be_placed_and_is_not_makes_no_plan_and_who_may_be_left_out_is() -> None:
    instance = build(node("n", capacity={"cpu": 2}), workloads=[workload("a", 3, {"cpu": 1})])
    assert greedily(instance, model("cost")).assignment is None
    answer = greedily(instance, model("placed"))
    assert answer.claims == (F(2),)


def test_floors_that_break_a_power_cap_make_no_plan() -> None:
    power = Power(F(10), F(30))
    for cap, fits in ((29, False), (30, True)):
        rack = group("rack", "r", node("n", capacity={"cpu": 2}, power=power), capacity={"power": cap})
        answer = greedily(build(rack, workloads=[workload("a", 2, {"cpu": 1})]), model("cost"))
        assert (answer.assignment is not None) == fits


def test_a_start_that_is_better_is_kept_and_a_worse_one_is_not() -> None:
    """Greedy places the dear one first and alone; two cheap ones are worth more together."""
    classes = [workload("dear", 1, {"cpu": 4}, value=3), workload("cheap", 2, {"cpu": 2}, value=2)]
    instance = build(node("n", capacity={"cpu": 4}), workloads=classes)
    alone = greedily(instance, model("placed"))
    assert alone.claims == (F(3),)
    better = Assignment({(1, 1, 0): 2})
    assert greedily(instance, model("placed"), better).claims == (F(4),)
    assert greedily(instance, model("placed"), Assignment({(1, 1, 0): 1})).claims == (F(3),)
    stuck = build(node("n", capacity={"cpu": 4}), workloads=[workload("a", 2, {"cpu": 4})])
    kept = Assignment({(0, 0, 0): 1})
    assert greedily(stuck, model("cost"), kept).assignment is kept


def test_every_supported_goal_is_evaluated_on_the_greedy_plan() -> None:
    goals = GreedyMethod().support.goals
    assert GoalId.QUALITY not in goals
    instance = build(node("n", capacity={"cpu": 4}), workloads=[workload("a", 2, {"cpu": 1}, rate=1)])
    for goal in sorted(goals):
        assert greedily(instance, model(str(goal))).claims[0] is not None
