"""General solvers on the exported program: the MPS file that anyone can make with ``allocator convert --to mps``.

Owns the way out (one file, the first level) and the way back (placement columns to counts). The solver sees nothing but
the file; what it answers is judged like everything else.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from allocator.compiled.entities import Compiled
from allocator.errors import BudgetExhausted, InternalError
from allocator.model.families import GoalId
from allocator.plan.result import Status, Termination, TerminationReason, gap_between
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.milp.assignment import add_assignment
from allocator.solvers.milp.export import export_mps
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.method import MilpMethod
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["Program", "ProgramAnswer", "ProgramMethod", "Solver"]

BUILD_SHARE = 0.9
ROUNDING = 1e-6  # relative tolerance of the solvers' own bounds
SAME = Fraction(1, 10**9)
_PLACEMENT = re.compile(r"x([0-9]+)_")


@dataclass(frozen=True)
class Program:
    """What a solver is given: the file, its limits, and whom to tell of (value, bound) of the minimised objective."""

    path: Path
    seconds: float
    gap: float
    seed: int
    threads: int
    stopped: Callable[[], bool]
    tell: Callable[[float | None, float | None], None]


@dataclass(frozen=True)
class ProgramAnswer:
    """What a solver says. ``values`` by column name, None without a solution. ``bound`` of the minimised objective."""

    status: Status
    values: Mapping[str, float] | None
    bound: float | None
    detail: str
    size: Mapping[str, int | None]


Solver = Callable[[Program], ProgramAnswer]


class ProgramMethod:
    """A solver of another project on the first level of the exact model."""

    # of response times the program holds a relaxation that milp refines while it solves
    support: Support = replace(MilpMethod.support, goals=MilpMethod.support.goals - {GoalId.P99})

    def __init__(self, name: str, solver: Solver) -> None:
        self.name = name
        self._solver = solver

    def refuse(self, compiled: Compiled) -> None:
        """As ``milp`` does: the same program is built."""
        MilpMethod().refuse(compiled)

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,  # noqa: ARG002 - the file holds no start
        seed: int,
        threads: int,
        gap: float,
    ) -> Answer:
        """Export, solve, read back. Later levels have a value and no bound."""
        first = compiled.model.levels[0]
        sign = 1 if first.sense == "min" else -1

        def tell(value: float | None, bound: float | None) -> None:
            if value is not None and math.isfinite(value):
                recorder.incumbent(0, sign * value)
            if bound is not None and math.isfinite(bound):
                recorder.bound(0, sign * bound)

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.mps"
            try:
                recorder.phase("exporting the program", level=0)
                export_mps(compiled, path)
                form = Formulation(compiled, budget)
                add_assignment(form)
                budget.check()
            except BudgetExhausted:
                return _nothing(compiled, budget, "while exporting the program")
            found = self._solver(
                Program(path, max(0.01, budget.remaining()), gap, seed, threads, lambda: budget.exhausted, tell)
            )
            step = _step(path)
        return _answer(compiled, found, form.entries, step=step, sign=sign, budget=budget, gap=gap)


def _nothing(compiled: Compiled, budget: Budget, where: str) -> Answer:
    none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
    reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
    return Answer(Status.UNKNOWN, Termination(reason, f"stopped {where}"), None, none, none)


def _step(path: Path) -> Fraction | None:
    """The number that divides every value of the level, by the file's header; None where there is none."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if not line.startswith("*"):
                return None
            _, found, step = line.partition("is a multiple of ")
            if found:
                return Fraction(step.strip())
    return None


def _answer(
    compiled: Compiled,
    found: ProgramAnswer,
    entries: list[Entry],
    *,
    step: Fraction | None,
    sign: int,
    budget: Budget,
    gap: float,
) -> Answer:
    none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
    if found.status is Status.INFEASIBLE:
        reason = Termination(TerminationReason.INFEASIBLE, found.detail)
        return Answer(Status.INFEASIBLE, reason, None, none, none, size=found.size)
    bound = None if found.bound is None or not math.isfinite(found.bound) else sign * _rounded(found.bound, step)
    assignment = None if found.values is None else _assignment(compiled, found.values, entries)
    claims = none if assignment is None else level_values(compiled, assignment)
    value = claims[0]
    difference = gap_between(value, bound)
    if step is None and difference is not None and difference <= SAME:
        bound = value
    bounds = (bound, *none[1:])
    if assignment is None:
        status, reason = Status.UNKNOWN, _stopped(budget, found.detail)
    elif found.status is Status.OPTIMAL and value == bound and len(none) == 1:
        status, reason = Status.OPTIMAL, Termination(TerminationReason.OPTIMAL, found.detail)
    else:
        status = Status.FEASIBLE
        ended = found.status is Status.OPTIMAL
        within = Termination(TerminationReason.GAP, f"first level: {found.detail}; gap {gap:g} was asked for")
        reason = within if ended else _stopped(budget, found.detail)
    return Answer(status, reason, assignment, claims, bounds, size=found.size)


def _rounded(bound: float, step: Fraction | None) -> Fraction:
    """The bound, up to the next value that there can be, forgiving the solver's tolerance."""
    if not step:
        return Fraction(bound)
    scaled = Fraction(bound) / step
    return step * math.ceil(scaled - Fraction(ROUNDING) * max(Fraction(1), abs(scaled) / 1000))


def _stopped(budget: Budget, detail: str) -> Termination:
    if budget.interrupted:
        return Termination(TerminationReason.INTERRUPTED, detail)
    return Termination(TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED, detail)


def _assignment(compiled: Compiled, values: Mapping[str, float], entries: list[Entry]) -> Assignment:
    """Counts from the placement columns (x0_…, x1_…, in the order of the entries), with the best shares for them."""
    counts: dict[tuple[int, int, int], int] = {}
    seen = 0
    for name, value in values.items():
        match = _PLACEMENT.match(name)
        if match is None:
            continue
        seen += 1
        entry = entries[int(match[1])]
        count = round(value)
        if count:
            counts[entry.block, entry.option, entry.node] = count
    if seen != len(entries):
        raise InternalError(f"the program has {len(entries)} placement columns, {seen} came back")
    plan = optimal_shares(compiled, counts)
    return Assignment(counts) if plan is None else plan.assignment
