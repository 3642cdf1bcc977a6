"""Method ``cpsat``: exact integer optimisation by OR-Tools CP-SAT. Owns the answer; OR-Tools loads when it solves."""

from __future__ import annotations

import time
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import BudgetExhausted
from allocator.plan.result import LinearizationCertificate, Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.refusal import SUPPORT, refuse
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.recorder import Recorder

__all__ = ["CpsatMethod"]


class CpsatMethod:
    """Solve by CP-SAT, integers scaled exactly or refused. An iteration is a conflict of the search, per level."""

    name = "cpsat"
    support: Support = SUPPORT

    def refuse(self, compiled: Compiled) -> None:
        """Raise ``MethodRefused`` when the instance is not stated exactly, or too large. Cheap."""
        refuse(compiled)

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
        """Solve level by level; see ``Method``.

        Raises
        ------
        MethodRefused : while building, when a scaled number does not fit 64-bit integers.
        """
        self.refuse(compiled)
        if budget.exhausted:  # before OR-Tools loads, which takes a second
            return _kept(compiled, start, budget, "before building the model")
        from allocator.solvers.cpsat.coarse import coarse_plans
        from allocator.solvers.cpsat.engine import Controls
        from allocator.solvers.cpsat.formulation import formulate
        from allocator.solvers.cpsat.levels import Search, solve_levels
        from allocator.solvers.cpsat.symmetry import order_teams

        began = time.monotonic()
        recorder.phase("build")
        try:
            formulation = formulate(compiled, budget)
            if start is None:
                order_teams(formulation.symbols)
        except BudgetExhausted as stop:
            return _kept(compiled, start, budget, f"while building the model: {stop}")
        built = time.monotonic()
        search = Search(
            formulation, budget, recorder, Controls(seed, max(1, threads), max(0.0, gap), budget.limits.iterations)
        )
        starts = [] if start is None else [start]
        starts += coarse_plans(compiled, budget, seed, search.controls.threads)
        search.starts = [formulation.symbols.builder.complete(formulation.hint(known)) for known in starts]
        solve_levels(search)
        builder = formulation.symbols.builder
        return Answer(
            status=_status(search.values is not None, search.reason),
            termination=Termination(
                search.reason or TerminationReason.OPTIMAL, f"search conflicts: {search.conflicts}"
            ),
            assignment=None if search.values is None else formulation.assignment(search.values),
            claims=tuple(search.claims()),
            bounds=tuple(search.bounds),
            linearization=LinearizationCertificate(Fraction(0), Fraction(0), "everything is exact"),
            size={"variables": len(builder.variables), "constraints": len(builder.rows) + len(builder.products)},
            seconds={"build": built - began, "solve": time.monotonic() - built},
        )


def _kept(compiled: Compiled, start: Assignment | None, budget: Budget, where: str) -> Answer:
    """The start as it is, when there is no time for more."""
    nothing: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
    reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
    status = Status.UNKNOWN if start is None else Status.FEASIBLE
    claims = nothing if start is None else tuple(level_values(compiled, start))
    return Answer(status, Termination(reason, where), start, claims, nothing)


def _status(found: bool, reason: TerminationReason | None) -> Status:
    if reason is TerminationReason.INFEASIBLE:
        return Status.INFEASIBLE
    if not found:
        return Status.UNKNOWN
    return Status.OPTIMAL if reason is None else Status.FEASIBLE
