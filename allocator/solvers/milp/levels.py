"""The levels of a model one after another in HiGHS, with exact values, bounds and the rows that keep earlier levels.

Owns what happens to one level. Must not know how the model was built or how an answer is worded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.errors import BudgetExhausted, InternalError
from allocator.model.entities import Level
from allocator.model.families import GoalId
from allocator.plan.result import gap_between
from allocator.solvers.base import Assignment
from allocator.solvers.bounds.combinatorial import level_bound
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.milp.build import LevelObjective
from allocator.solvers.milp.columns import read_counts, start_values
from allocator.solvers.milp.cuts import broken_rows, forbid
from allocator.solvers.milp.fabric.curves import refine
from allocator.solvers.milp.fabric.strengthen import strengthen, with_root_bound
from allocator.solvers.milp.fabric.team_order import order_teams
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun, Outcome, Stop, ignore
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.response.cost import fastest_sum, queues
from allocator.solvers.milp.response.refine import at_placement
from allocator.solvers.milp.response.root import stated, tighten
from allocator.solvers.milp.response.worst import is_worst
from allocator.solvers.milp.rows import Rows, delete_rows
from allocator.solvers.milp.worst_level import lower_worst
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["LevelRun", "Progress"]

Float = npt.NDArray[np.float64]
KEPT = Fraction(1, 10**6)  # of an earlier level's value: what rows of floats may lose of it
ROW_MARGIN = 1e-9  # relative slack of a row that keeps a level: what later levels may gain by it counts as agreement
GAP_SHARE = 0.3  # of the tolerance of tangents, for the search of placements
AGREED = Fraction(1, 10**10)  # relative difference of value and bound that no tangent improves
NOISE = Fraction(1, 10**11)  # of the largest coefficient: what summing floats may leave of a zero


@dataclass
class Progress:
    """Best assignment so far; true value and bound of each level that was reached."""

    compiled: Compiled
    assignment: Assignment | None = None
    reached: list[Fraction] = field(default_factory=list)
    bounds: list[Fraction | None] = field(default_factory=list)

    def value(self, index: int) -> Fraction | None:
        """True value of a level at the best assignment."""
        return None if self.assignment is None else level_values(self.compiled, self.assignment)[index]

    def takes(self, candidate: Assignment, index: int) -> bool:
        """Whether the candidate is at least as good on this level as what is held (always when nothing is held)."""
        if self.assignment is None:
            return True
        new = level_values(self.compiled, candidate)
        old = level_values(self.compiled, self.assignment)
        levels = self.compiled.model.levels
        if not self._keeps(old, index):
            return True
        if not self._keeps(new, index):  # rows that keep earlier levels are as loose as floats
            return False
        return new[index] <= old[index] if levels[index].sense == "min" else new[index] >= old[index]

    def _keeps(self, values: Sequence[Fraction], index: int) -> bool:
        """Whether values keep the levels before ``index`` within their slack of what was reached."""
        for level, reached, value in zip(self.compiled.model.levels, self.reached[:index], values, strict=False):
            worse = value - reached if level.sense == "min" else reached - value
            if worse > level.slack.allowance(reached) + KEPT * abs(reached):
                return False
        return True


@dataclass(frozen=True)
class LevelRun:
    """The model in HiGHS and what solving its levels needs."""

    form: Formulation
    matrix: Matrix
    solver: HighsRun
    progress: Progress
    budget: Budget
    recorder: Recorder
    gap: float

    def solve(self, objective: LevelObjective, index: int) -> Stop:
        """Optimise one level, then bind it."""
        self.recorder.phase(" + ".join(goal.id for goal in objective.level.goals), level=index)
        if self._is_met(objective, index):
            return Stop.OPTIMAL
        if is_worst(objective.level):
            return lower_worst(self, index)
        return self._search(objective, index)

    def _search(self, objective: LevelObjective, index: int) -> Stop:
        """Optimise one level by branch and bound, then bind it."""
        order_teams(self.form, self.matrix, self.solver)
        target = _scaled(objective, self.progress.value(index))
        try:
            root = strengthen(self.form, self.matrix, self.solver, objective, index, budget=self.budget, target=target)
            self.budget.check()
        except BudgetExhausted:
            return Stop.TIME_LIMIT
        relative_gap = self.gap
        if _is_bent(objective.level):
            tighten(
                self.form, self.solver, self.matrix.objectives[index], scale=float(objective.scale), budget=self.budget
            )
            relative_gap = max(self.gap, GAP_SHARE * float(self.form.compiled.model.linearization.tolerance))
        while True:
            outcome = self._optimise(objective, index, relative_gap)
            outcome = with_root_bound(outcome, root, minimise=objective.minimise)
            if outcome.solution is None:
                if outcome.stop is Stop.INFEASIBLE and index > 0:
                    return Stop.NUMERICAL  # the level before has a solution: floats lost it
                self._note_bound(objective, index, outcome)
                return outcome.stop
            self._note_bound(objective, index, outcome)
            counts = read_counts(self.form, self.matrix, outcome.solution)
            value = self._take(counts, index)
            if outcome.stop is not Stop.OPTIMAL or not self._bends_too_far(index, value, counts, outcome.solution):
                break
            relative_gap = max(self.gap, relative_gap / 2)
        self._settle_bound(objective, index, value)
        if outcome.stop is Stop.OPTIMAL:
            self._bind(objective, index, value)
        return outcome.stop

    def _is_met(self, objective: LevelObjective, index: int) -> bool:
        """Whether the best known plan is as good as totals allow; the level is then kept without a search."""
        held = self.progress.value(index)
        if held is None or held != self._total(objective.level, index):
            return False
        self.progress.reached[index:] = [held]
        self.progress.bounds[index:] = [held]
        self.recorder.incumbent(index, float(held))
        self.recorder.bound(index, float(held))
        self._bind(objective, index, held)
        return True

    def _total(self, level: Level, index: int) -> Fraction | None:
        """A bound from totals, None where there is none."""
        if not _is_bent(level):
            return level_bound(self.progress.compiled, level)
        if len(level.goals) > 1 or level.goals[0].worst or not self._places_everyone(index):
            return None
        return fastest_sum(self.form) * level.goals[0].weight

    def _places_everyone(self, index: int) -> bool:
        """Whether plans that keep the earlier levels place every member."""
        compiled = self.progress.compiled
        if not compiled.model.may_leave_out:
            return True
        valued = all(workload.value > 0 for workload in compiled.instance.workloads)
        total = sum((workload.value * workload.count for workload in compiled.instance.workloads), Fraction(0))
        return valued and any(
            [goal.id for goal in level.goals] == [GoalId.PLACED]
            and level.slack.value == 0
            and reached == total * level.goals[0].weight
            for level, reached in zip(compiled.model.levels[:index], self.progress.reached, strict=False)
        )

    def _optimise(self, objective: LevelObjective, index: int, relative_gap: float) -> Outcome:
        """Run one objective from the best known plan."""

        def true_value(scaled: float) -> float:
            return float(objective.scale) * scaled + float(objective.constant)

        return self._run(
            self.matrix.objectives[index],
            minimise=objective.minimise,
            relative_gap=relative_gap,
            absolute_gap=0.999 if objective.step and not self.gap else 0.0,
            start=start_values(self.form, self.matrix, self.progress.assignment),
            on_incumbent=lambda value: self.recorder.incumbent(index, true_value(value)),
            on_bound=lambda bound: self.recorder.bound(index, true_value(bound)),
        )

    def _run(
        self,
        cost: Float,
        *,
        minimise: bool,
        relative_gap: float = 0.0,
        absolute_gap: float = 0.0,
        start: Float | None = None,
        on_incumbent: Callable[[float], None] = ignore,
        on_bound: Callable[[float], None] = ignore,
    ) -> Outcome:
        """Run; while a rounded solution breaks an integer row of large coefficients, cut it off and run again."""
        while True:
            outcome = self.solver.run(
                cost,
                minimise=minimise,
                budget=self.budget,
                relative_gap=relative_gap,
                absolute_gap=absolute_gap,
                start=start,
                on_incumbent=on_incumbent,
                on_bound=on_bound,
            )
            if outcome.solution is None:
                return outcome
            broken = broken_rows(self.form, outcome.solution)
            if not broken:
                return outcome
            forbid(self.solver, broken, outcome.solution)
            if self.budget.exhausted:
                return Outcome(Stop.TIME_LIMIT, None, None)

    def attempt(self, rows: Rows, index: int) -> Outcome:
        """Any solution that keeps further rows; they are taken away again."""
        first = int(self.solver.solver.getNumRow())
        rows.add_to(self.solver)
        outcome = self._run(self.matrix.objectives[index], minimise=True)
        delete_rows(self.solver, range(first, first + len(rows)))
        return outcome

    def take(self, outcome: Outcome, index: int) -> Fraction:
        """Give a solution's placement its best shares, keep it if it is better; the true value held."""
        if outcome.solution is None:
            raise InternalError("there is no solution to take")
        return self._take(read_counts(self.form, self.matrix, outcome.solution), index)

    def held(self, index: int) -> Fraction | None:
        """True value of the best known plan with its best shares for this level, None without one."""
        known = self.progress.assignment
        return None if known is None else self._take(dict(known.counts), index)

    def _take(self, counts: dict[tuple[int, int, int], int], index: int) -> Fraction:
        """Give the counts their best shares, keep them if they are better, and return the true value held."""
        progress = self.progress
        plan = optimal_shares(progress.compiled, counts, progress.reached[:index])
        if plan is not None and progress.takes(plan.assignment, index):
            progress.assignment = found = plan.assignment
            self.recorder.offer(lambda: found)
        value = progress.value(index)
        if value is None:
            raise InternalError("the solution of the exact model admits no shares")
        progress.reached[index:] = [value]
        self.recorder.incumbent(index, float(value))
        return value

    def _note_bound(self, objective: LevelObjective, index: int, outcome: Outcome) -> None:
        bounds = self.progress.bounds
        known = bounds[index] if len(bounds) > index else self._total(objective.level, index)
        bounds[index:] = [known]
        if outcome.bound is None:
            return
        scaled = outcome.bound
        if objective.step:
            # values are multiples of the step: round to the next one, forgiving the solver's own tolerance
            slip = 1e-6 * max(1.0, abs(scaled) * 1e-3)
            whole = math.ceil(scaled - slip) if objective.minimise else math.floor(scaled + slip)
            # a constant outside the lattice cannot be: the step divides it
            found = objective.scale * whole + objective.constant
        else:
            worse = -objective.noise if objective.minimise else objective.noise
            found = objective.scale * Fraction(scaled) + objective.constant + worse
        tighter = max if objective.minimise else min
        bounds[index] = found if known is None else tighter(known, found)

    def _bends_too_far(
        self,
        index: int,
        value: Fraction,
        counts: dict[tuple[int, int, int], int],
        solution: Float,
    ) -> bool:
        """Whether tangents left more than the tolerance between value and bound, and new ones were added for it."""
        gap = gap_between(value, self.progress.bounds[index])
        tolerance = self.form.compiled.model.linearization.tolerance
        if gap is None or gap <= max(tolerance, AGREED) or self.budget.exhausted:
            return False
        tangents = refine(self.form, counts)
        for row, bound in tangents:
            self.solver.add_row(-np.inf, bound, row)
        rows = Rows()
        if queues(self.form):
            first = next(i for i, level in enumerate(self.form.compiled.model.levels) if _is_bent(level))
            best = optimal_shares(self.progress.compiled, counts, self.progress.reached[: min(first, index)])
            rows = stated(at_placement(self.form, counts, solution, None if best is None else best.assignment))
            rows.add_to(self.solver)
        return bool(tangents) or bool(len(rows))

    def _settle_bound(self, objective: LevelObjective, index: int, value: Fraction) -> None:
        """A bound that differs from the value by summing floats alone is the value; one that it refutes is none."""
        bounds = self.progress.bounds
        bound = bounds[index]
        beyond = Fraction(0) if bound is None else bound - value if objective.minimise else value - bound
        if beyond > KEPT * max(Fraction(1), abs(value)):
            bound = bounds[index] = None
        if bound is not None and not objective.step and abs(bound - value) <= NOISE * max(objective.scale, abs(value)):
            bound = bounds[index] = value
        if bound is not None:
            self.recorder.bound(index, float(bound))

    def _bind(self, objective: LevelObjective, index: int, value: Fraction) -> None:
        """Keep this level within its slack of the value truly reached."""
        allowed = objective.level.slack.allowance(value)
        limit = value + allowed if objective.minimise else value - allowed
        scaled = (limit - objective.constant) / objective.scale
        if objective.step:
            edge = math.floor(scaled) + 0.5 if objective.minimise else math.ceil(scaled) - 0.5
        else:
            margin = ROW_MARGIN * max(1.0, abs(float(scaled))) + 2 * float(objective.noise / objective.scale)
            edge = float(scaled) + margin if objective.minimise else float(scaled) - margin
        row = {int(column): float(coef) for column, coef in enumerate(self.matrix.objectives[index]) if coef}
        if row:
            low, high = (-np.inf, edge) if objective.minimise else (edge, np.inf)
            self.solver.add_row(low, high, row)


def _scaled(objective: LevelObjective, value: Fraction | None) -> float | None:
    return None if value is None else float((value - objective.constant) / objective.scale)


def _is_bent(level: Level) -> bool:
    return GoalId.P99 in {goal.id for goal in level.goals}
