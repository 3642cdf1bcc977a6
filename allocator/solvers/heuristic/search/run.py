"""A search from start to end: a first placement, then every level of the model in turn, walks side by side.

Owns the order of phases and the clock. Must not know moves or goals beyond their internal levels.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.build import build_problem, refuse_rules
from allocator.solvers.heuristic.kernels.items import Items, counts_of, items_of, positions_of
from allocator.solvers.heuristic.kernels.problem import Problem, tabled
from allocator.solvers.heuristic.partition.arrange import arranged, can_arrange, start_of
from allocator.solvers.heuristic.partition.walks import Pace
from allocator.solvers.heuristic.search.clock import Clock
from allocator.solvers.heuristic.search.cooling import NEAR, Cooling
from allocator.solvers.heuristic.search.dealing import Deal, adapt, deal_of, positions
from allocator.solvers.heuristic.search.filling import Filling
from allocator.solvers.heuristic.search.mixes import mix_of
from allocator.solvers.heuristic.search.order import order_of
from allocator.solvers.heuristic.search.peaks import thresholds_of
from allocator.solvers.heuristic.search.walker import Place, Walker
from allocator.solvers.heuristic.spreading import spreads
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["Found", "Search"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

LOOKS = 12  # nodes looked at for each item of a first placement
FIRST_SHARE = 0.5  # of the time, at most, until everybody who must stands
ARRANGE_SHARE = 0.7  # of the time, for walks over clusters
MOST_LEFT = 0.02  # of the items that may be without a place before walks over clusters
MOVES_PER_ITEM = 400  # of a search that has neither a time limit nor a number of iterations
FEW_MOVES, MANY_MOVES = 300_000, 60_000_000
CHECK_SHARE = 3.0  # times the seconds of an exact evaluation that the end of a run takes
REPORT_SECONDS = 0.5
DEAL_SHARE = 0.3  # of the time, at most, for the relaxation that deals
CLOSE = Fraction(1, 1000)  # relative distance from a bound at which response times are left as they are


@dataclass(frozen=True)
class Found:
    """``assignment`` with best shares, and its exact level values."""

    assignment: Assignment
    values: tuple[Fraction, ...]


@dataclass
class Search:
    """One run of the search over an instance."""

    compiled: Compiled
    budget: Budget
    recorder: Recorder
    seed: int
    threads: int
    best: Found | None = None
    items: Items = field(init=False)
    problem: Problem = field(init=False)
    walkers: list[Walker] = field(init=False)

    def __post_init__(self) -> None:
        refuse_rules(self.compiled)
        self.items = items_of(self.compiled)
        self.problem = build_problem(self.compiled, self.items)
        self._deal = self._dealt()
        self._tabled = tabled(self.problem)
        self.table = self._tabled.table
        self.walkers = [self._walker(0)]
        self._evaluation_seconds = 0.0
        self._reported = 0.0
        self._arranged = 0  # moves of walks over clusters
        filled = self.problem.level_of[at.GOAL_PLACED] >= 0
        self._filling = Filling(self.problem, self.table) if filled else None
        self._threshold = next(thresholds_of(self.compiled, self.problem), None)
        self._cooling = Cooling(self.compiled, self.walkers, self._filling, self._threshold, self._report)
        self._moves = self._number_of_moves()

    @property
    def tried(self) -> int:
        """Moves of all walks so far."""
        return self._arranged + self._cooling.tried

    def run(self, start: Assignment | None) -> Found | None:
        """Search; the best plan found or given, None when not everybody stands who must."""
        if start is not None:
            self._keep(start)
        self._first_placement(start)
        self._load()
        levels = list(range(1, len(self.compiled.model.levels) + 1))
        if self.walkers[0].value(0) > NEAR:
            self._everybody()
        if self.walkers[0].value(0) > NEAR or not len(self.items.block):
            return self.best if len(self.items.block) else self._keep_placement()
        self._keep_placement()
        if start is None and not (self.problem.current >= 0).any():
            self._arrange()
        self._spread_walkers()
        caps = np.full(len(levels) + 1, np.inf)
        caps[0] = NEAR
        for position, level in enumerate(levels):
            if self.budget.exhausted:
                break
            self.recorder.phase("searching", level=level - 1)
            if not self._is_ideal(level):
                self._level(level, caps, 1.0 / (len(levels) - position))
                self._gather(level)
                self._keep_placement()
            value = float(self.walkers[0].values[level])
            slack = float(self.compiled.model.levels[level - 1].slack.allowance(Fraction(value)))
            caps[level] = value + slack + NEAR * max(1.0, abs(value))
        return self.best

    # ---- phases

    def _walker(self, number: int) -> Walker:
        return Walker(self.problem, self.table, self.items, self.seed * 1009 + number + 1)

    def _first_placement(self, start: Assignment | None) -> None:
        """The start, or where things run now, then everybody else by construction."""
        walker = self.walkers[0]
        if start is not None:
            where, option = positions_of(self.compiled, self.items, start.counts)
            walker.put(where, option)
        elif (self.problem.current >= 0).any():
            walker.put(self.problem.current, np.maximum(0, self.problem.current_option))
        elif self._deal is not None:
            walker.put(*positions(self.compiled, self.items, self._deal))
            walker.clear_parts()
        if not walker.num_left:
            return
        self.recorder.phase("placing")
        alike = self._filling is not None and self._filling.alike
        before = self._copy(walker) if alike else walker
        self._complete(walker)
        if alike and walker.num_left:
            if walker.value(0) <= NEAR:
                self._keep_placement()
            self.walkers[0] = min(walker, self._filled(before), key=lambda one: tuple(one.values))

    def _complete(self, walker: Walker, *, filled: bool = False) -> None:
        """Place who is left by construction."""
        self.construct(walker, filled=filled)
        if walker.state.totals[at.SPLIT] and walker.clear_parts():  # what ran in part made room
            self.construct(walker, filled=filled)

    def _load(self) -> None:
        """Have the walk compiled, or loaded, before a clock runs: what first rounds take decides the temperatures."""
        caps = np.full(len(self.problem.level_of), np.inf)
        self.walkers[0].walk(0, caps, 1e-300, 0, mix_of(self.problem, left=False))

    def _copy(self, walker: Walker) -> Walker:
        """Another walk from the same place, with the first walk's chance."""
        copy = self._walker(0)
        copy.adopt(walker)
        return copy

    def _filled(self, begin: Walker) -> Walker:
        """Seat gangs and single items from a place on, in the better one of some orders; then teams and who must."""
        filling = self._filling
        if filling is None:
            return begin
        best: Walker | None = None
        for order in filling.orders():
            walker = self._copy(begin)
            filling.fill(walker, order, self.budget)
            if best is None or tuple(walker.values) < tuple(best.values):
                best = walker
            if not walker.num_left or self.budget.exhausted:
                break
        best = best or begin
        if best.num_left:
            self._complete(best, filled=True)
        return best

    def _dealt(self) -> Deal | None:
        """What the relaxation says of the first level that cares for response times; the problem is adapted to it."""
        for index, level in enumerate(self.compiled.model.levels):
            if {goal.id for goal in level.goals} == {GoalId.P99}:
                deal = deal_of(self.compiled, index, self.budget.portion(DEAL_SHARE))
                if deal is not None:
                    adapt(self.compiled, self.problem, deal)
                return deal
        return None

    def construct(self, walker: Walker, *, filled: bool = False) -> None:
        """Place who is left: teams by traffic, then large items first; after filling only units and who must stand."""
        order = order_of(self.problem)
        if filled:
            w = self.problem.workload[order]
            order = order[(self.problem.unit[order] >= 0) | (self.problem.size[w] > 0)]
            order = order[walker.state.where[order] < 0]
            if not len(order):
                return
        workload = self.problem.workload
        number = np.diff(self.problem.first_option)[workload]
        walker.construct(
            order, number.astype(np.int64), LOOKS, tight=not spreads(self.compiled.model.goal_ids), cursor=0
        )

    def _arrange(self) -> None:
        """Where traffic between single items is the aim: walk over clusters of them first."""
        few = self.walkers[0].num_left <= MOST_LEFT * len(self.items.block)
        if self.budget.exhausted or not few or not can_arrange(self.problem):
            return
        if self.walkers[0].values[int(self.problem.level_of[at.GOAL_TRAFFIC])] <= NEAR:
            return
        self.recorder.phase("arranging")
        seconds = None if self._moves is not None else self.budget.remaining()
        where = start_of(self.problem, seconds=seconds, seed=self.seed, threads=self.threads)
        better = where is not None and self._adopt(where)
        clock = self._clock(ARRANGE_SHARE)
        if clock.moves is not None:
            clock.moves = max(1, clock.moves // self.threads)

        def progress(done: int) -> float:
            clock.done = done
            return clock.progress()

        pace = Pace(progress, timed=clock.moves is None)
        begin = self.walkers[0].state.where.copy()
        found = arranged(self.problem, begin, pace=pace, seed=self.seed, threads=self.threads)
        self._arranged += pace.tried
        if found is not None and self._adopt(found.where):
            self._cooling.warm = found.heat
            better = True
        if better:
            self._keep_placement()

    def _adopt(self, where: Int) -> bool:
        """Take over a placement, repaired by construction, where that is better for traffic and before."""
        walker = self._walker(0)
        walker.put(where, self.problem.first_option[self.problem.workload])
        if walker.num_left:
            self.construct(walker)
        level = int(self.problem.level_of[at.GOAL_TRAFFIC])
        before, now = (tuple(w.values[1 : level + 1].tolist()) for w in (self.walkers[0], walker))
        if walker.value(0) > NEAR or now >= before:
            return False
        self.walkers[0] = walker
        return True

    def _everybody(self) -> None:
        """Find room for those who must stand and do not."""
        self.recorder.phase("making room")
        clock = self._clock(FIRST_SHARE)
        caps = np.full(len(self.problem.level_of), np.inf)
        self._cooling.cool(0, caps, clock, until=NEAR)

    def _spread_walkers(self) -> None:
        """One walk a thread, all from the first one's place."""
        while len(self.walkers) < self.threads:
            walker = self._walker(len(self.walkers))
            walker.adopt(self.walkers[0])
            self.walkers.append(walker)

    def _level(self, level: int, caps: Float, share: float) -> None:
        clock = self._clock(share)
        if self._threshold is not None and level == int(self.problem.soft_level[self._threshold.columns[0]]):
            self._threshold.follow(self.walkers)
        self._cooling.cool(level, caps, clock)
        if self._filling is not None and self._filling.alike and level == self.problem.level_of[at.GOAL_PLACED]:
            for walker in self.walkers:  # who counts nothing may have lost a seat
                place, held = walker.place(level), walker.value(0) <= NEAR
                self._filling.fill(walker, self._filling.orders()[0], self.budget)
                if held and walker.value(0) > NEAR:  # filling knows no spread
                    walker.back_to(place)

    def _clock(self, share: float) -> Clock:
        left = self.budget.remaining()
        if self._moves is not None:
            moves = int((self._moves - self.tried) * share) // len(self.walkers)
            return Clock(self.budget, np.inf, max(1, moves))
        usable = max(0.0, left - CHECK_SHARE * self._evaluation_seconds)
        return Clock(self.budget, self.budget.elapsed() + usable * share, None)

    def _gather(self, level: int) -> None:
        """All walks to the place of the best one."""
        first = min(self.walkers, key=lambda walker: tuple(walker.values[1 : level + 1]))
        for walker in self.walkers:
            if walker is not first:
                walker.adopt(first)

    # ---- plans

    def _is_ideal(self, level: int) -> bool:
        """Whether a level cannot get better, as far as the search can see."""
        stated = self.compiled.model.levels[level - 1]
        goals = {goal.id for goal in stated.goals}
        value = float(self.walkers[0].values[level])
        if goals == {GoalId.P99} and self._deal is not None and self._deal.bound is not None and self.best is not None:
            reached = self.best.values[level - 1]
            return reached - self._deal.bound <= max(stated.slack.allowance(reached), CLOSE * abs(reached))
        if goals == {GoalId.PLACED}:
            return not self.walkers[0].state.totals[at.LEFT]
        if goals <= {GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.TRAFFIC, GoalId.MOVES, GoalId.OVERLOAD, GoalId.BALANCE}:
            return value <= NEAR
        return not goals

    def _keep_placement(self) -> Found | None:
        """Best shares and exact values of where the first walk stands; kept if better than all before."""
        began = time.perf_counter()
        state = self.walkers[0].state
        counts = counts_of(self.items, state.where, state.option, self.compiled.num_nodes)
        plan = optimal_shares(self.compiled, counts)
        if plan is not None:
            self._keep(plan.assignment)
        self._evaluation_seconds = max(self._evaluation_seconds, time.perf_counter() - began)
        return self.best

    def _keep(self, assignment: Assignment) -> None:
        values = level_values(self.compiled, assignment)
        if self.best is None or self._ahead(values, self.best.values):
            self.best = Found(assignment, values)
            self.recorder.incumbent(0, float(values[0]) if values else 0.0)
            self.recorder.offer(lambda: assignment)

    def _plan_at(self, place: Place) -> Assignment | None:
        """The plan of a place, with its best shares."""
        plan = optimal_shares(self.compiled, counts_of(self.items, place.where, place.option, self.compiled.num_nodes))
        return None if plan is None else plan.assignment

    def _ahead(self, first: Sequence[Fraction], second: Sequence[Fraction]) -> bool:
        """Whether the first values are better, a level counting only beyond its slack."""
        for level, a, b in zip(self.compiled.model.levels, first, second, strict=True):
            gain = b - a if level.sense == "min" else a - b
            if gain > level.slack.allowance(b) or gain < -level.slack.allowance(b):
                return gain > 0
            if gain and not level.slack.value:
                return gain > 0
        return False

    def _report(self, level: int, place: Place) -> None:
        """Tell of a better place; its plan is made only where somebody keeps plans, on that one's thread."""
        value = place.value
        now = self.budget.elapsed()
        if level == 0 or now - self._reported < REPORT_SECONDS:
            return
        self._reported = now
        self.recorder.offer(lambda: self._plan_at(place))
        exact = {GoalId.TRAFFIC, GoalId.COST, GoalId.OVERLOAD, GoalId.BALANCE, GoalId.MOVES, GoalId.NODES}
        stated = self.compiled.model.levels[level - 1]
        if {goal.id for goal in stated.goals} <= exact | {GoalId.POWER, GoalId.CONGESTION}:
            self.recorder.incumbent(level - 1, value)

    def _number_of_moves(self) -> int | None:
        if self.budget.limits.iterations is not None:
            return self.budget.limits.iterations
        if self.budget.limits.seconds is not None:
            return None
        number = MOVES_PER_ITEM * len(self.items.block)
        return int(np.clip(number, FEW_MOVES, MANY_MOVES)) * max(1, len(self.compiled.model.levels))
