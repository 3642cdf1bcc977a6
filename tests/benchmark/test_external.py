"""Methods of others: they see the same problem, and what they answer is judged like everything else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from allocator.benchmark.external import EXTERNAL, external_method
from allocator.benchmark.external.program import Program, ProgramAnswer, ProgramMethod
from allocator.benchmark.external.scheduler import scores
from allocator.checker import check
from allocator.errors import ArgumentError, MethodRefused
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.plan.result import Status
from allocator.solve import solve
from tests.benchmark.small_instances import documents

PROGRAMS = ("external:highs", "external:cpsat", "external:scip")
CASES = ("precision-modes", "gangs", "kinds-and-zones", "reserve", "task-rates")
CONTINUOUS = ("reserve", "task-rates")


def small(name: str) -> Any:
    return instance_from_dict(documents()[name])


@pytest.mark.parametrize("case", CASES)
def test_three_solvers_on_the_exported_program_agree_with_the_exact_method(case: str) -> None:
    instance = small(case)
    truth = solve(instance, method="milp", threads=1)
    assert truth.status is Status.OPTIMAL
    expected = truth.levels[0].value
    assert expected is not None
    for name in PROGRAMS:
        result = solve(instance, method=external_method(name), threads=1)
        assert result.method == name
        value, bound = result.levels[0].value, result.levels[0].bound
        assert value is not None, name
        if name == "external:cpsat" and case in CONTINUOUS:  # it knows whole numbers only
            assert bound is None
            assert result.status is Status.FEASIBLE
            continue
        assert bound is not None, name
        assert float(value) == pytest.approx(float(expected), rel=1e-6), name
        assert float(bound) == pytest.approx(float(expected), rel=1e-6), name
        assert result.size["variables"] == truth.size["variables"]
        assert result.plan is not None
        assert check(instance, load_model(instance.model), result.plan).feasible


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_instance_without_a_plan_is_called_infeasible(name: str) -> None:
    document = documents()["kinds-and-zones"]
    document["workloads"] = [*document["workloads"] * 1, {"class": "huge", "requests": {"cpu": 13}}]
    document["topology"][1]["children"][0]["capacity"]["cpu"] = 13
    document["workloads"][-1]["count"] = 4
    result = solve(instance_from_dict(document), method=external_method(name), threads=1)
    assert result.status is Status.INFEASIBLE


def test_later_levels_have_a_value_and_no_bound() -> None:
    result = solve(small("fair-rates"), method=external_method("external:highs"), threads=1)
    assert result.status is Status.FEASIBLE
    assert result.levels[1].value is not None
    assert result.levels[1].bound is None


def test_a_solver_is_told_to_hurry_and_its_bound_is_rounded_to_what_can_be() -> None:
    seen: list[Program] = []

    def solver(program: Program) -> ProgramAnswer:
        seen.append(program)
        program.tell(60.0, 41.2)
        return ProgramAnswer(Status.UNKNOWN, None, 41.2, "stopped", {})

    events: list[Any] = []
    method = ProgramMethod("external:test", solver)
    result = solve(
        small("kinds-and-zones"), method=method, time_limit=30, seed=3, threads=1, listeners=(events.append,)
    )
    assert result.status is Status.UNKNOWN
    assert result.levels[0].bound == 42
    assert (seen[0].seed, seen[0].threads) == (3, 1)
    assert 0 < seen[0].seconds <= 30
    assert ("incumbent", 60.0) in [(event.kind, event.value) for event in events]


def test_unknown_names_are_told() -> None:
    with pytest.raises(ArgumentError, match="external:highs"):
        external_method("external:gurobi")
    assert {external_method(name).name for name in EXTERNAL} == set(EXTERNAL)


# ---------------------------------------------------------------- the scheduler


def test_scores_by_hand() -> None:
    # two nodes: 3 of 4 cores and 8 of 16 GiB, and 1 of 4 and 4 of 16; the third resource is not asked for
    requested = np.array([[3, 8, 9], [1, 4, 9]])
    allocatable = np.array([[4, 16, 10], [4, 16, -1]])
    asked = np.array([[True, True, False]] * 2)
    # the fractions are 3/4 and 1/2, which deviate by 1/8 from their mean, and 1/4 twice
    assert scores(requested, allocatable, asked, most=True).tolist() == [(75 + 50) // 2 + 87, 25 + 100]
    assert scores(requested, allocatable, asked, most=False).tolist() == [(25 + 50) // 2 + 87, 75 + 100]
    assert scores(requested, allocatable, np.zeros_like(asked), most=True).tolist() == [0, 0]


def one_rack(nodes: int, *requests: str, **more: Any) -> Any:
    return instance_from_dict(
        {
            "format": "allocator/v1",
            "model": "place",
            "topology": [{"level": "node", "name": "n", "count": nodes, "kind": "k", "capacity": {"cpu": 4}}],
            "workloads": [{"class": f"c{i}", "requests": {"cpu": cpu}} for i, cpu in enumerate(requests)],
            **more,
        }
    )


def nodes_of(result: Any) -> dict[str, str]:
    return {workload: node for workload, _, _, node in result.plan.members()}


def test_best_fit_fills_and_least_allocated_spreads_in_file_order() -> None:
    instance = one_rack(3, "1", "1", "2")
    full = nodes_of(solve(instance, method=external_method("external:best-fit")))
    assert len(set(full.values())) == 1
    spread = nodes_of(solve(instance, method=external_method("external:least-allocated")))
    assert len(set(spread.values())) == 3


def test_there_is_no_look_ahead() -> None:
    # 1 1 3 3 on two nodes of 4: best fit puts the small ones together and leaves one large one out
    result = solve(one_rack(2, "1", "1", "3", "3"), method=external_method("external:best-fit"))
    assert result.levels[0].value == 3
    assert solve(one_rack(2, "1", "1", "3", "3"), method="milp").levels[0].value == 4


def test_ties_are_broken_by_the_seed() -> None:
    instance = one_rack(6, "1")
    method = external_method("external:best-fit")
    chosen = {seed: nodes_of(solve(instance, method=method, seed=seed))["c0"] for seed in range(12)}
    assert len(set(chosen.values())) > 1
    assert nodes_of(solve(instance, method=method, seed=5))["c0"] == chosen[5]


def test_what_runs_stays_and_a_team_that_is_not_complete_is_taken_back() -> None:
    current = [{"class": "c1", "first": 0, "count": 1, "node": "n1"}]
    result = solve(one_rack(2, "1", "2", current=current), method=external_method("external:best-fit"))
    assert nodes_of(result)["c1"] == "n1"
    team = [{"team": "t", "members": {"c0": 1, "c1": 1}, "traffic": {"rate": "1 bit/s"}}]
    result = solve(one_rack(1, "3", "2", "1", teams=team), method=external_method("external:best-fit"))
    assert nodes_of(result) == {"c2": "n0"}


def test_nobody_may_be_left_out_where_the_model_does_not_say_so() -> None:
    result = solve(one_rack(1, "3", "2"), "consolidate", method=external_method("external:best-fit"))
    assert (result.status, result.plan) == (Status.UNKNOWN, None)


@pytest.mark.parametrize("case", sorted(documents()))
def test_its_plans_hold_or_it_refuses(case: str) -> None:
    instance = small(case)
    try:
        result = solve(instance, method=external_method("external:best-fit"))
    except MethodRefused:
        return
    assert result.levels[0].bound is None
    if result.plan is not None:
        assert check(instance, load_model(instance.model), result.plan).feasible


def test_power_is_not_understood() -> None:
    document = documents()["night"]
    document["topology"][0]["capacity"] = {"power": "100 W"}
    with pytest.raises(MethodRefused, match="power"):
        solve(instance_from_dict(document), method=external_method("external:best-fit"))


def test_values_are_exact() -> None:
    result = solve(small("kinds-and-zones"), method=external_method("external:scip"), threads=1)
    assert isinstance(result.levels[0].value, Fraction)
    assert result.status is Status.OPTIMAL
