"""HiGHS driven directly: the matrix handed over once, then one run a level. Knows no family.

Owns callbacks, MIP starts, interruption and the reading of statuses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from allocator.errors import InternalError
from allocator.solvers.budget import Budget
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.quiet import QuietHighs

__all__ = ["HighsRun", "Outcome", "Stop", "ignore"]

Float = npt.NDArray[np.float64]
POLL_SECONDS = 0.05
COMPLETION_SHARE = 0.25  # of the time left, for completing a start


class Stop(StrEnum):
    """Why a run ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    NUMERICAL = "numerical"


@dataclass(frozen=True)
class Outcome:
    """End of one run: values of all columns or None, and a bound on the objective or None."""

    stop: Stop
    solution: Float | None
    bound: float | None


# Rules of presolve that, at fine tolerances, have lost optima and called feasible models infeasible in HiGHS 1.16:
# probing, enumeration, dual fixing, dual-fixing probing.
UNSAFE_RULES = 1 << 15 | 1 << 16 | 1 << 17 | 1 << 20

_STATUS = {
    highspy.HighsModelStatus.kOptimal: Stop.OPTIMAL,
    highspy.HighsModelStatus.kModelEmpty: Stop.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Stop.INFEASIBLE,
    highspy.HighsModelStatus.kUnknown: Stop.NUMERICAL,
    highspy.HighsModelStatus.kSolveError: Stop.NUMERICAL,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Stop.INFEASIBLE,  # every objective of ours is bounded
    highspy.HighsModelStatus.kUnbounded: Stop.UNBOUNDED,
    highspy.HighsModelStatus.kTimeLimit: Stop.TIME_LIMIT,
    highspy.HighsModelStatus.kInterrupt: Stop.INTERRUPTED,
    highspy.HighsModelStatus.kSolutionLimit: Stop.TIME_LIMIT,
    highspy.HighsModelStatus.kIterationLimit: Stop.TIME_LIMIT,
    highspy.HighsModelStatus.kObjectiveBound: Stop.OPTIMAL,
    highspy.HighsModelStatus.kObjectiveTarget: Stop.OPTIMAL,
}


