"""The loop: free a part, solve it, keep it if the whole is better; kinds and sizes by what has gained so far.

Owns the choice and the exact judgement. Must not know families. With an iteration limit nothing depends on the clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.errors import AllocatorError, BudgetExhausted
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.base import Answer, Assignment, Method
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.lns.neighbourhood import Kind, Neighbourhoods
from allocator.solvers.decomposition.lns.restrict import Part, restrict
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.outcome import ahead, checked
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["Search"]

COLUMNS = 250  # of the first part
LEAST_COLUMNS, MOST_COLUMNS = 40, 20_000
GROWTH, SHRINKAGE = 1.15, 0.7
PART_SECONDS = 1.0  # most for one part, of a run of a minute; a share of the whole elsewhere
PART_SHARE = 1 / 60
MEMORY = 0.9  # of what a choice gained before
LEAST_WEIGHT = 0.1
CHECK_SHARE = 0.1  # of the time, for the checker while searching
IDLE = 60  # parts without a gain at the largest size, over all kinds, before the search ends


@dataclass
class _Choice:
    """Weights of what can be chosen, by what it gained."""

    weights: dict[str, float]

    def draw(self, rng: np.random.Generator) -> str:
        names = list(self.weights)
        shares = np.array([self.weights[name] for name in names])
        return names[int(rng.choice(len(names), p=shares / shares.sum()))]

    def note(self, name: str, *, gained: bool) -> None:
        self.weights[name] = max(LEAST_WEIGHT, MEMORY * self.weights[name] + (1 - MEMORY) * 10 * gained)


@dataclass
class Search:
    """One run from an assignment that holds. ``best`` and ``values``: the plan held, and its levels."""

    compiled: Compiled
    best: Assignment
    budget: Budget
    recorder: Recorder
    seed: int
    threads: int
    engines: dict[str, Method]
    values: tuple[Fraction, ...] = ()
    iterations: int = 0
    gains: int = 0
    _sure: Assignment | None = None  # the last plan that the checker saw
    _checking: float = 0.0

    def run(self) -> TerminationReason:
        """Search until time, iterations or hope are over."""
        rng = np.random.default_rng([self.seed, 7])
        self.values = level_values(self.compiled, self.best)
        self._sure = self.best
        self._tell()
        parts = Neighbourhoods(self.compiled, rng)
        parts.see(self.best)
        kinds = _Choice({kind.value: 1.0 for kind in parts.kinds})
        engines = _Choice(dict.fromkeys(self.engines, 1.0))
        size = dict.fromkeys(kinds.weights, float(COLUMNS))
        idle = 0
        limit = self.budget.limits.iterations
        while self.engines and not self.budget.exhausted and (limit is None or self.iterations < limit):
            kind = kinds.draw(rng)
            engine = engines.draw(rng)
            self.iterations += 1
            freed = parts.part(Kind(kind), int(size[kind]))
            whole = freed is not None and len(freed.nodes) == self.compiled.num_nodes
            gained, finished = (False, True)
            if freed is not None:
                gained, finished = self._improve(restrict(self.compiled, self.best, freed), engine)
            kinds.note(kind, gained=gained)
            engines.note(engine, gained=gained)
            if gained:
                parts.see(self.best)
                idle = 0
                continue
            idle += 1
            grown = size[kind] * (GROWTH if finished else SHRINKAGE)
            size[kind] = float(np.clip(grown, LEAST_COLUMNS, MOST_COLUMNS))
            covers = whole and freed is not None and finished and len(freed.counts) == len(self.best.counts)
            if covers or (idle >= IDLE and finished and size[kind] >= MOST_COLUMNS):
                break
        self._settle()
        if self.budget.interrupted:
            return TerminationReason.INTERRUPTED
        if self.budget.exhausted:
            return TerminationReason.TIME_LIMIT
        if limit is not None and self.iterations >= limit:
            return TerminationReason.ITERATION_LIMIT
        return TerminationReason.CONVERGED

    def _improve(self, part: Part, engine: str) -> tuple[bool, bool]:
        """Solve a part. Whether the whole gained, and whether the part was solved to its end."""
        answer = self._answer(part, engine)
        if answer is None or answer.assignment is None:
            return False, answer is not None
        finished = answer.status is Status.OPTIMAL or answer.termination.reason is TerminationReason.GAP
        before = level_values(part.compiled, part.start)
        after = level_values(part.compiled, answer.assignment)
        if not ahead(part.compiled, after, before):
            return False, finished
        return self._take(part.merged(answer.assignment)), finished

    def _answer(self, part: Part, name: str) -> Answer | None:
        """The engine's answer; None when it refuses the part."""
        engine = self.engines[name]
        budget = self.budget.counting(None)
        if self.budget.limits.iterations is None:
            whole = self.budget.limits.seconds or 0.0
            budget = budget.at_most(max(PART_SECONDS, whole * PART_SHARE))
        try:
            engine.refuse(part.compiled)
            return engine.solve(
                part.compiled,
                budget=budget,
                recorder=Recorder(self.budget.elapsed),
                start=part.start if part.start.counts else None,
                seed=self.seed + self.iterations,
                threads=self.threads,
                gap=0.0,
            )
        except (BudgetExhausted, AllocatorError):
            return None

    def _take(self, counts: dict[tuple[int, int, int], int]) -> bool:
        """Keep a placement of the whole if it is better and, as often as that is cheap, the checker agrees."""
        plan = optimal_shares(self.compiled, counts)
        if plan is None:
            return False
        values = level_values(self.compiled, plan.assignment)
        if not ahead(self.compiled, values, self.values):
            return False
        began = time.monotonic()
        if self.budget.limits.iterations is not None or self._checking <= CHECK_SHARE * self.budget.elapsed():
            holds = checked(self.compiled, plan.assignment)
            self._checking += time.monotonic() - began
            if not holds:
                return False
            self._sure = plan.assignment
        self.best, self.values = plan.assignment, values
        self.gains += 1
        if self._sure is self.best:
            self._tell()
        return True

    def _settle(self) -> None:
        """Hold a plan that the checker has seen."""
        if self._sure is not self.best:
            if self._sure is not None and not checked(self.compiled, self.best):
                self.best = self._sure
                self.values = level_values(self.compiled, self.best)
            self._sure = self.best
            self._tell()

    def _tell(self) -> None:
        best = self.best
        for value in self.values[:1]:
            self.recorder.incumbent(0, float(value))
        self.recorder.offer(lambda: best)
