"""The rows that strengthen traffic hold at every plan, the answers stay exact, and the bound rises."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import highspy
import numpy as np
import pytest

from allocator import solve
from allocator.model.entities import Model
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.use import overdrawn
from allocator.solvers.milp.build import build
from allocator.solvers.milp.fabric import node_pairs, together
from allocator.solvers.milp.fabric.strengthen import strengthen, with_root_bound
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun, Outcome, Stop
from allocator.solvers.milp.matrix import Matrix, compile_matrix
from allocator.solvers.quiet import QuietHighs
from tests.oracle.brute_force import brute_force
from tests.solvers.milp.fabric.pair_instances import (
    COST_AND_TRAFFIC,
    PLACED_THEN_TRAFFIC,
    compiled,
    pair_instance,
)


def strengthened(seed: int, model: Model, **arguments: Any) -> tuple[Formulation, Matrix, HighsRun]:
    """Formulation, matrix and a run that holds the rows of the last level."""
    budget = Limits(60).start()
    form, objectives = build(compiled(seed, model, **arguments), budget)
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    last = len(objectives) - 1
    strengthen(form, matrix, run, objectives[last], last, budget=budget, target=None)
    return form, matrix, run


def relaxation_value(run: HighsRun, cost: np.ndarray[Any, np.dtype[np.float64]], *, minimise: bool = True) -> float:
    outcome = run.relaxation().run(
        cost,
        minimise=minimise,
        budget=Limits(60).start(),
        relative_gap=0.0,
        absolute_gap=0.0,
        start=None,
        on_incumbent=lambda value: None,
        on_bound=lambda value: None,
    )
    assert outcome.bound is not None
    return outcome.bound


def placements(form: Formulation, *, leave_out: bool) -> list[dict[tuple[int, int, int], int]]:
    """Feasible placements of single members, a spread sample of those that enumeration finds."""
    choices: list[list[tuple[int, int, int] | None]] = [
        [(e.block, e.option, e.node) for e in entries] for entries in form.of_block
    ]
    if leave_out:
        choices = [[*options, None] for options in choices]
    every = list(product(*choices))
    found = []
    for spots in every[:: max(1, len(every) // 400)]:
        counts = {spot: 1 for spot in spots if spot is not None}
        if not overdrawn(form.compiled, counts, {}):
            found.append(counts)
    return found


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("model", [COST_AND_TRAFFIC, PLACED_THEN_TRAFFIC], ids=["all placed", "some left out"])
@pytest.mark.parametrize("seed", range(4))
def test_every_plan_satisfies_the_rows(seed: int, model: Model, matrix: bool) -> None:
    form, made, run = strengthened(seed, model, items=5, matrix=matrix, room=1.5)
    plans = placements(form, leave_out=model.may_leave_out)
    assert plans
    solver = QuietHighs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(run.solver.getLp())
    for counts in plans:
        for entry in form.entries:
            value = float(counts.get((entry.block, entry.option, entry.node), 0))
            solver.changeColBounds(made.columns[id(entry.variable)], value, value)
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, counts


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_enumeration(seed: int, matrix: bool) -> None:
    instance = pair_instance(seed, matrix=matrix, room=1.15 + 0.1 * (seed % 3))
    truth = brute_force(instance, COST_AND_TRAFFIC)
    result = solve(instance, COST_AND_TRAFFIC, method="milp", time_limit=60, threads=1)
    if truth.feasible:
        assert [level.value for level in result.levels] == list(truth.values)
        assert [level.bound for level in result.levels] == list(truth.values)
    else:
        assert result.status == "infeasible"


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("seed", range(100, 104))
def test_members_left_out_keep_the_optimum(seed: int, matrix: bool) -> None:
    instance = pair_instance(seed, items=6, matrix=matrix, room=0.8)
    truth = brute_force(instance, PLACED_THEN_TRAFFIC)
    result = solve(instance, PLACED_THEN_TRAFFIC, method="milp", time_limit=60, threads=1)
    assert [level.value for level in result.levels] == list(truth.values)


@pytest.mark.parametrize("matrix", [False, True])
def test_the_relaxation_rises_and_stays_below_the_optimum(matrix: bool) -> None:
    gains = []
    for seed in range(4):
        arguments: dict[str, Any] = {"matrix": matrix, "room": 1.2}
        truth = brute_force(pair_instance(seed, **arguments), COST_AND_TRAFFIC)
        if not truth.feasible:
            continue
        budget = Limits(60).start()
        form, objectives = build(compiled(seed, COST_AND_TRAFFIC, **arguments), budget)
        made = compile_matrix(form, objectives)
        scale = float(objectives[0].scale)
        plain = scale * relaxation_value(HighsRun(made, seed=0, threads=1), made.objectives[0])
        _, made, run = strengthened(seed, COST_AND_TRAFFIC, **arguments)
        strong = scale * relaxation_value(run, made.objectives[0])
        optimum = float(Fraction(truth.values[0]))
        assert plain - 1e-6 <= strong <= optimum + 1e-6
        gains.append((strong - plain) / max(1e-9, optimum - plain))
    assert len(gains) >= 3
    assert sum(gains) / len(gains) > 0.3  # of the gap of the plain relaxation


@pytest.mark.parametrize("matrix", [False, True])
def test_too_many_products_add_none(
    matrix: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, _, full = strengthened(1, COST_AND_TRAFFIC, matrix=matrix)
    monkeypatch.setattr(together, "MAX_PRODUCTS", 0)
    monkeypatch.setattr(node_pairs, "MAX_PRODUCTS", 0)
    _, made, few = strengthened(1, COST_AND_TRAFFIC, matrix=matrix)
    assert few.solver.getNumCol() == len(made.column_lower) < full.solver.getNumCol()
    instance = pair_instance(1, matrix=matrix)
    result = solve(instance, COST_AND_TRAFFIC, method="milp", time_limit=60, threads=1)
    assert [level.bound for level in result.levels] == list(brute_force(instance, COST_AND_TRAFFIC).values)


def test_lazy_definitions_are_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "MAX_DEFINED", 0)
    for seed in range(3):
        instance = pair_instance(seed, room=1.3)
        truth = brute_force(instance, COST_AND_TRAFFIC)
        result = solve(instance, COST_AND_TRAFFIC, method="milp", time_limit=60, threads=1)
        assert [level.bound for level in result.levels] == list(truth.values)


def test_the_bound_of_the_relaxation_counts_when_the_search_has_none() -> None:
    cut_short = Outcome(Stop.TIME_LIMIT, None, None)
    assert with_root_bound(cut_short, 3.0, minimise=True).bound == 3.0
    assert with_root_bound(cut_short, None, minimise=True).bound is None
    worse = Outcome(Stop.TIME_LIMIT, None, -10.0)
    assert with_root_bound(worse, 3.0, minimise=True).bound == 3.0
    assert with_root_bound(worse, 3.0, minimise=False).bound == -10.0


def test_levels_without_traffic_are_left_alone() -> None:
    budget = Limits(60).start()
    form, objectives = build(compiled(0, PLACED_THEN_TRAFFIC), budget)
    matrix = compile_matrix(form, objectives)
    run = HighsRun(matrix, seed=0, threads=1)
    strengthen(form, matrix, run, objectives[0], 0, budget=budget, target=None)
    assert run.solver.getNumCol() == len(matrix.column_lower)
    assert run.solver.getNumRow() == len(matrix.row_lower)