class HighsRun:
    """One model in HiGHS. ``on_incumbent(objective)`` and ``on_bound(bound)`` are called from the solving thread."""

    on_solution: Callable[[Float], None] | None = None
    """Called from the solving thread with the columns of every better solution; None: nobody wants them."""

    def __init__(self, matrix: Matrix, *, seed: int, threads: int, tolerance: float | None = None) -> None:
        self.matrix = matrix
        self.solver = QuietHighs()
        self._set("output_flag", True)  # logging callbacks need it
        self._set("random_seed", seed % 2147483647)
        self._set("threads", threads)
        self._tolerance = tolerance
        if tolerance is not None:
            self._set("presolve_rule_off", UNSAFE_RULES)
            self._set("primal_feasibility_tolerance", tolerance)
            self._set("mip_feasibility_tolerance", tolerance)
            # a reduced cost is multiplied by its column's range in what the bound may be wrong by
            self._set("dual_feasibility_tolerance", tolerance)
        model = highspy.HighsLp()
        model.num_col_ = len(matrix.column_lower)
        model.num_row_ = len(matrix.row_lower)
        model.col_cost_ = np.zeros(model.num_col_)
        model.col_lower_ = matrix.column_lower
        model.col_upper_ = matrix.column_upper
        model.row_lower_ = matrix.row_lower
        model.row_upper_ = matrix.row_upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.values
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[bool(flag)] for flag in matrix.integral]
        self._require(self.solver.passModel(model), "passModel")
        self._seed, self._threads = seed, threads

    def relaxation(self) -> HighsRun:
        """The continuous relaxation of the model as it is now, as a run of its own."""
        matrix = replace(self.matrix, integral=np.zeros_like(self.matrix.integral))
        relaxed = HighsRun(matrix, seed=self._seed, threads=self._threads, tolerance=self._tolerance)
        relaxed._require(relaxed.solver.passModel(self.solver.getLp()), "passModel")
        everyone = np.arange(self.solver.getNumCol(), dtype=np.int32)
        continuous = np.full(len(everyone), int(highspy.HighsVarType.kContinuous), dtype=np.uint8)
        relaxed._require(
            relaxed.solver.changeColsIntegrality(len(everyone), everyone, continuous), "changeColsIntegrality"
        )
        return relaxed

    def _set(self, name: str, value: Any) -> None:
        self._require(self.solver.setOptionValue(name, value), f"option {name}")

    def _require(self, status: Any, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise InternalError(f"HiGHS refused {what}")

    def add_row(self, lower: float, upper: float, row: dict[int, float]) -> None:
        """Append a row."""
        index = np.fromiter(row, dtype=np.int32, count=len(row))
        value = np.fromiter(row.values(), dtype=np.float64, count=len(row))
        self._require(self.solver.addRow(lower, upper, len(row), index, value), "addRow")

    def run(
        self,
        cost: Float,
        *,
        minimise: bool,
        budget: Budget,
        relative_gap: float,
        absolute_gap: float,
        start: Float | None,
        on_incumbent: Callable[[float], None],
        on_bound: Callable[[float], None],
        options: dict[str, Any] | None = None,
    ) -> Outcome:
        """Optimise one objective. ``start``: values of all columns, NaN where unknown."""
        solver = self.solver
        if not len(cost):
            return Outcome(Stop.OPTIMAL, np.zeros(0), 0.0)
        sense = highspy.ObjSense.kMinimize if minimise else highspy.ObjSense.kMaximize
        self._require(solver.changeObjectiveSense(sense), "sense")
        everyone = np.arange(len(cost), dtype=np.int32)
        self._require(solver.changeColsCost(len(cost), everyone, cost), "costs")
        self._set("mip_rel_gap", relative_gap)
        self._set("mip_abs_gap", absolute_gap)
        for name, value in (options or {}).items():
            self._set(name, value)
        full = None if start is None else self._completed(start, budget, minimise=minimise)
        if full is not None:
            known = np.arange(len(full), dtype=np.int32)
            self._require(solver.setSolution(len(full), known, full), "setSolution")
        self._limit(budget)
        status = self._run_watched(budget, minimise, on_incumbent, on_bound)
        outcome = self._outcome(status, budget)

        def again(presolve: str) -> Outcome:
            solver.clearSolver()
            self._set("presolve", presolve)
            status = self._run_watched(budget, minimise, on_incumbent, on_bound)
            self._set("presolve", "choose")
            return self._outcome(status, budget)

        if outcome.stop is Stop.INFEASIBLE and self._tolerance is not None:
            outcome = again("off")  # see UNSAFE_RULES
        for presolve in ("choose", "off"):
            if outcome.stop is not Stop.NUMERICAL and not self._contradicts_itself(cost, outcome):
                return outcome
            # seen with a MIP start that presolve maps to a better objective than it has, and with a solution that
            # postsolve brings beyond fine tolerances: run again from nothing
            outcome = again(presolve)
        if self._contradicts_itself(cost, outcome):
            raise InternalError("HiGHS reports an objective that its solution does not have")
        return outcome

    def _limit(self, budget: Budget) -> None:
        remaining = budget.remaining()
        # HiGHS counts its run time over all runs of one object
        self._set("time_limit", float("inf") if remaining == float("inf") else self.solver.getRunTime() + remaining)

    def _completed(self, start: Float, budget: Budget, *, minimise: bool) -> Float | None:
        """The best solution with the known columns of a start; None when there is none, or none in time.

        HiGHS completes a start, too, but reports the bounds of that small problem as if they were the model's.
        """
        known = np.nonzero(~np.isnan(start))[0].astype(np.int32)
        if len(known) == self.solver.getNumCol():
            return start
        program = self.solver.getLp()
        lower, upper = np.array(program.col_lower_)[known], np.array(program.col_upper_)[known]
        self._require(self.solver.changeColsBounds(len(known), known, start[known], start[known]), "bounds")
        share = budget.portion(COMPLETION_SHARE)
        self._limit(share)
        outcome = self._outcome(self._run_watched(share, minimise, ignore, ignore), share)
        self._require(self.solver.changeColsBounds(len(known), known, lower, upper), "bounds")
        return outcome.solution

    def _contradicts_itself(self, cost: Float, outcome: Outcome) -> bool:
        if outcome.solution is None:
            return False
        reported = self.solver.getInfo().objective_function_value
        true = float(cost @ outcome.solution[: len(cost)])
        return abs(true - reported) > 1e-5 * max(1.0, abs(true), abs(reported))

    def _run_watched(
        self, budget: Budget, minimise: bool, on_incumbent: Callable[[float], None], on_bound: Callable[[float], None]
    ) -> Any:
        """Run on a thread of its own, so that a signal or the clock can stop it at any moment."""
        solver = self.solver
        stop = threading.Event()
        best = [np.inf if minimise else -np.inf, -np.inf if minimise else np.inf]

        def improving(event: Any) -> None:
            best[0] = event.data_out.objective_function_value
            on_incumbent(best[0])
            if self.on_solution is not None:
                self.on_solution(np.array(event.data_out.mip_solution))

        def progress(event: Any) -> None:
            bound = event.data_out.mip_dual_bound
            if np.isfinite(bound) and (bound > best[1] if minimise else bound < best[1]):
                best[1] = bound
                on_bound(bound)

        def interrupt(event: Any) -> None:
            if stop.is_set():
                event.data_in.user_interrupt = True

        result: list[Any] = []
        subscriptions = (
            (solver.cbMipImprovingSolution, improving),
            (solver.cbMipLogging, progress),
            (solver.cbMipInterrupt, interrupt),  # fires in sub-MIPs too: their bounds are not ours
            (solver.cbSimplexInterrupt, interrupt),
            (solver.cbIpmInterrupt, interrupt),
        )
        for callback, function in subscriptions:
            callback.subscribe(function)
        try:
            thread = threading.Thread(target=lambda: result.append(solver.run()), daemon=True)
            thread.start()
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                if budget.exhausted:
                    stop.set()
        finally:
            stop.set()
            thread.join()
            for callback, function in subscriptions:
                callback.unsubscribe(function)
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kSolveError:
            self._require(result[0] if result else highspy.HighsStatus.kError, "run")
        return status

    def _outcome(self, status: Any, budget: Budget) -> Outcome:
        if status not in _STATUS:
            raise InternalError(f"HiGHS ended with a status this package does not know: {status}")
        stop = _STATUS[status]
        if stop is Stop.UNBOUNDED:
            raise InternalError("HiGHS calls a bounded model unbounded")
        info = self.solver.getInfo()
        has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        solution = np.array(self.solver.getSolution().col_value) if has_solution else None
        integral = bool(self.matrix.integral.any())
        bound = info.mip_dual_bound if integral else (info.objective_function_value if stop is Stop.OPTIMAL else None)
        if bound is not None and not np.isfinite(bound):
            bound = None
        if stop is Stop.INTERRUPTED and not budget.interrupted:
            stop = Stop.TIME_LIMIT
        return Outcome(stop, solution, bound)


def ignore(value: float) -> None:
    """What a step on the way to a run finds is not told."""
