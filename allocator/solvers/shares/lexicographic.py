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
            if found is None or not self._bend(found):
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

    def _bend(self, found: _Optimum) -> bool:
        """Add tangents where response times lie above what the program says; whether that was needed."""
        late = []
        total = excess = 0.0
        for queue in self.made.queues:
            extra = float(found.point[queue.share]) if queue.share is not None else 0.0
            true = queue.wait(extra)
            short = true - float(found.point[queue.column]) * queue.scale
            total += true
            if short > 0 and queue.share is not None:
                late.append((short, extra, queue))
                excess += short
        if excess <= CLOSE * total:
            return False
        rows: list[tuple[dict[int, float], float]] = []
        first = self.solver.getNumRow()
        divided = self._divided(found.point)
        if divided and self._settled(found.point, divided):
            return False
        for short, extra, queue in late:
            if short <= CLOSE / 10 * queue.wait(extra):
                continue
            guess = divided.get(queue.column)
            if guess is None:
                guess = queue.steep_as(found.row_duals)
            for at in (extra,) if guess is None else (extra, guess):
                row = queue.tangent(at)
                if row is not None:
                    queue.noted(first + len(rows), row[0])
                    rows.append(row)
        self._add_rows(rows)
        return bool(rows)

    def _divided(self, point: Float) -> dict[int, float]:
        """Extra shares by column of a queue that are best beside what all others have at the point, if that is known.

        Where the others stand as they do at the optimum, these are its shares. Only where all of them are to be used.
        """
        made = self.made
        if not _only_sums(made):
            return {}
        totals = rounded_totals(made, point)
        column_of = {}
        for queue in made.queues:
            if queue.entry is not None:
                totals[queue.entry] = made.cohorts.least[queue.entry]
                column_of[queue.entry] = queue
        try:
            totals, _ = divide_best(made.room, totals, priced=False)
        except NotNested:
            return {}
        least = made.cohorts.least
        return {queue.column: float(totals[entry] - least[entry]) / queue.unit for entry, queue in column_of.items()}

    def _settled(self, point: Float, divided: Mapping[int, float]) -> bool:
        """Whether such shares are as good as the program says its point is; the point then gets them."""
        shares = [divided.get(queue.column, 0.0) for queue in self.made.queues]
        waits = [queue.wait(extra) for queue, extra in zip(self.made.queues, shares, strict=True)]
        stated = sum(float(point[queue.column]) * queue.scale for queue in self.made.queues)
        if sum(waits) > stated * (1 + CLOSE):
            return False
        for queue, extra, wait in zip(self.made.queues, shares, waits, strict=True):
            point[queue.column] = wait / queue.scale
            if queue.share is not None:
                point[queue.share] = extra
        return True

    def _add_rows(self, rows: Sequence[tuple[Mapping[int, float], float]]) -> None:
        """Add rows terms <= bound at once."""
        sizes = [len(terms) for terms, _ in rows]
        number, starts = len(rows), np.cumsum([0, *sizes])[:-1].astype(np.int32)
        columns = np.array([column for terms, _ in rows for column in terms], dtype=np.int32)
        values = np.array([value for terms, _ in rows for value in terms.values()], dtype=np.float64)
        upper = np.array([bound for _, bound in rows], dtype=np.float64)
        self.solver.addRows(number, np.full(number, -np.inf), upper, len(columns), starts, columns, values)

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
        last = not any(terms.terms for terms in stated[index + 1 :])
        if best is None and last and not reached:
            return SharePlan(tried, run.prices or {})
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
    if made.queues and _only_sums(made):
        try:
            return divide_best(made.room, totals, priced=False)[0]
        except NotNested:
            return totals
    return totals


def _only_sums(made: PlacementProgram) -> bool:
    """Whether rates and a sum of response times are all that feels shares: nobody minds that all are used."""
    goals = [goal for level in made.compiled.model.levels for goal in share_goals(made.compiled, level)]
    return all(goal.id in RATE_GOALS or (goal.id is GoalId.P99 and not goal.worst) for goal in goals)
