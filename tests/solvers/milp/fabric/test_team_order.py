"""Ordering identical teams keeps one plan of each set that differs by exchanging teams, and starts follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import assignment_of
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import PlacedGroup, Plan
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.milp.build import build
from allocator.solvers.milp.columns import start_values
from allocator.solvers.milp.fabric.team_order import in_team_order, order_teams
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import compile_matrix
from tests.oracle.brute_force import brute_force

TRAFFIC = Model("teams", "", levels=(Level((Goal(GoalId.TRAFFIC),)),))
PLACED = Model("teams", "", levels=(Level((Goal(GoalId.PLACED),)), Level((Goal(GoalId.TRAFFIC),))))


def teams(*, count: int = 3, size: int = 3, slots: int = 3, extra: dict[str, Any] | None = None) -> Instance:
    """Identical teams of one class on four hosts in two racks."""
    hosts = [{"level": "host", "name": f"h{h}", "kind": "k", "capacity": {"slots": slots}} for h in range(2)]
    return instance_from_dict(
        {
            "format": "allocator/v1",
            "name": "teams",
            "resources": {"slots": {"role": "other"}},
            "topology": [{"level": "rack", "name": f"r{q}", "children": hosts} for q in range(2)],
            "workloads": [{"class": "a", "count": count * size, "requests": {"slots": 1}}],
            "teams": [{"team": "t", "count": count, "members": {"a": size}, "traffic": {"rate": "3 bit/s"}}],
            **(extra or {}),
        }
    )


@pytest.mark.parametrize("model", [TRAFFIC, PLACED], ids=["all placed", "some left out"])
@pytest.mark.parametrize("slots", [2, 3])
def test_the_optimum_is_that_of_enumeration(model: Model, slots: int) -> None:
    instance = teams(slots=slots)
    truth = brute_force(instance, model)
    result = solve(instance, model, method="milp", time_limit=60, threads=1)
    assert [level.value for level in result.levels] == list(truth.values) or not truth.feasible
    assert (result.status == "infeasible") == (not truth.feasible)


def test_one_of_the_plans_that_exchange_teams_satisfies_the_rows() -> None:
    compiled = compile_instance(teams(), TRAFFIC)
    form, objectives = build(compiled, Limits(60).start())
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    order_teams(form, matrix, run)
    assert run.solver.getNumRow() == len(matrix.row_lower) + 2
    option = compiled.options_of(0)[0]
    blocks = [team.blocks[0] for team in compiled.teams]
    counts = {
        (blocks[0], option, 2): 3,
        (blocks[1], option, 0): 1,
        (blocks[1], option, 3): 2,
        (blocks[2], option, 0): 2,
    }
    counts[blocks[2], option, 1] = 1
    ordered = in_team_order(form, counts)
    in_first_rack = [sum(ordered.get((b, option, node), 0) for node in (0, 1)) for b in blocks]
    assert in_first_rack == [3, 1, 0]
    assert sorted(ordered.values()) == sorted(counts.values())
    assert level_values(compiled, Assignment(ordered)) == level_values(compiled, Assignment(counts))
    per_node = [np.zeros(4, dtype=int), np.zeros(4, dtype=int)]
    for total, plan in zip(per_node, (counts, ordered), strict=True):
        for (_, _, node), count in plan.items():
            total[node] += count
    assert (per_node[0] == per_node[1]).all()


def test_teams_that_differ_are_not_ordered() -> None:
    moved = {"flows": [{"from": "a", "to": "a", "pattern": "ring", "rate": "1 bit/s"}]}
    compiled = compile_instance(teams(extra=moved), TRAFFIC)
    form, objectives = build(compiled, Limits(60).start())
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    order_teams(form, matrix, run)
    assert run.solver.getNumRow() == len(matrix.row_lower)


def test_a_start_in_another_order_is_never_lost() -> None:
    """Teams of three fit a host each: traffic 0, stated with the team of the first rack last."""
    instance = teams()
    groups = tuple(
        PlacedGroup("a", 3 * team, 3, "default", (host,) * 3, {"slots": 3})
        for team, host in enumerate(["r1/h0", "r1/h1", "r0/h0"])
    )
    compiled = compile_instance(instance, TRAFFIC)
    form, objectives = build(compiled, Limits(60).start())
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    order_teams(form, matrix, run)
    counts, shares, theta = assignment_of(compiled, Plan(instance.name, instance.digest, groups))
    values = start_values(form, matrix, Assignment(counts, shares, theta))
    assert values is not None
    for entry in form.entries:
        value = float(values[entry.variable.column])
        run.solver.changeColBounds(entry.variable.column, value, value)
    outcome = run.run(
        matrix.objectives[0],
        minimise=True,
        budget=Limits(60).start(),
        relative_gap=0.0,
        absolute_gap=0.0,
        start=None,
        on_incumbent=lambda value: None,
        on_bound=lambda value: None,
    )
    assert outcome.stop == "optimal"
    assert outcome.bound == 0
