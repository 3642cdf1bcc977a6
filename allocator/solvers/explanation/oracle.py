"""Decides feasibility questions, and optimises one expression over the plans of a question, by CP-SAT's exact integers.

Owns the way from a question to an answer of yes, no or unknown. An answer of no is a proof, yes comes with a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from allocator.compiled.compile import compile_instance
from allocator.errors import BudgetExhausted, MethodRefused
from allocator.instance.entities import Demand, Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.formulation import formulate
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.refusal import refuse
from allocator.solvers.cpsat.symbols import Symbols
from allocator.solvers.explanation.quick import quick_answer

__all__ = ["Found", "Oracle", "Standing", "equal_classes", "reduced"]

NEVER_DECIDES = frozenset({Family.FABRIC, Family.RATES, Family.SLO, Family.LINK_LOAD})
PORTION = 0.5  # of the time left that one question may take


Standing = Mapping[tuple[str, int, int, int, int], int]
"""Members by (class, node and option they run in now, option, node), -1 for nowhere."""


@dataclass(frozen=True, slots=True)
class Found:
    """Best value of an expression and the variables' values there. ``proven``: no plan has a smaller one."""

    value: Fraction
    values: Sequence[int]
    proven: bool
    standing: Standing


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

    def feasible(self, asked: Instance, start: Standing | None = None) -> bool | None:
        """Whether the question has a plan; None when the time ran out or the question is too large.

        Parameters
        ----------
        start : where members may stand, if that is known; tried first.
        """
        smaller = reduced(asked)
        compiled = compile_instance(smaller, self.model)
        answer = quick_answer(compiled, lambda: self.budget.exhausted)
        if answer is not None:
            return answer
        symbols = self.state(smaller)
        if symbols is None:
            return None
        if start is not None and _stands(symbols, start):
            return True
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
        standing = _standing(symbols, outcome.values)
        value = Fraction(expression.value(outcome.values))
        bound = None if outcome.bound is None else outcome.bound * unit + expression.constant
        return Found(value, outcome.values, outcome.complete and bound == value, standing)

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


def _standing(symbols: Symbols, values: Sequence[int]) -> Standing:
    """Where the members of a solution stand."""
    found: dict[tuple[str, int, int, int, int], int] = {}
    workloads = symbols.compiled.instance.workloads
    for (index, option, node), variable in symbols.n.items():
        if values[variable]:
            block = symbols.compiled.blocks[index]
            key = workloads[block.workload].name, block.current_node, block.current_option, option, node
            found[key] = found.get(key, 0) + values[variable]
    return found


def _stands(symbols: Symbols, start: Standing) -> bool:
    """Whether a standing satisfies every row of a question."""
    compiled, builder = symbols.compiled, symbols.builder
    names = {w.index: w.name for w in compiled.instance.workloads}
    blocks = {(names[b.workload], b.current_node, b.current_option): b.index for b in compiled.blocks}
    if len(blocks) < len(compiled.blocks):
        return False  # members of gangs or teams: not told apart here
    given = dict.fromkeys(symbols.n.values(), 0)
    for (name, now, mode, option, node), count in start.items():
        variable = symbols.n.get((blocks.get((name, now, mode), -1), option, node))
        if variable is None:
            return False
        given[variable] = count
    return builder.holds(builder.complete(given))


def reduced(asked: Instance) -> Instance:
    """A question with the same answer and fewer classes.

    A member that may stay out helps others only by being what they depend on, by covering a domain for its group, or by
    staying where it runs now; classes without such a part are left out. Classes of equal members become one.
    """
    if asked.teams:
        return asked
    helping = {rule.on for rule in asked.dependencies} | {rule.group for rule in asked.spreads}
    running = {entry.workload for entry in asked.current or ()}
    counts = {w.name: w.count if w.value or w.group in helping or w.name in running else 0 for w in asked.workloads}
    for alike in equal_classes(asked):
        total = sum(counts[name] for name in alike)
        counts.update(dict.fromkeys(alike, 0) | {alike[0]: total})
    return replace(asked, workloads=tuple(replace(w, count=counts[w.name]) for w in asked.workloads))


def equal_classes(asked: Instance) -> list[list[str]]:
    """Names of classes with exchangeable members: equal in all that decides feasibility, in no group with a rule."""
    ruled = {rule.group for rule in asked.conflicts} | {rule.group for rule in asked.spreads}
    ruled |= {name for rule in asked.dependencies for name in (rule.group, rule.on)}
    running = {entry.workload for entry in asked.current or ()}
    alike: dict[str, list[str]] = {}
    for w in asked.workloads:
        if w.group in ruled or w.name in running or w.placement.gang is not None:
            continue
        modes = [
            (_amounts(mode.default), sorted((kind, _amounts(demand)) for kind, demand in mode.by_kind.items()))
            for mode in w.modes
        ]
        rules = w.placement
        key = (
            sorted((label, sorted(values)) for label, values in rules.require.items()),
            sorted(rules.tolerations),
            sorted(rules.capabilities),
            sorted(rules.within),
        )
        alike.setdefault(repr((w.value, modes, key)), []).append(w.name)
    return list(alike.values())


def _amounts(demand: Demand) -> list[tuple[str, int]]:
    return sorted((name, amount) for name, amount in demand.requests.items() if amount)
