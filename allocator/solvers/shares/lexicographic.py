"""Best shares by linear programs, level by level, with tangents of response times where they are needed.

Owns how a level is optimised and kept. The program of the placement, its goals and the rounding are elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np
import numpy.typing as npt

from allocator.errors import InternalError, MethodRefused
from allocator.model.entities import Level
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.shares.cohorts import Cohorts, spread_out
from allocator.solvers.shares.critical import divide_best
from allocator.solvers.shares.dependence import RATE_GOALS, keeps, share_goals
from allocator.solvers.shares.easy import unpriced
from allocator.solvers.shares.goals import LevelTerms, level_terms
from allocator.solvers.shares.grants import Links, exact_grants, fair_grants, full_grants
from allocator.solvers.shares.placement_program import PlacementProgram, placement_program
from allocator.solvers.shares.room import Room
from allocator.solvers.shares.rounding import rounded_totals
from allocator.solvers.shares.share_plan import SharePlan
from allocator.solvers.shares.square_root import NotNested

__all__ = ["programmed_shares"]

INFEASIBLE = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
SAFE = 1e-10  # relative allowance for keeping a level that floating point reached
BENT_SAFE = 4e-10  # the same where tangents state the level
CLOSE = 2e-11  # relative distance of tangents from the truth that is close enough
ROUNDS = 60
DUAL = 1e-7  # of the largest cost: a dual above it is not zero
Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Optimum:
    """A solution of the program with its duals; ``value`` of the objective without its constant."""

    point: Float
    value: float
    column_duals: Float
    row_duals: Float


@dataclass
class _Run:
    """The program in HiGHS and what was learnt of its levels."""

    made: PlacementProgram
    solver: highspy.Highs
    prices: dict[tuple[int, str], float] | None = None

    def optimise(self, terms: Mapping[int, float], *, minimise: bool) -> _Optimum | None:
        """Best point, with tangents added until response times are met; None when there is none."""
        size = max((abs(coef) for coef in terms.values()), default=1.0)
        cost = np.zeros(self.solver.getNumCol())
        for column, coef in terms.items():
            cost[column] = coef / size
        self.solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        self.solver.changeObjectiveSense(highspy.ObjSense.kMinimize if minimise else highspy.ObjSense.kMaximize)
        for _ in range(ROUNDS):
            found = self._solve(size)
            if found is None or not self._bend(found.point):
                break
        return found

    def _solve(self, size: float) -> _Optimum | None:
        solver = self.solver
        if not solver.getNumCol():
            return _Optimum(np.zeros(0), 0.0, np.zeros(0), np.zeros(0))
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            solver.clearSolver()  # once more from nothing, before believing it
            solver.setOptionValue("presolve", "off")
            solver.run()
        status = solver.getModelStatus()
        if status in INFEASIBLE:
            return None
        if status == highspy.HighsModelStatus.kUnbounded:
            raise MethodRefused(
                "the sizes of the numbers of this instance are too far apart to share by floating point"
            )
        if status != highspy.HighsModelStatus.kOptimal:
            raise InternalError(f"HiGHS ends the share program with {status}")
        found = solver.getSolution()
        return _Optimum(
            np.array(found.col_value),
            float(solver.getInfo().objective_function_value) * size,
            np.array(found.col_dual),
            np.array(found.row_dual) * size,
        )

    def _bend(self, point: Float) -> bool:
        """Add tangents where response times lie above what the program says; whether that was needed."""
        late = []
        total = excess = 0.0
        for queue in self.made.queues:
            true = queue.wait(float(point[queue.share]) if queue.share is not None else 0.0)
            short = true - float(point[queue.column]) * queue.scale
            total += true
            if short > 0 and queue.share is not None:
                late.append((short / true if true else 0.0, queue))
                excess += short
        if excess <= CLOSE * total:
            return False
        added = False
        for error, queue in late:
            if error <= CLOSE / 10 or queue.share is None:
                continue
            for extra in queue.around(float(point[queue.share]), error):
                row = queue.tangent(extra)
                if row is not None:
                    self._add(row[0], -np.inf, row[1])
                    added = True
        return added

    def note_prices(self, found: _Optimum) -> None:
        """Prices from the duals of the rows that limit something."""
        prices = unpriced(self.made.room, self.made.links)
        for row, dual in zip(self.made.program.rows, found.row_duals.tolist(), strict=False):
            if row.names is not None:
                # both directions of a link have one bandwidth: one more unit relaxes both
                prices[row.names] = prices.get(row.names, 0.0) + abs(dual) / row.unit
        self.prices = prices

    def keep(self, terms: Mapping[int, float], limit: float, *, minimise: bool) -> None:
        """Bound a level's value, without its constant."""
        size = max(abs(coef) for coef in terms.values())
        low, high = (-np.inf, limit / size) if minimise else (limit / size, np.inf)
        self._add({column: coef / size for column, coef in terms.items()}, low, high)

    def stay_optimal(self, found: _Optimum) -> None:
        """Fix what must not change if the level just solved is to stay at its optimum (complementary slackness)."""
        solver = self.solver
        lp = solver.getLp()
        low, high = np.array(lp.col_lower_), np.array(lp.col_upper_)
        for column in np.flatnonzero(np.abs(found.column_duals) > DUAL).tolist():
            at = (
                low[column]
                if abs(found.point[column] - low[column]) <= abs(high[column] - found.point[column])
                else high[column]
            )
            solver.changeColBounds(column, float(at), float(at))
        row_low, row_high = np.array(lp.row_lower_), np.array(lp.row_upper_)
        size = float(np.abs(found.row_duals).max(initial=0.0))
        for row in np.flatnonzero(np.abs(found.row_duals) > DUAL * size).tolist():
            at = row_high[row] if np.isfinite(row_high[row]) else row_low[row]
            solver.changeRowBounds(row, float(at), float(at))

    def _add(self, terms: Mapping[int, float], low: float, high: float) -> None:
        columns = np.fromiter(terms, dtype=np.int32, count=len(terms))
        values = np.fromiter(terms.values(), dtype=np.float64, count=len(terms))
        self.solver.addRow(low, high, len(terms), columns, values)


