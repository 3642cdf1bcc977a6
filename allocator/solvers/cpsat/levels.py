"""Level by level: solve, keep what was reached within its slack, go on. Owns values, bounds and why it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from allocator.errors import InternalError
from allocator.model.families import Sense
from allocator.plan.result import TerminationReason, gap_between
from allocator.solvers.bounds.combinatorial import level_bound
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.engine import SECONDS_A_VARIABLE, Controls, Outcome, run
from allocator.solvers.cpsat.formulation import Formulation
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.progress import Progress
from allocator.solvers.recorder import Recorder

__all__ = ["Search", "solve_levels"]

WORTH_A_RESTART = 0.2  # seconds


@dataclass
class Search:
    """State of the descent through the levels. ``reason``: None while every level so far is proven."""

    formulation: Formulation
    budget: Budget
    recorder: Recorder
    controls: Controls
    values: list[int] | None = None
    starts: list[list[int]] = field(default_factory=list)  # other solutions that a level may start from
    reached: list[list[int]] = field(default_factory=list)  # the solution after each level
    bounds: list[Fraction | None] = field(default_factory=list)
    reason: TerminationReason | None = None
    conflicts: int = 0

    def offer(self, values: Sequence[int]) -> None:
        """Hand a solution over to whoever keeps plans."""
        builder, formulation = self.formulation.symbols.builder, self.formulation
        self.recorder.offer(lambda: formulation.assignment(builder.complete(values)))

    def claims(self) -> list[Fraction | None]:
        """Exact values of all levels at the best solution."""
        found = self.values
        return [None if found is None else Fraction(level.value(found)) for level in self.formulation.levels]


def solve_levels(search: Search) -> None:
    """Solve all levels in order, as far as the budget goes."""
    model = search.formulation.symbols.compiled.model
    builder = search.formulation.symbols.builder
    search.bounds = [None] * len(model.levels)
    if not model.levels:
        _solve_once(search, None, "min", 0)
        return
    for index, (level, value) in enumerate(zip(model.levels, search.formulation.levels, strict=True)):
        search.recorder.phase(f"level {index + 1}: " + " + ".join(goal.id for goal in level.goals), index)
        _take_start(search, value, 1 if level.sense == "min" else -1)
        ended = _solve_once(search, value, level.sense, index)
        if search.values is not None:
            search.reached.append(search.values)
        if search.values is None or not ended:
            return
        reached = Fraction(value.value(search.values))
        allowed = level.slack.allowance(reached)
        if index + 1 < len(model.levels):
            signed, kept = (value, reached) if level.sense == "min" else (value.scaled(-1), -reached)
            builder.add(signed, f"level {index + 1} of the model", upper=kept + allowed)


def _solve_once(search: Search, value: Linear | None, sense: Sense, index: int) -> bool:
    """Solve one level; False when the budget ended it, or when there is no plan."""
    builder = search.formulation.symbols.builder
    sign = 1 if sense == "min" else -1
    unit, constant = Fraction(1), Fraction(0)
    signed = Linear() if value is None else value.scaled(sign)
    if value is not None:
        unit, constant = builder.minimize(signed, f"level {index + 1} of the model"), Fraction(signed.constant)
    progress = Progress(search.recorder, index, float(unit) * sign)
    outcome = Outcome(None, None, complete=False, conflicts=0)
    least = None if value is None else builder.bounds(signed)[0]  # the range of the variables is always a bound
    attempt = 0
    while not outcome.complete and _time_is_left(search, attempt):
        outcome = run(
            builder,
            budget=search.budget,
            controls=replace(search.controls, seed=search.controls.seed + attempt),
            hint=search.values,
            on_value=progress.value,
            on_bound=progress.bound,
            on_solution=None if search.recorder.keeper is None else search.offer,
        )
        attempt += 1
        search.conflicts += outcome.conflicts
        _keep_better(search, outcome.values, value, sign)
        if value is not None and search.values is not None:
            progress.value(float(signed.value(search.values) / unit))
        if least is not None and outcome.bound is not None:
            least = max(least, outcome.bound * unit + constant)
            builder.add(signed, f"level {index + 1} of the model", lower=least)
    if outcome.values is None and outcome.complete:
        if search.values is not None or index > 0:
            raise InternalError("CP-SAT calls a model infeasible that has a solution")
        search.reason = TerminationReason.INFEASIBLE
        return False
    if least is not None:
        search.bounds[index] = _with_totals(search, sign * Fraction(least), sense, index)
    if not outcome.complete:
        search.reason = _why_stopped(search)
        return False
    _judge(search, value, index)
    return True


def _with_totals(search: Search, bound: Fraction, sense: Sense, index: int) -> Fraction:
    """The better of a bound and what totals alone prove; a search that ended early may know less than they do."""
    compiled = search.formulation.symbols.compiled
    simple = level_bound(compiled, compiled.model.levels[index])
    return max(bound, simple) if sense == "min" else min(bound, simple)


def _take_start(search: Search, value: Linear, sign: int) -> None:
    """Start a level from the best known solution that keeps the earlier levels."""
    for start in search.starts:
        better = search.values is None or sign * value.value(start) < sign * value.value(search.values)
        if better and search.formulation.symbols.builder.holds(start):
            search.values = start


def _time_is_left(search: Search, attempt: int) -> bool:
    """Whether to run (again): interleaved search may end before its time; what it proved is kept as a row."""
    if search.budget.exhausted or (attempt and search.controls.conflicts is not None):
        return False
    needed = SECONDS_A_VARIABLE * len(search.formulation.symbols.builder.variables)
    return search.budget.remaining() > needed + (WORTH_A_RESTART if attempt else 0.0)


def _judge(search: Search, value: Linear | None, index: int) -> None:
    """Note when a level ended within the gap instead of proven."""
    if value is None or search.values is None:
        return
    reached = Fraction(value.value(search.values))
    gap = gap_between(reached, search.bounds[index])
    if gap:
        if search.controls.gap <= 0:
            raise InternalError(f"CP-SAT says optimal at {reached} with bound {search.bounds[index]}")
        search.reason = TerminationReason.GAP


def _keep_better(search: Search, found: Sequence[int] | None, value: Linear | None, sign: int) -> None:
    if found is None:
        return
    builder = search.formulation.symbols.builder
    exact = builder.complete(found)
    if not builder.holds(exact):
        raise InternalError("a solution of CP-SAT breaks the rows it was found for")
    if search.values is None or value is None or sign * value.value(exact) < sign * value.value(search.values):
        search.values = exact


def _why_stopped(search: Search) -> TerminationReason:
    if search.budget.interrupted:
        return TerminationReason.INTERRUPTED
    limits = search.budget.limits
    if search.controls.conflicts is not None and (limits.seconds is None or search.budget.remaining() > 0.0):
        return TerminationReason.ITERATION_LIMIT
    if limits.seconds is not None:
        return TerminationReason.TIME_LIMIT
    raise InternalError("CP-SAT stopped without a limit and without a proof")
