"""The only wiring: support > compile > start > method > restore > check > Result.

Owns the order of stages and the comparison of claims with the checker. Must not know any family or back end.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING

from allocator.errors import ArgumentError, ClaimMismatch
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation
from allocator.plan.result import GoalOutcome, LevelOutcome, Result, Status, gap_between
from allocator.solvers.budget import Budget, Limits
from allocator.solvers.recorder import Listener, Recorder

if TYPE_CHECKING:
    from allocator.compiled.entities import Compiled
    from allocator.model.families import GoalId
    from allocator.plan.result import Infeasibility
    from allocator.solvers.base import Answer, Assignment, Method

__all__ = ["solve"]

CLAIM_TOLERANCE = Fraction(1, 10**9)
EXPLANATION_SHARE_SECONDS = 5.0
CHECK_TIMES = 5.0  # times the seconds of compiling that checking and writing the plan are taken to need
MOST_CHECK_SHARE = 0.5  # of the time that is left


def solve(
    instance: Instance,
    model: Model | str | None = None,
    *,
    method: str | Method = "auto",
    time_limit: float | None = 60.0,
    gap: float = 0.0,
    tolerance: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    iterations: int | None = None,
    warm_start: Plan | None = None,
    executor: Executor | None = None,  # noqa: ARG001 - part of the call's contract; no part runs in it yet
    listeners: Sequence[Listener] = (),
    budget: Budget | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """Find the best plan of an instance under a model, verified by the independent checker.

    Parameters
    ----------
    instance : a validated instance.
    model : a model, the name of a shipped one, or None for the one the instance names.
    method : "auto", a method's name, or a method of your own (``allocator.solvers.base.Method``).
    time_limit : seconds of wall time, building included; None: unlimited. Not used when ``budget`` is given.
    gap : relative gap per level at which to stop; 0 asks for proven optima.
    tolerance : relative tolerance of linearisation; None: the model's own.
    seed, threads, iterations : of the method; the same seed with one thread gives the same plan.
    warm_start : a plan to start from and never to be worse than.
    executor : where parallel parts may run (none does so far).
    listeners : told of phases, incumbents and bounds as they happen.
    budget : a running budget (its clock may have started with the reading of the file).
    checkpoint : a plan file that holds the best plan so far while the method runs, and the answer's at the end.

    Returns
    -------
    Result
        ``status`` says what is known, ``termination`` why it stopped.

    Raises
    ------
    ArgumentError, InputError
        Bad arguments.
    MethodRefused
        The method does not support a family in use, or refuses the size.
    InternalError
        The checker refutes the plan or a claimed value.
    """
    started = time.monotonic()
    chosen_model = _resolve_model(instance, model, tolerance)
    _check_arguments(gap, threads)
    threads = threads or os.cpu_count() or 1
    budget = budget or Limits(time_limit, iterations).start()
    recorder = Recorder(budget.elapsed, tuple(listeners))

    from allocator.compiled.compile import compile_instance
    from allocator.solvers.auto import choose
    from allocator.solvers.support import require_support

    solver = choose(method) if isinstance(method, str) else method
    require_support(solver, instance, chosen_model)
    recorder.phase("compiling")
    compiled = compile_instance(instance, chosen_model)
    seconds = {"compile": time.monotonic() - started}
    solver.refuse(compiled)
    start = _start(compiled, warm_start, recorder)
    with _checkpoint(compiled, checkpoint, recorder, start) as keep:
        check = min(CHECK_TIMES * seconds["compile"], MOST_CHECK_SHARE * budget.remaining())
        answer = solver.solve(
            compiled,
            budget=budget.keeping(check),
            recorder=recorder,
            start=start,
            seed=seed,
            threads=threads,
            gap=gap,
        )
        seconds["build"] = answer.seconds.get("build", 0.0)
        seconds["solve"] = time.monotonic() - started - seconds["compile"] - seconds["build"]
        result = _Run(compiled, solver, budget, recorder, seed, threads, started).result(answer, seconds)
        return keep(result)


@contextmanager
def _checkpoint(
    compiled: Compiled, path: str | os.PathLike[str] | None, recorder: Recorder, start: Assignment | None
) -> Iterator[Callable[[Result], Result]]:
    """Within the block the plans that the recorder gets are kept in a file; the function keeps the final one."""
    if path is None:
        yield lambda result: result
        return
    from allocator.solvers.checkpoint import Checkpoint

    checkpoint = Checkpoint(compiled, path)
    recorder.keeper = checkpoint.offer
    if start is not None:
        recorder.offer(lambda: start)

    def keep(result: Result) -> Result:
        checkpoint.close(result.plan)
        if checkpoint.problem is None:
            return result
        return replace(result, warnings=(*result.warnings, f"the checkpoint was not written: {checkpoint.problem}"))

    try:
        yield keep
    finally:
        recorder.keeper = None
        checkpoint.close()


def _resolve_model(instance: Instance, model: Model | str | None, tolerance: float | None) -> Model:
    from allocator.model import load_model

    if model is None:
        if instance.model is None:
            raise ArgumentError("no model: the instance names none; give one (--model NAME)")
        model = instance.model
    resolved = load_model(model) if isinstance(model, str) else model
    if tolerance is None:
        return resolved
    if not isinstance(tolerance, Real):
        raise ArgumentError(f"tolerance = {tolerance!r}: must be a number, 0.01 for 1 %")
    if not 0 < tolerance < 1:
        raise ArgumentError(f"tolerance = {tolerance}: must lie between 0 and 1")
    return replace(resolved, linearization=replace(resolved.linearization, tolerance=Fraction(str(tolerance))))


def _check_arguments(gap: float, threads: int | None) -> None:
    if not isinstance(gap, Real):
        raise ArgumentError(f"gap = {gap!r}: must be a number, 0.01 for 1 %")
    if not 0 <= gap < 1:
        raise ArgumentError(f"gap = {gap}: must be at least 0 and less than 1")
    if threads is not None and threads < 1:
        raise ArgumentError(f"threads = {threads}: must be at least 1")


def _start(compiled: Compiled, warm_start: Plan | None, recorder: Recorder) -> Assignment | None:
    """The warm start as an assignment, if the checker finds it feasible."""
    from allocator.checker import check
    from allocator.compiled.restore import assignment_of
    from allocator.solvers.base import Assignment

    if warm_start is None:
        return None
    evaluation = check(compiled.instance, compiled.model, warm_start)
    if not evaluation.feasible:
        recorder.phase(f"warm start not used: {evaluation.violations[0].message}")
        return None
    value = float(evaluation.levels[0]) if evaluation.levels else 0.0
    recorder.phase(f"warm start accepted, first level {value:g}")
    counts, shares, theta = assignment_of(compiled, warm_start)
    return Assignment(counts, shares, theta)


@dataclass(frozen=True)
class _Run:
    """One run: what was solved by what, and since when."""

    compiled: Compiled
    solver: Method
    budget: Budget
    recorder: Recorder
    seed: int
    threads: int
    started: float  # of ``time.monotonic``

    def result(self, answer: Answer, seconds: dict[str, float]) -> Result:
        """Restore, check and explain an answer. ``seconds``: of the stages so far."""
        from allocator.checker import check
        from allocator.compiled.restore import plan_of
        from allocator.solvers.bounds.bottlenecks import bottlenecks
        from allocator.solvers.bounds.headroom import headroom
        from allocator.solvers.explanation import explain_infeasible, explain_unplaced

        plan: Plan | None = None
        evaluation: Evaluation | None = None
        infeasibility: Infeasibility | None = None
        began = time.monotonic()
        if answer.assignment is not None:
            self.recorder.phase("checking")
            found = answer.assignment
            plan = plan_of(self.compiled, found.counts, found.shares, found.theta)
            evaluation = check(self.compiled.instance, self.compiled.model, plan)
            _compare(self.solver, answer, evaluation)
            if plan.unplaced:
                plan = explain_unplaced(self.compiled, plan, evaluation)
        elif answer.status is Status.INFEASIBLE:
            self.recorder.phase("explaining why there is no plan")
            left = max(1.0, min(self.budget.remaining(), EXPLANATION_SHARE_SECONDS))
            infeasibility = explain_infeasible(
                self.compiled.instance,
                self.compiled.model,
                budget=Limits(left).start(),
                seed=self.seed,
                threads=self.threads,
            )
        seconds["check"] = time.monotonic() - began
        seconds["total"] = self.budget.elapsed()
        seconds["read"] = max(0.0, seconds["total"] - (time.monotonic() - self.started))
        return Result(
            status=answer.status,
            termination=answer.termination,
            levels=_level_outcomes(self.compiled, answer, evaluation),
            goals=_goal_outcomes(self.compiled, answer, evaluation),
            plan=plan,
            evaluation=evaluation,
            method=self.solver.name,
            model=self.compiled.model.name,
            seed=self.seed,
            threads=self.threads,
            seconds={name: seconds[name] for name in ("read", "compile", "build", "solve", "check", "total")},
            ignored=tuple(sorted(self.compiled.model.ignore)),
            linearization=answer.linearization if plan is not None else None,
            infeasibility=infeasibility,
            bottlenecks=bottlenecks(evaluation, answer.prices, self.compiled.instance)
            if evaluation is not None
            else (),
            headroom=headroom(self.compiled, answer.assignment) if answer.assignment is not None else None,
            peak_memory_mib=_peak_memory_mib(),
            size={
                "members": self.compiled.instance.num_members,
                "nodes": self.compiled.num_nodes,
                "variables": answer.size.get("variables"),
                "constraints": answer.size.get("constraints"),
            },
            warnings=evaluation.warnings if evaluation is not None else (),
        )


def _compare(solver: Method, answer: Answer, evaluation: Evaluation) -> None:
    """Raise when the checker refutes the plan or a claim."""
    if evaluation.violations:
        first = evaluation.violations[0]
        raise ClaimMismatch(
            f"method {solver.name} returned a plan that breaks {first.family} at {first.where}: {first.message} "
            f"({len(evaluation.violations)} violations in all)"
        )
    for number, (claim, true) in enumerate(zip(answer.claims, evaluation.levels, strict=True), start=1):
        difference = gap_between(claim, true)
        if difference is None or difference > CLAIM_TOLERANCE:
            raise ClaimMismatch(
                f"method {solver.name} claims {_shown(claim)} for level {number}, the checker finds {_shown(true)}"
            )


def _shown(value: Fraction | None) -> str:
    return "nothing" if value is None else f"{float(value):.12g}"


def _level_outcomes(compiled: Compiled, answer: Answer, evaluation: Evaluation | None) -> tuple[LevelOutcome, ...]:
    values: Sequence[Fraction | None] = evaluation.levels if evaluation else (None,) * len(compiled.model.levels)
    return tuple(
        LevelOutcome(level, value, bound)
        for level, value, bound in zip(compiled.model.levels, values, answer.bounds, strict=True)
    )


def _goal_outcomes(compiled: Compiled, answer: Answer, evaluation: Evaluation | None) -> tuple[GoalOutcome, ...]:
    from allocator.model.families import sense_of

    values: Mapping[GoalId, Fraction] = evaluation.goals if evaluation else {}
    outcomes = []
    for level, bound in zip(compiled.model.levels, answer.bounds, strict=True):
        alone = len(level.goals) == 1
        for goal in level.goals:
            own = bound / goal.weight if alone and bound is not None else None
            outcomes.append(GoalOutcome(goal.id, sense_of(goal.id), values.get(goal.id), own))
    return tuple(outcomes)


def _peak_memory_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
