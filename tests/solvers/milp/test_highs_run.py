"""What HiGHS says is read by a table: an unmapped status raises, an answer that contradicts itself is asked again."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.errors import InternalError
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import GoalId
from allocator.solvers.budget import Limits
from allocator.solvers.milp import highs
from allocator.solvers.milp.build import build
from allocator.solvers.milp.highs import HighsRun, Outcome, Stop
from allocator.solvers.milp.matrix import compile_matrix
from tests.builders import build as build_instance
from tests.builders import model, node, workload
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import disagreement

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


def test_an_instance_on_which_the_solver_once_contradicted_itself() -> None:
    """Found by comparing with exhaustive search: presolve mapped a start to an objective that it does not have."""
    power = {"power": {"idle": "20 W", "busy": "20 W"}}
    racks = [
        {
            "level": "rack",
            "name": "r0",
            "uplink": {"bandwidth": "8 bit/s"},
            "children": [host("n0", 3, 4, 4), {**host("n2", 2, 2, 4), **power}],
        },
        {
            "level": "rack",
            "name": "r1",
            "uplink": {"oversubscription": 1},
            "pool": {"memory": 4},
            "children": [host("n1", 3, 3, 1), {**host("n3", 2, 1, 3), "power": {"idle": "5 W", "busy": "15 W"}}],
        },
    ]
    racks[0]["children"][1]["uplink"]["weight"] = 0  # type: ignore[index]
    modes = {"lean": {"requests": {"cpu": 1, "memory": 5}}, "fat": {"requests": {"cpu": 1, "memory": 2}}}
    work = {"rate": "2/s", "cpu": "500 ms", "parallel": 4}
    classes = [{"class": "c0", "count": 2, "modes": modes, "work": work}]
    together = {"members": {"c0": 2}, "traffic": {"pattern": "all-to-all", "rate": "1 bit/s"}}
    document = {
        "format": "allocator/v1",
        "name": "once",
        "topology": racks,
        "workloads": classes,
        "current": [],
        "teams": [{"team": "t", "count": 1, **together}],
        "flows": [{"from": "c0", "to": "c0", "pattern": "star", "rate": "1 bit/s"}],
    }
    first = Level((Goal(GoalId.PLACED, Fraction(5)), Goal(GoalId.POWER)), Slack(Fraction(1)))
    goals = Model("once", "", (first, Level((Goal(GoalId.CONGESTION),)), Level((Goal(GoalId.THROUGHPUT),))))
    instance = instance_from_dict(document)
    result = solve(instance, goals, method="milp", threads=1, seed=0)
    assert disagreement(result, brute_force(instance, goals), goals) is None


def host(name: str, cpu: int, memory: int, bandwidth: int) -> dict[str, Any]:
    """A node of the document."""
    capacity = {"cpu": cpu, "memory": memory}
    uplink = {"bandwidth": f"{bandwidth} bit/s"}
    return {"level": "node", "name": name, "kind": "a", "capacity": capacity, "uplink": uplink}


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
