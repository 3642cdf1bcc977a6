"""One CP-SAT run: parameters, interruption, callbacks, status and exact bound. Knows nothing of allocation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ortools.sat.python import cp_model

from allocator.errors import InternalError
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.builder import Builder

__all__ = ["SECONDS_A_VARIABLE", "Controls", "Outcome", "run"]

POLL_SECONDS = 0.02
EXACT_DOUBLE = 2**53
MAX_CONFLICTS = 2**63 - 1
SECONDS_A_VARIABLE = 1e-5  # to hand a model over and to read a solution back


@dataclass(frozen=True, slots=True)
class Controls:
    """Parameters of a run. ``conflicts``: limit of conflicts, None for none."""

    seed: int
    threads: int
    gap: float
    conflicts: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """``values`` of all variables, None without a solution; ``bound`` of the integer objective, None if none is known.

    ``complete``: the search ended by itself (infeasible, optimal, or within the gap).
    """

    values: tuple[int, ...] | None
    bound: int | None
    complete: bool
    conflicts: int


class _Watcher(cp_model.CpSolverSolutionCallback):
    def __init__(self, report: Callable[[float], None], on_solution: Callable[[tuple[int, ...]], None] | None) -> None:
        super().__init__()
        self._report = report
        self._on_solution = on_solution

    def on_solution_callback(self) -> None:
        self._report(self.objective_value)
        if self._on_solution is not None:
            self._on_solution(tuple(self.response_proto.solution))


def run(
    builder: Builder,
    *,
    budget: Budget,
    controls: Controls,
    hint: Sequence[int] | None,
    on_value: Callable[[float], None],
    on_bound: Callable[[float], None],
    on_solution: Callable[[tuple[int, ...]], None] | None = None,
) -> Outcome:
    """Solve the model in its present state. The callbacks get values of the objective, its offset included.

    ``on_solution`` gets the values of all variables of a solution, where somebody wants them.

    Raises
    ------
    InternalError : on a model that CP-SAT calls invalid and on a status not known here.
    """
    solver = cp_model.CpSolver()
    _configure(solver.parameters, budget, controls, len(builder.variables))
    builder.model.clear_hints()  # type: ignore[no-untyped-call]
    for variable, value in zip(builder.variables, hint or (), strict=hint is not None):
        builder.model.add_hint(variable, value)
    has_objective = builder.model.has_objective()
    watcher = _Watcher(on_value, on_solution) if has_objective else None
    if has_objective:
        solver.best_bound_callback = on_bound
    status = _solve(solver, builder.model, watcher, budget)
    conflicts = solver.num_conflicts
    match status:
        case cp_model.OPTIMAL | cp_model.FEASIBLE:
            bound = _bound(solver, builder) if has_objective else None
            values = tuple(solver.response_proto.solution)
            return Outcome(values, bound, status == cp_model.OPTIMAL, conflicts)
        case cp_model.INFEASIBLE:
            return Outcome(None, None, complete=True, conflicts=conflicts)
        case cp_model.UNKNOWN:
            return Outcome(None, None, complete=False, conflicts=conflicts)
        case cp_model.MODEL_INVALID:
            raise InternalError(f"CP-SAT calls the model invalid: {builder.model.validate()}")
        case _:
            raise InternalError(f"CP-SAT ended with a status not known here: {status}")


def _configure(parameters: Any, budget: Budget, controls: Controls, size: int) -> None:
    remaining = budget.remaining()
    if remaining != float("inf"):
        parameters.max_time_in_seconds = max(0.0, remaining - size * SECONDS_A_VARIABLE / 2)
    parameters.num_workers = controls.threads
    parameters.random_seed = controls.seed % 2**31
    parameters.relative_gap_limit = controls.gap
    parameters.absolute_gap_limit = 0.0
    parameters.catch_sigint_signal = False
    # OR-Tools 9.15 can cut off the optimum where its presolve compares rows that include one another, and then calls
    # the next best plan optimal (google/or-tools issue 5293; a model of 15 variables is among the tests)
    parameters.presolve_inclusion_work_limit = 0
    if controls.conflicts is not None:
        parameters.max_number_of_conflicts = min(controls.conflicts, MAX_CONFLICTS)
    elif controls.threads == 1:
        # one worker alone searches shares unit by unit (15 s and more where a portfolio takes 0.1 s); the portfolio of
        # interleaved workers stays deterministic. Its conflicts cannot be limited, and with 2 threads it stalls.
        parameters.interleave_search = True


def _solve(solver: Any, model: Any, watcher: Any, budget: Budget) -> Any:
    """Solve on a thread of its own, so that this one stays free for signals and can stop it."""
    found: list[Any] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(solver.solve(model, watcher))
        except BaseException as error:  # noqa: BLE001  # handed over to the caller's thread
            failed.append(error)

    thread = threading.Thread(target=work, name="cpsat", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if budget.interrupted:
                solver.stop_search()
    finally:
        while thread.is_alive():
            solver.stop_search()
            thread.join(POLL_SECONDS)
    if failed:
        raise failed[0]
    return found[0]


def _bound(solver: Any, builder: Builder) -> int | None:
    """Valid bound of the integer objective without its offset, as an integer."""
    offset = builder.model.proto.objective.offset
    inner = int(solver.response_proto.inner_objective_lower_bound)
    reported = solver.best_objective_bound
    if abs(inner + offset - reported) <= 1e-9 * max(1.0, abs(reported), abs(offset)):
        return inner
    if not abs(reported) + abs(offset) < EXACT_DOUBLE / 4:
        return None
    # both numbers are doubles with an absolute error far below 1
    return int(reported - offset + 0.5) - 1