def programmed_shares(
    cohorts: Cohorts, links: Links, reached: Sequence[Fraction], *, first: int = 0
) -> SharePlan | None:
    """Best shares of the levels in order; None when none fit, or none keep what was reached.

    ``first``: levels before it are kept by the least totals of the cohorts already.
    """
    compiled = cohorts.compiled
    made = placement_program(cohorts, Room(cohorts), links)
    levels = compiled.model.levels
    stated = [level_terms(made, level) if index >= first else LevelTerms() for index, level in enumerate(levels)]
    run = _Run(made, made.program.solver())
    best: Assignment | None = None
    before: list[Fraction] = []
    for index, (level, terms) in enumerate(zip(levels, stated, strict=True)):
        if index < first or not terms.terms:
            continue
        minimise = level.sense == "min"
        bent = any(goal.id is GoalId.P99 for goal in share_goals(compiled, level))
        if index < len(reached):
            allowed = float(reached[index] + _slack(level, reached[index]) - terms.constant)
            run.keep(terms.terms, _loosened(allowed, SAFE, minimise=minimise), minimise=minimise)
            continue
        found = run.optimise(terms.terms, minimise=minimise)
        if found is None:
            return None if best is None else SharePlan(best, run.prices or {})
        if run.prices is None:
            run.note_prices(found)
        tried = _assignment(made, found.point)
        values = list(level_values(compiled, tried))
        if best is None or keeps(compiled, values, before[:index], given=False):
            best, before = tried, values
        run.keep(terms.terms, _loosened(found.value, BENT_SAFE if bent else SAFE, minimise=minimise), minimise=minimise)
        if not bent:
            run.stay_optimal(found)
    if best is None:
        found = run.optimise({}, minimise=True)
        if found is None:
            return None
        best = _assignment(made, found.point)
        before = list(level_values(compiled, best))
    return SharePlan(best, run.prices or {}) if keeps(compiled, before, reached) else None


def _slack(level: Level, value: Fraction) -> Fraction:
    allowed = level.slack.allowance(value)
    return allowed if level.sense == "min" else -allowed


def _loosened(value: float, part: float, *, minimise: bool) -> float:
    away = part * max(abs(value), 1e-30)
    return value + away if minimise else value - away


def _assignment(made: PlacementProgram, point: Float) -> Assignment:
    """Exact shares and grants of a solution."""
    cohorts, compiled = made.cohorts, made.compiled
    if RATE_GOALS & set(compiled.model.goal_ids):
        theta = full_grants(compiled, cohorts.counts)
        wanted = {key: float(point[column]) for key, column in made.theta.items()}
        theta.update(exact_grants(made.links, wanted))
    else:
        theta = fair_grants(compiled, cohorts.counts)
    return Assignment(dict(cohorts.counts), spread_out(cohorts, _whole_totals(made, point)), theta)


def _whole_totals(made: PlacementProgram, point: Float) -> Int64:
    """Totals in whole units; what rounding leaves goes to critical cohorts where nobody is the worse for it."""
    totals = rounded_totals(made, point)
    felt = {goal.id for level in made.compiled.model.levels for goal in share_goals(made.compiled, level)}
    if GoalId.P99 in felt and felt <= RATE_GOALS | {GoalId.P99}:
        try:
            return divide_best(made.room, totals, priced=False)[0]
        except NotNested:
            return totals
    return totals
