"""What HiGHS says is read by a table: an unmapped status raises, an answer that contradicts itself is asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import highspy
import numpy as np
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.errors import InternalError
from allocator.instance import instance_from_dict
from allocator.solvers.budget import Limits
from allocator.solvers.milp import highs
from allocator.solvers.milp.build import build
from allocator.solvers.milp.highs import HighsRun, Outcome, Stop
from allocator.solvers.milp.matrix import compile_matrix
from tests.builders import build as build_instance
from tests.builders import model, node, workload
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import disagreement
from tests.oracle.random_instances import random_case

STATUSES = sorted(name for name in dir(highspy.HighsModelStatus) if name.startswith("k"))


def small_run() -> tuple[HighsRun, np.ndarray]:
    """Three members of 2 on two nodes of 4 and one unit of cost a member on the second node."""
    nodes = [node("n", capacity={"cpu": 4}), node("m", capacity={"cpu": 4})]
    instance = build_instance(*nodes, workloads=[workload("a", 3, {"cpu": 2}, cost={"m": 1})])  # type: ignore[dict-item]
    form, objectives = build(compile_instance(instance, model("cost")), Limits().start())
    matrix = compile_matrix(form, objectives)
    return HighsRun(matrix, seed=0, threads=1), matrix.objectives[0]


def minimised(run: HighsRun, cost: np.ndarray, **options: Any) -> Outcome:
    return run.run(
        cost,
        minimise=True,
        budget=Limits(20).start(),
        relative_gap=0.0,
        absolute_gap=0.0,
        start=None,
        on_incumbent=lambda value: None,
        on_bound=lambda bound: None,
        **options,
    )


def ends_with(status: str) -> Callable[..., Any]:
    return lambda *arguments: getattr(highspy.HighsModelStatus, status)


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_mapped_or_raises_and_none_without_a_solution_is_optimal(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, cost = small_run()
    monkeypatch.setattr(HighsRun, "_run_watched", ends_with(status))
    known = getattr(highspy.HighsModelStatus, status) in highs._STATUS
    if not known or status == "kUnbounded":
        with pytest.raises(InternalError, match=r"status this package does not know|unbounded"):
            minimised(run, cost)
        return
    outcome = minimised(run, cost)
    assert outcome.solution is None, "HiGHS never ran"
    if outcome.stop is Stop.OPTIMAL:
        assert status in {"kOptimal", "kModelEmpty", "kObjectiveBound", "kObjectiveTarget"}


def test_a_status_that_is_not_in_the_table_raises_instead_of_claiming_success(monkeypatch: pytest.MonkeyPatch) -> None:
    run, cost = small_run()
    table = {status: stop for status, stop in highs._STATUS.items() if stop is not Stop.OPTIMAL}
    monkeypatch.setattr(highs, "_STATUS", table)
    with pytest.raises(InternalError, match=r"does not know: HighsModelStatus\.kOptimal"):
        minimised(run, cost)


def test_an_answer_that_contradicts_itself_is_asked_again_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = HighsRun._contradicts_itself, []

    def once(self: HighsRun, cost: np.ndarray, outcome: Outcome) -> bool:
        calls.append(outcome)
        return len(calls) == 1 or real(self, cost, outcome)

    monkeypatch.setattr(HighsRun, "_contradicts_itself", once)
    run, cost = small_run()
    outcome = minimised(run, cost)
    assert len(calls) >= 2
    assert outcome.stop is Stop.OPTIMAL
    assert outcome.solution is not None
    assert cost @ outcome.solution == pytest.approx(1)


def test_an_answer_that_keeps_contradicting_itself_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HighsRun, "_contradicts_itself", lambda self, cost, outcome: True)
    run, cost = small_run()
    with pytest.raises(InternalError, match="objective that its solution does not have"):
        minimised(run, cost)


def test_a_contradiction_is_an_objective_that_the_solution_does_not_have() -> None:
    run, cost = small_run()
    outcome = minimised(run, cost)
    assert not run._contradicts_itself(cost, outcome)
    assert outcome.solution is not None
    assert run._contradicts_itself(cost, Outcome(Stop.OPTIMAL, outcome.solution + 1, outcome.bound))
    assert not run._contradicts_itself(cost, Outcome(Stop.TIME_LIMIT, None, None))


@pytest.mark.parametrize("seed", [93])
def test_instances_on_which_the_solver_once_contradicted_itself(seed: int) -> None:
    """Found by comparing with exhaustive search: presolve mapped a start to an objective it does not have."""
    case = random_case(seed)
    instance = instance_from_dict(case.document)
    result = solve(instance, case.model, method="milp", threads=1, seed=0)
    assert disagreement(result, brute_force(instance, case.model), case.model) is None


def test_later_runs_have_their_whole_time_though_the_solver_counts_all_runs_together() -> None:
    run, cost = small_run()
    for _ in range(3):
        assert minimised(run, cost).stop is Stop.OPTIMAL
    assert minimised(run, -cost).solution is not None


def test_a_row_added_between_runs_holds() -> None:
    run, cost = small_run()
    first = minimised(run, cost)
    assert first.solution is not None
    (dear,) = np.nonzero(cost)[0]
    run.add_row(2.0, np.inf, {int(dear): 1.0})
    second = minimised(run, cost)
    assert second.solution is not None
    assert (cost @ first.solution, cost @ second.solution) == (pytest.approx(1), pytest.approx(2))


def test_the_console_stays_silent(capfd: pytest.CaptureFixture[str]) -> None:
    run, cost = small_run()
    minimised(run, cost)
    assert capfd.readouterr().out == ""
