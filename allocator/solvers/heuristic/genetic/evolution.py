"""One run: a first population, then child after child, each repaired and polished by the kernels of the local search.

Owns the order of steps and the clock. Must not know families.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.genetic.crossover import leaders, settle, some_nodes
from allocator.solvers.heuristic.genetic.population import Individual, Population
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.build import build_problem, refuse_rules
from allocator.solvers.heuristic.kernels.items import counts_of, items_of, positions_of
from allocator.solvers.heuristic.kernels.problem import tabled
from allocator.solvers.heuristic.outcome import ahead
from allocator.solvers.heuristic.search.mixes import mix_of
from allocator.solvers.heuristic.search.order import sizes_of
from allocator.solvers.heuristic.search.peaks import thresholds_of
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.heuristic.spreading import spreads
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["Evolution"]

Int = npt.NDArray[np.int64]
SIZE = 12
LOOKS = 12  # nodes looked at for each item that is placed anew
POLISH_MOVES = 30  # an item and a level, tried on every child
FEWEST_POLISH, MOST_POLISH = 3000, 400_000
SLICE = 50_000  # moves between two looks at the clock
MUTATION = 0.25  # of the children, some nodes of which are emptied
EMPTIED = 0.15  # of the nodes
PATIENCE = 150  # children without a better best one, after which none is hoped for
EXACT_SHARE = 0.1  # of the time, for exact values of new best placements
END_SHARE = 2.0  # times the seconds of an exact evaluation that the end of a run takes
NEAR = 1e-9


@dataclass
class Evolution:
    """``best``: the best exact plan, ``values``: its levels; ``children``: made; ``converged``: no hope is left."""

    compiled: Compiled
    budget: Budget
    recorder: Recorder
    seed: int
    best: Assignment | None = None
    values: tuple[Fraction, ...] = ()
    children: int = 0
    converged: bool = False
    population: Population = field(default_factory=lambda: Population(SIZE))

    def __post_init__(self) -> None:
        refuse_rules(self.compiled)
        self._items = items_of(self.compiled)
        self._problem = build_problem(self.compiled, self._items)
        self._tabled = tabled(self._problem)
        self._leader = leaders(self._problem)
        self._rng = np.random.default_rng([self.seed, 11])
        self._made = 0
        self._exact_seconds = 0.0
        self._longest = 0.0
        self._judged: Individual | None = None
        number = np.diff(self._problem.first_option)[self._problem.workload]
        self._options: Int = number.astype(np.int64)
        self._tight = not spreads(self.compiled.model.goal_ids)

    def run(self, start: Assignment | None) -> None:
        """Breed until time, children or hope are over."""
        if start is not None:
            self._keep(start)
        if not len(self._items.block):
            self._keep(Assignment({}))
            return
        self.recorder.phase("a first population", level=0)
        self._first_population(start)
        self.recorder.phase("breeding", level=0)
        limit = self.budget.limits.iterations
        idle = 0
        while self._going() and (limit is None or self.children < limit):
            before = self.population.best
            self._child()
            idle = 0 if self.population.best is not before else idle + 1
            if idle >= PATIENCE:
                self.converged = True
                break
        self._judge(at_once=True)

    def _going(self) -> bool:
        """Whether there is time for more than the exact evaluation at the end."""
        return not self.budget.exhausted and self.budget.remaining() > END_SHARE * self._longest

    def _walker(self) -> Walker:
        self._made += 1
        return Walker(self._problem, self._tabled.table, self._items, self.seed * 1009 + self._made)

    def _first_population(self, start: Assignment | None) -> None:
        """The start, what runs now, and constructions in different orders."""
        problem = self._problem
        first = self._walker()
        if start is not None:
            first.put(*positions_of(self.compiled, self._items, start.counts))
        elif (problem.current >= 0).any():
            first.put(problem.current, np.maximum(0, problem.current_option))
        self._complete(first, noise=0.0)
        self._set_threshold(first)
        self._enter(first)
        while len(self.population.members) < SIZE and self._made < 2 * SIZE and self._going():
            walker = self._walker()
            self._complete(walker, noise=0.5)
            self._enter(walker)

    def _set_threshold(self, walker: Walker) -> None:
        """A peak counts as excess over the mean utilisation, which no placement can have everywhere."""
        for threshold in thresholds_of(self.compiled, self._problem):
            threshold.set([walker], threshold.peak(walker) / 2)

    def _child(self) -> None:
        """Inherit, perhaps mutate, repair, polish."""
        self.children += 1
        one, two = self.population.parents(self._rng)
        num_nodes = self.compiled.num_nodes
        nodes = some_nodes(num_nodes, self._rng)
        rest = np.ones(num_nodes, dtype=np.bool_)
        if self._rng.random() < MUTATION:
            emptied = self._rng.random(num_nodes) < EMPTIED
            nodes &= ~emptied
            rest = ~emptied
        parts = [((one.where, one.option), nodes), ((two.where, two.option), rest)]
        walker = settle(self._walker, self._leader, parts, self._problem)
        self._complete(walker, noise=0.2)
        self._enter(walker)

    def _complete(self, walker: Walker, noise: float) -> None:
        """Place who is left, large and heavy ones first, the order shaken by noise."""
        if not walker.num_left:
            return
        cursor = int(self._rng.integers(self.compiled.num_nodes)) if noise else 0
        tight = self._tight if not noise or self._rng.random() < 0.7 else not self._tight
        walker.construct(self._order(noise), self._options, LOOKS, tight=tight, cursor=cursor)

    def _order(self, noise: float) -> Int:
        """Items by falling size of their unit or of themselves, units first."""
        problem = self._problem
        size = sizes_of(problem)
        size = size * np.exp(noise * self._rng.standard_normal(len(size)))
        value = problem.value[problem.workload]
        return np.lexsort((-size, -value, problem.unit < 0)).astype(np.int64)

    def _polish(self, walker: Walker) -> None:
        """Descend level by level."""
        num_levels = len(walker.values)
        caps = np.full(num_levels, np.inf)
        moves = int(np.clip(POLISH_MOVES * len(self._items.block), FEWEST_POLISH, MOST_POLISH))
        for level in range(num_levels):
            if level or walker.value(0) > NEAR:
                tried = 0
                while tried < moves and not self.budget.exhausted and (level or walker.value(0) > NEAR):
                    rounds = min(SLICE, moves - tried)
                    mix = mix_of(self._problem, left=bool(walker.state.totals[at.LEFT]))
                    walker.walk(level, caps, 1e-300, rounds, mix)
                    tried += rounds
            caps[level] = float(walker.values[level]) + NEAR * max(1.0, abs(float(walker.values[level])))

    def _enter(self, walker: Walker) -> None:
        """Polish a placement and let it compete."""
        self._polish(walker)
        values = (walker.value(0), *(float(value) for value in walker.values[1:]))
        one = Individual(walker.state.where.copy(), walker.state.option.copy(), values)
        if self.population.add(one):
            self._judge(at_once=False)

    def _judge(self, *, at_once: bool) -> None:
        """Exact values of a new best placement, as often as that is cheap."""
        one = self.population.best
        if one is self._judged or one.values[0] > NEAR:
            return
        due = at_once or self.best is None or self.budget.limits.iterations is not None  # then no clock counts
        if not due and self._exact_seconds > EXACT_SHARE * self.budget.elapsed():
            return
        self._judged = one
        began = time.perf_counter()
        counts = counts_of(self._items, one.where, one.option, self.compiled.num_nodes)
        plan = optimal_shares(self.compiled, counts)
        if plan is not None:
            self._keep(plan.assignment)
        seconds = time.perf_counter() - began
        self._exact_seconds += seconds
        self._longest = max(self._longest, seconds)

    def _keep(self, assignment: Assignment) -> None:
        values = level_values(self.compiled, assignment)
        if self.best is None or ahead(self.compiled, values, self.values):
            self.best, self.values = assignment, values
            for value in values[:1]:
                self.recorder.incumbent(0, float(value))
            self.recorder.offer(lambda: assignment)
