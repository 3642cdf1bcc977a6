"""Decides feasibility questions, and optimises one expression over the plans of a question, by CP-SAT's exact integers.

Owns the way from a question to an answer of yes, no or unknown. An answer of no is a proof, yes comes with a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from allocator.compiled.compile import compile_instance
from allocator.errors import BudgetExhausted, MethodRefused
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.formulation import formulate
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.refusal import refuse
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["Found", "Oracle"]

NEVER_DECIDES = frozenset({Family.FABRIC, Family.RATES, Family.SLO})
PORTION = 0.5  # of the time left that one question may take


@dataclass(frozen=True, slots=True)
class Found:
    """Best value of an expression and the variables' values there. ``proven``: no plan has a smaller one."""

    value: Fraction
    values: Sequence[int]
    proven: bool


@dataclass(frozen=True, slots=True)
class Oracle:
    """Asks CP-SAT. ``ignore``: families that the model leaves out."""

    ignore: frozenset[Family]
    budget: Budget
    seed: int = 0
    threads: int = 1

    @property
    def model(self) -> Model:
        """The model under which questions are compiled: who must be placed is stated by rows of its own."""
        return Model("feasibility", "", (Level((Goal(GoalId.PLACED),)),), self.ignore | NEVER_DECIDES)

    def feasible(self, asked: Instance) -> bool | None:
        """Whether the question has a plan; None when the time ran out or the question is too large."""
        symbols = self.state(_reduced(asked))
        if symbols is None:
            return None
        outcome = self._run(symbols)
        if outcome is None or (outcome.values is None and not outcome.complete):
            return None
        return outcome.values is not None

    def state(self, asked: Instance) -> Symbols | None:
        """The question as an integer program, mandatory members bound; None when there is no time or no room."""
        compiled = compile_instance(asked, self.model)
        try:
            self.budget.check()
            refuse(compiled)
            symbols = formulate(compiled, self.budget).symbols
            for block in compiled.blocks:
                if asked.workloads[block.workload].value:
                    symbols.builder.add(symbols.placed(block.index), "the size of a class", lower=block.count)
        except (MethodRefused, BudgetExhausted):
            return None
        return symbols

    def least(self, symbols: Symbols, expression: Linear, *, portion: float = PORTION) -> Found | None:
        """Smallest value of an expression that is found in a portion of the time left; None when no plan is."""
        try:
            unit = symbols.builder.minimize(expression, "the size of a change")
        except MethodRefused:
            return None
        outcome = self._run(symbols, portion)
        if outcome is None or outcome.values is None:
            return None
        value = Fraction(expression.value(outcome.values))
        bound = None if outcome.bound is None else outcome.bound * unit + expression.constant
        return Found(value, outcome.values, outcome.complete and bound == value)

    def _run(self, symbols: Symbols, portion: float = PORTION) -> Any:
        from allocator.solvers.cpsat.engine import Controls, Outcome, run

        if symbols.builder.impossible:
            return Outcome(None, None, complete=True, conflicts=0)
        if self.budget.exhausted:
            return None
        nothing: Callable[[float], None] = _ignore
        controls = Controls(self.seed, max(1, self.threads), 0.0, None)
        return run(
            symbols.builder,
            budget=self.budget.portion(portion),
            controls=controls,
            hint=None,
            on_value=nothing,
            on_bound=nothing,
        )


def _ignore(_value: float) -> None:
    """Nobody listens to the steps of a feasibility question."""


def _reduced(asked: Instance) -> Instance:
    """The question without classes that may stay out and whose presence can help nobody.

    A member that may stay out helps others only by being what they depend on, by covering a domain for its group, or by
    staying where it runs now.
    """
    helping = {rule.on for rule in asked.dependencies} | {rule.group for rule in asked.spreads}
    running = {entry.workload for entry in asked.current or ()}
    if asked.teams:
        return asked
    workloads = tuple(
        workload
        if workload.value or workload.group in helping or workload.name in running
        else replace(workload, count=0)
        for workload in asked.workloads
    )
    return replace(asked, workloads=workloads)
