"""HiGHS on an MPS file, through its own Python interface. Knows nothing of where the file comes from."""

from __future__ import annotations

import math
import threading
from typing import Any

import highspy

from allocator.benchmark.external.program import Program, ProgramAnswer
from allocator.errors import InternalError
from allocator.plan.result import Status
from allocator.solvers.quiet import QuietHighs

__all__ = ["solve_by_highs"]

_DONE = highspy.HighsModelStatus
_STATUS = {
    _DONE.kOptimal: Status.OPTIMAL,
    _DONE.kModelEmpty: Status.OPTIMAL,
    _DONE.kInfeasible: Status.INFEASIBLE,
    _DONE.kUnboundedOrInfeasible: Status.INFEASIBLE,  # every objective of ours is bounded
    _DONE.kTimeLimit: Status.UNKNOWN,
    _DONE.kInterrupt: Status.UNKNOWN,
    _DONE.kSolutionLimit: Status.UNKNOWN,
    _DONE.kIterationLimit: Status.UNKNOWN,
    _DONE.kUnknown: Status.UNKNOWN,
    _DONE.kSolveError: Status.UNKNOWN,
}
POLL_SECONDS = 0.05


def solve_by_highs(program: Program) -> ProgramAnswer:
    """Solve with default options but for limits, gap, seed and threads."""
    solver = QuietHighs()
    options = {
        "output_flag": True,  # its logging callbacks need it
        "time_limit": program.seconds,
        "mip_rel_gap": program.gap,
        "mip_abs_gap": 1e-6,
        "random_seed": program.seed % 2147483647,
        "threads": program.threads,
    }
    for name, value in options.items():
        if solver.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise InternalError(f"HiGHS refused option {name}")
    if solver.readModel(str(program.path)) == highspy.HighsStatus.kError:
        raise InternalError("HiGHS cannot read the exported file")
    _run(solver, program)
    status = solver.getModelStatus()
    if status not in _STATUS:
        raise InternalError(f"HiGHS ended with a status that is not known here: {status}")
    info = solver.getInfo()
    values = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        lp = solver.getLp()
        values = dict(zip(lp.col_names_, solver.getSolution().col_value, strict=True))
    bound = info.mip_dual_bound if math.isfinite(info.mip_dual_bound) else None
    if bound == 0 and _STATUS[status] is Status.OPTIMAL and info.mip_node_count < 0:
        bound = info.objective_function_value  # a program without integers
    size = {"variables": solver.getNumCol(), "constraints": solver.getNumRow()}
    return ProgramAnswer(_STATUS[status], values, bound, f"HiGHS: {solver.modelStatusToString(status)}", size)


def _run(solver: Any, program: Program) -> None:
    """Run in a thread, so that a stop is seen; tells of incumbents and bounds."""
    stop = threading.Event()

    def progress(event: Any) -> None:
        out = event.data_out
        program.tell(out.mip_primal_bound, out.mip_dual_bound)

    def interrupt(event: Any) -> None:
        if stop.is_set():
            event.data_in.user_interrupt = True

    subscriptions = (
        (solver.cbMipLogging, progress),
        (solver.cbMipImprovingSolution, progress),
        (solver.cbMipInterrupt, interrupt),
        (solver.cbSimplexInterrupt, interrupt),
    )
    for callback, function in subscriptions:
        callback.subscribe(function)
    try:
        thread = threading.Thread(target=lambda: highspy._core._Highs.run(solver), daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if program.stopped():
                stop.set()
    finally:
        for callback, function in subscriptions:
            callback.unsubscribe(function)
