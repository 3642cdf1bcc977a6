"""The method ``milp``: the whole model exactly, level by level, in HiGHS; answers in exact counts and shares.

Owns the order of building and solving and the wording of the answer. Must not know any family or HiGHS.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import BudgetExhausted, ModelTooLarge
from allocator.model.families import Family, GoalId
from allocator.plan.result import LinearizationCertificate, Status, Termination, TerminationReason, gap_between
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.use import overdrawn
from allocator.solvers.milp.assignment import num_placement_variables
from allocator.solvers.milp.build import build
from allocator.solvers.milp.columns import placements_to
from allocator.solvers.milp.fabric.curves import bent_links, linearization
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun, Stop
from allocator.solvers.milp.levels import LevelRun, Progress
from allocator.solvers.milp.matrix import compile_matrix
from allocator.solvers.milp.pair_search import propose
from allocator.solvers.milp.rate_search import propose_rates
from allocator.solvers.milp.response.refine import response_certificate
from allocator.solvers.milp.response.service import p99_goal
from allocator.solvers.milp.response.worst import refuse_mixed
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["MAX_PLACEMENT_VARIABLES", "MilpMethod"]

MAX_PLACEMENT_VARIABLES = 1_500_000
# where levels are not whole multiples of a step: rows that keep earlier levels are this tight, and at its own 1e-6
# HiGHS lost plans that meet them exactly; at 1e-8 too few values are told apart
FINE_TOLERANCE = 1e-9
BUILD_SHARE = 0.85  # of the time left: a model that takes longer to build is not solved either, and takes time to drop
SAME = Fraction(1, 10**9)  # relative difference that counts as agreement where values are not integral


@dataclass
class _Report:
    """What goes into the answer beside what the levels found."""

    progress: Progress
    budget: Budget
    form: Formulation | None = None
    size: dict[str, int | None] = field(default_factory=lambda: {"variables": None, "constraints": None})
    seconds: dict[str, float] = field(default_factory=dict)

    def answer(self, status: Status, termination: Termination) -> Answer:
        """The answer with exact claims for every level."""
        progress = self.progress
        num_levels = len(progress.compiled.model.levels)
        claims: tuple[Fraction | None, ...] = (None,) * num_levels
        if progress.assignment is not None:
            claims = level_values(progress.compiled, progress.assignment)
        bounds = (*progress.bounds, *(None for _ in range(num_levels)))[:num_levels]
        certificate = None
        if self.form is not None and progress.assignment is not None:
            certificate = response_certificate(self.form, progress.assignment)
            if certificate is None or bent_links(self.form):
                certificate = _worse(linearization(self.form, progress.assignment.counts), certificate)
        return Answer(
            status,
            termination,
            progress.assignment,
            claims,
            bounds,
            certificate,
            self.size,
            self._prices(),
            self.seconds,
        )

    def _prices(self) -> Mapping[tuple[int, str], float]:
        """Prices at the final placement, of the first level that can use more: later levels are tied to it."""
        progress = self.progress
        if progress.assignment is None or self.budget.exhausted:
            return {}
        plan = optimal_shares(progress.compiled, progress.assignment.counts)
        return {} if plan is None else plan.prices

    def infeasible(self) -> Answer:
        """The answer of a model without a solution."""
        none = (None,) * len(self.progress.compiled.model.levels)
        termination = Termination(TerminationReason.INFEASIBLE, "the exact model has no solution")
        return Answer(Status.INFEASIBLE, termination, None, none, none, size=self.size, seconds=self.seconds)

    def unfinished(self, where: str, stop: Stop = Stop.TIME_LIMIT) -> Answer:
        """The best known when a step did not come to its end."""
        reason = TerminationReason.INTERRUPTED if self.budget.interrupted else TerminationReason.TIME_LIMIT
        if stop is Stop.NUMERICAL and not self.budget.exhausted:
            reason, where = TerminationReason.CONVERGED, f"{where}: the solver met numerical trouble"
        status = Status.UNKNOWN if self.progress.assignment is None else Status.FEASIBLE
        return self.answer(status, Termination(reason, f"stopped {where}"))

    def _gap(self, index: int) -> Fraction | None:
        """Gap of a level when it was reached, or of the plan in the end where that has a better value."""
        progress = self.progress
        found = [
            gap_between(value, progress.bounds[index]) for value in (progress.reached[index], progress.value(index))
        ]
        return min((gap for gap in found if gap is not None), default=None)

    def finished(self, gap: float) -> Answer:
        """Optimal where value and bound agree on every level, else within the gap."""
        gaps = [self._gap(index) for index in range(len(self.progress.reached))]
        if all(difference is not None and difference <= SAME for difference in gaps):
            return self.answer(Status.OPTIMAL, Termination(TerminationReason.OPTIMAL, ""))
        detail = f"every level is within the gap of {gap:g}" if gap else "as near as floating point can tell"
        bent = self.form is not None and (bent_links(self.form) or p99_goal(self.form.compiled))
        tolerance = self.progress.compiled.model.linearization.tolerance
        if not gap and bent and tolerance >= max(difference or 0 for difference in gaps):
            detail = f"every level is within the linearisation tolerance of {float(tolerance):g}"
        return self.answer(Status.FEASIBLE, Termination(TerminationReason.GAP, detail))


def _worse(first: LinearizationCertificate, second: LinearizationCertificate | None) -> LinearizationCertificate:
    """Both certificates in one: the larger of the errors, where both are proven."""
    if second is None:
        return first
    return LinearizationCertificate(
        max(first.max_relative_error, second.max_relative_error),
        max(first.measured, second.measured),
        f"{first.proven_over}; {second.proven_over}",
    )


class MilpMethod:
    """Exact mixed-integer formulation of all families and goals but ``quality``."""

    name = "milp"
    support = Support(
        frozenset(Family),
        frozenset(GoalId) - {GoalId.QUALITY},
        frozenset({"fair", "knee", "table"}),
    )

    def refuse(self, compiled: Compiled) -> None:
        """Refuse models that are too large to build, and a worst P99 that is weighed against other goals."""
        for level in compiled.model.levels:
            refuse_mixed(level)
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
        report = _Report(Progress(compiled, start), budget)
        try:
            began = time.monotonic()
            if start is None:
                report.progress.assignment = _first_plan(compiled, budget, recorder, seed)
            recorder.phase("building the exact model")
            form, objectives = build(compiled, budget.portion(BUILD_SHARE))
            report.form = form
            matrix = compile_matrix(form, objectives)
            report.size = {"variables": len(matrix.column_lower), "constraints": len(matrix.row_lower)}
            report.seconds["build"] = time.monotonic() - began
            tolerance = FINE_TOLERANCE if any(objective.fine for objective in objectives) else None
            solver = HighsRun(matrix, seed=seed, threads=threads, tolerance=tolerance)
            solver.on_solution = placements_to(recorder, form, matrix)
            budget.check()
        except BudgetExhausted:
            return report.unfinished("while building the model")
        levels = LevelRun(form, matrix, solver, report.progress, budget, recorder, gap)
        for index, objective in enumerate(objectives):
            stop = levels.solve(objective, index)
            if stop is Stop.INFEASIBLE and index == 0:
                return report.infeasible()
            if stop is not Stop.OPTIMAL:
                return report.unfinished(f"at level {index + 1}", stop)
        return report.finished(gap)


def _first_plan(compiled: Compiled, budget: Budget, recorder: Recorder, seed: int) -> Assignment | None:
    """A plan found by search where the instance is of a kind that search knows; exactly feasible."""
    counts = propose(compiled, budget, seed) or propose_rates(compiled, budget, seed)
    if counts is None or overdrawn(compiled, counts, {}):
        return None
    shared = optimal_shares(compiled, counts)
    if shared is None:
        return None
    found = shared.assignment
    recorder.phase(f"search found a first plan of value {float(level_values(compiled, found)[0]):g}")
    return found
