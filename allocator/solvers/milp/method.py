"""The method ``milp``: the whole model exactly, level by level, in HiGHS; answers in exact counts and shares."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.errors import BudgetExhausted, InternalError, ModelTooLarge
from allocator.model.families import Family, GoalId
from allocator.plan.result import LinearizationCertificate, Status, Termination, TerminationReason, gap_between
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.use import overdrawn
from allocator.solvers.milp.assignment import num_placement_variables
from allocator.solvers.milp.build import LevelObjective, build
from allocator.solvers.milp.cuts import broken_rows, forbid
from allocator.solvers.milp.fabric.strengthen import strengthen
from allocator.solvers.milp.fabric.team_order import in_team_order, order_teams
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun, Outcome, Stop
from allocator.solvers.milp.matrix import Matrix, compile_matrix
from allocator.solvers.milp.pair_search import propose
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["MAX_PLACEMENT_VARIABLES", "MilpMethod"]

MAX_PLACEMENT_VARIABLES = 1_500_000
BUILD_SHARE = 0.85  # of the time left: a model that takes longer to build is not solved either, and takes time to drop
NOISE = Fraction(1, 10**11)  # of the largest coefficient: what summing floats may leave of a zero
SAME = Fraction(1, 10**9)  # relative difference that counts as agreement where values are not integral


@dataclass
class _Run:
    """State of one solve: best assignment so far and what is known of each level."""

    compiled: Compiled
    assignment: Assignment | None = None
    reached: list[Fraction] = field(default_factory=list)
    bounds: list[Fraction | None] = field(default_factory=list)
    prices: dict[tuple[int, str], float] = field(default_factory=dict)


class MilpMethod:
    """Exact mixed-integer formulation of all families and goals but ``slo``, ``p99`` and ``quality``."""

    name = "milp"
    support = Support(
        frozenset(Family) - {Family.SLO},
        frozenset(GoalId) - {GoalId.P99, GoalId.QUALITY},
    )

    def refuse(self, compiled: Compiled) -> None:
        """Refuse models that are too large to build, by their number of placement variables."""
        number = num_placement_variables(compiled)
        if number > MAX_PLACEMENT_VARIABLES:
            raise ModelTooLarge(
                f"method milp: the model would have {number:,} placement variables, more than "
                f"{MAX_PLACEMENT_VARIABLES:,}; use --method greedy, or --method auto"
            )

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
        gap: float,
    ) -> Answer:
        """Solve level by level. A start is used as MIP start and kept as the first incumbent."""
        run = _Run(compiled)
        size: dict[str, int | None] = {"variables": None, "constraints": None}
        seconds: dict[str, float] = {}
        if start is not None:
            run.assignment = start
        try:
            began = time.monotonic()
            if start is None:
                run.assignment = _first_plan(compiled, budget, recorder, seed)
            recorder.phase("building the exact model")
            form, objectives = build(compiled, budget.portion(BUILD_SHARE))
            matrix = compile_matrix(form, objectives)
            size = {"variables": len(matrix.column_lower), "constraints": len(matrix.row_lower)}
            seconds["build"] = time.monotonic() - began
            solver = HighsRun(matrix, seed=seed, threads=threads)
            budget.check()
        except BudgetExhausted:
            return self._unfinished(run, budget, size, seconds, "while building the model")
        for index, objective in enumerate(objectives):
            stop = _solve_level(run, solver, form, matrix, objective, index, budget, recorder, gap)
            if stop is Stop.INFEASIBLE and index == 0:
                return Answer(
                    Status.INFEASIBLE,
                    Termination(TerminationReason.INFEASIBLE, "the exact model has no solution"),
                    None,
                    (None,) * len(objectives),
                    (None,) * len(objectives),
                    size=size,
                    seconds=seconds,
                )
            if stop is not Stop.OPTIMAL:
                return self._unfinished(run, budget, size, seconds, f"at level {index + 1}")
        return self._answer(run, size, seconds, gap)

    def _unfinished(
        self, run: _Run, budget: Budget, size: dict[str, int | None], seconds: dict[str, float], where: str
    ) -> Answer:
        reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
        if not budget.exhausted:
            reason, where = TerminationReason.CONVERGED, f"{where}: the solver met numerical trouble"
        status = Status.UNKNOWN if run.assignment is None else Status.FEASIBLE
        return _report(run, status, Termination(reason, f"stopped {where}"), size, seconds)

    def _answer(self, run: _Run, size: dict[str, int | None], seconds: dict[str, float], gap: float) -> Answer:
        proven = all(
            difference is not None and difference <= SAME
            for difference in (gap_between(v, b) for v, b in zip(run.reached, run.bounds, strict=True))
        )
        if proven:
            return _report(run, Status.OPTIMAL, Termination(TerminationReason.OPTIMAL, ""), size, seconds)
        detail = f"every level is within the gap of {gap:g}" if gap else "as near as floating point can tell"
        return _report(run, Status.FEASIBLE, Termination(TerminationReason.GAP, detail), size, seconds)


def _report(
    run: _Run, status: Status, termination: Termination, size: dict[str, int | None], seconds: dict[str, float]
) -> Answer:
    num_levels = len(run.compiled.model.levels)
    bounds = (*run.bounds, *(None for _ in range(num_levels - len(run.bounds))))
    claims: tuple[Fraction | None, ...] = (None,) * num_levels
    if run.assignment is not None:
        claims = level_values(run.compiled, run.assignment)
    return Answer(
        status,
        termination,
        run.assignment,
        claims,
        bounds[:num_levels],
        LinearizationCertificate(Fraction(0), Fraction(0), "no curve is approximated: the formulation is exact"),
        size,
        run.prices,
        seconds,
    )


def _solve_level(
    run: _Run,
    solver: HighsRun,
    form: Formulation,
    matrix: Matrix,
    objective: LevelObjective,
    index: int,
    budget: Budget,
    recorder: Recorder,
    gap: float,
) -> Stop:
    """Optimise one level, then bind it. Repeats while a rounded solution breaks an integer row (large coefficients)."""
    recorder.phase(" + ".join(goal.id for goal in objective.level.goals), level=index)

    def true_value(scaled: float) -> float:
        return float(objective.scale) * scaled + float(objective.constant)

    order_teams(form, matrix, solver)
    try:
        strengthen(form, matrix, solver, objective, index, budget, _scaled_start(run, objective, index))
    except BudgetExhausted:
        return Stop.TIME_LIMIT
    while True:
        outcome = solver.run(
            objective_row(matrix, index),
            minimise=objective.minimise,
            budget=budget,
            relative_gap=gap,
            absolute_gap=0.999 if objective.step and not gap else 0.0,
            start=start_values(form, matrix, run.assignment),
            on_incumbent=lambda value: recorder.incumbent(index, true_value(value)),
            on_bound=lambda bound: recorder.bound(index, true_value(bound)),
        )
        if outcome.solution is None:
            if outcome.stop is Stop.INFEASIBLE and index > 0:
                return Stop.NUMERICAL  # the level before has a solution: floats lost it
            _note_bound(run, objective, index, outcome)
            return outcome.stop
        broken = broken_rows(form, outcome.solution)
        if not broken:
            break
        forbid(solver, broken, outcome.solution)
        if budget.exhausted:
            return Stop.TIME_LIMIT
    counts = read_counts(form, matrix, outcome.solution)
    _note_bound(run, objective, index, outcome)
    plan = optimal_shares(run.compiled, counts, run.reached[:index])
    if plan is not None and _better(run, plan.assignment, index, minimise=objective.minimise):
        run.assignment = plan.assignment
        run.prices = dict(plan.prices) or run.prices
    if run.assignment is None:
        raise InternalError("the solution of the exact model admits no shares")
    value = level_values(run.compiled, run.assignment)[index]
    run.reached.append(value)
    recorder.incumbent(index, float(value))
    bound = run.bounds[index]
    if bound is not None and not objective.step and abs(bound - value) <= NOISE * max(objective.scale, abs(value)):
        bound = run.bounds[index] = value
    if bound is not None:
        recorder.bound(index, float(bound))
    if outcome.stop is Stop.OPTIMAL:
        _bind(solver, matrix, objective, index, value)
    return outcome.stop


def _first_plan(compiled: Compiled, budget: Budget, recorder: Recorder, seed: int) -> Assignment | None:
    """A plan found by search where the instance is of a kind that search knows; exactly feasible."""
    counts = propose(compiled, budget, seed)
    if counts is None or overdrawn(compiled, counts, {}):
        return None
    found = Assignment(counts)
    recorder.phase(f"search found a first plan of value {float(level_values(compiled, found)[0]):g}")
    return found


def _scaled_start(run: _Run, objective: LevelObjective, index: int) -> float | None:
    if run.assignment is None:
        return None
    value = level_values(run.compiled, run.assignment)[index]
    return float((value - objective.constant) / objective.scale)


def objective_row(matrix: Matrix, index: int) -> npt.NDArray[np.float64]:
    """Costs of all columns for a level."""
    row: npt.NDArray[np.float64] = matrix.objectives[index]
    return row


def _better(run: _Run, candidate: Assignment, index: int, *, minimise: bool) -> bool:
    """Whether the candidate is at least as good on this level as what is held (always when nothing is held)."""
    if run.assignment is None:
        return True
    new = level_values(run.compiled, candidate)
    old = level_values(run.compiled, run.assignment)
    for level, reached, value in zip(run.compiled.model.levels, run.reached[:index], old, strict=False):
        worse = value - reached if level.sense == "min" else reached - value
        if worse > level.slack.allowance(reached):
            return True  # what is held breaks an earlier level
    return new[index] <= old[index] if minimise else new[index] >= old[index]


def _note_bound(run: _Run, objective: LevelObjective, index: int, outcome: Outcome) -> None:
    if len(run.bounds) > index:
        return
    if outcome.bound is None:
        run.bounds.append(None)
        return
    scaled = outcome.bound
    if objective.step:
        # values are multiples of the step: round to the next one, forgiving the solver's own tolerance
        slip = 1e-6 * max(1.0, abs(scaled) * 1e-3)
        whole = math.ceil(scaled - slip) if objective.minimise else math.floor(scaled + slip)
        # a constant outside the lattice cannot be: the step divides it
        run.bounds.append(objective.scale * whole + objective.constant)
    else:
        worse = -objective.noise if objective.minimise else objective.noise
        run.bounds.append(objective.scale * Fraction(scaled) + objective.constant + worse)


def _bind(solver: HighsRun, matrix: Matrix, objective: LevelObjective, index: int, value: Fraction) -> None:
    """Keep this level within its slack of the value truly reached."""
    allowed = objective.level.slack.allowance(value)
    limit = value + allowed if objective.minimise else value - allowed
    scaled = (limit - objective.constant) / objective.scale
    if objective.step:
        edge = math.floor(scaled) + 0.5 if objective.minimise else math.ceil(scaled) - 0.5
    else:
        margin = 1e-9 * max(1.0, abs(float(scaled))) + 2 * float(objective.noise / objective.scale)
        edge = float(scaled) + margin if objective.minimise else float(scaled) - margin
    row = {int(column): float(coef) for column, coef in enumerate(matrix.objectives[index]) if coef}
    if row:
        low, high = (-np.inf, edge) if objective.minimise else (edge, np.inf)
        solver.add_row(low, high, row)


def read_counts(
    form: Formulation, matrix: Matrix, solution: npt.NDArray[np.float64]
) -> dict[tuple[int, int, int], int]:
    """Counts of a solution, rounded to integers."""
    counts: dict[tuple[int, int, int], int] = {}
    for entry in form.entries:
        count = round(float(solution[matrix.columns[id(entry.variable)]]))
        if count:
            counts[entry.block, entry.option, entry.node] = count
    return counts


def start_values(form: Formulation, matrix: Matrix, assignment: Assignment | None) -> npt.NDArray[np.float64] | None:
    """Placement columns of a start; the solver completes the rest."""
    if assignment is None:
        return None
    values = np.full(len(matrix.column_lower), np.nan)
    counts = in_team_order(form, assignment.counts)
    for entry in form.entries:
        key = entry.block, entry.option, entry.node
        values[matrix.columns[id(entry.variable)]] = float(counts.get(key, 0))
    return values
