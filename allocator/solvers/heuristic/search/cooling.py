"""Cooling of one level: walks side by side that take worse plans ever more rarely, and compare notes.

Owns temperatures, rounds and the exchange between walks. Must not know the order of levels, nor who else moves walks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import GoalId
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.search.clock import Clock
from allocator.solvers.heuristic.search.filling import Filling
from allocator.solvers.heuristic.search.heat import COLD, Course, Schedule, Thermostat
from allocator.solvers.heuristic.search.mixes import mix_of
from allocator.solvers.heuristic.search.peaks import Threshold
from allocator.solvers.heuristic.search.walker import Place, Walker

__all__ = ["NEAR", "Cooling"]

Float = npt.NDArray[np.float64]

FIRST_ROUNDS = 2000  # moves between looks at the clock, until a round's seconds are known
CHUNK_SECONDS = 0.04
DESCENT_SHARE = 0.05  # of a level's time, without taking worse plans
LAST_DESCENT = 0.01  # the same at its end
WARM_FALL = 0.3  # last temperature of single items to the first, after clusters
BOTH_FROM = 500  # moves an item from where one walk starts hot and one cool: nothing stated tells which ends better
BOTH_UNTIL = 50_000  # and up to where: with more the hot one has ended better
TURN_MOVES = 150_000  # moves an item of a cooling; where there is time for more, one more cooling is worth more
HOT_TAKEN, HOT_BEND = 0.88, 1.5  # part of the worsenings that a hot walk takes first, and how late it cools
COOL_TAKEN = 0.35  # the same of a cool one
EXCHANGES = 20  # times that walks compare notes in a cooling
MOVES_A_REFILL = 20  # moves of a walk that take as long
NEAR = 1e-9  # of a level's value: less is rounding


@dataclass
class Cooling:
    """Cools the walks of a search, one level at a time.

    ``walkers``: those of the search, at least one; they may be others at the next level. ``report``: told of a level's
    better value. ``warm``: first temperature, 0 where the worsenings met tell it. ``tried``: moves of all walks so far.
    """

    compiled: Compiled
    walkers: list[Walker]
    filling: Filling | None
    threshold: Threshold | None
    report: Callable[[int, Place], None]
    warm: float = 0.0
    tried: int = 0

    def cool(self, level: int, caps: Float, clock: Clock, until: float = -np.inf) -> None:
        """Descend, measure the worsenings, then cool. Ends with every walk at its best place of this level."""
        best = [walker.place(level) for walker in self.walkers]
        rounds = [FIRST_ROUNDS] * len(self.walkers)
        schedule: Schedule | None = None
        thermostats = [Thermostat() for _ in self.walkers]
        exchanged = 0
        with ThreadPoolExecutor(len(self.walkers)) as pool:
            while (progress := clock.progress()) < 1.0 and min(place.value for place in best) > until:
                heats = [COLD] * len(self.walkers)
                if progress > DESCENT_SHARE:
                    schedule = schedule or self._schedule(clock.done / progress)
                    if progress < 1.0 - LAST_DESCENT:
                        heats = self._heats(schedule, thermostats, progress)
                if clock.moves is not None:
                    rounds = [max(1, min(FIRST_ROUNDS, clock.moves - clock.done))] * len(self.walkers)
                seconds = self._round(pool, level, caps, heats, rounds)
                clock.done += sum(rounds) // len(rounds)
                self.tried += sum(rounds)
                rounds = [
                    int(np.clip(moves * CHUNK_SECONDS / max(taken, 1e-4), 200, 10_000_000))
                    for moves, taken in zip(rounds, seconds, strict=True)
                ]
                for index, walker in enumerate(self.walkers):
                    if walker.value(level) < best[index].value - NEAR * max(1.0, abs(best[index].value)):
                        best[index] = walker.place(level)
                        self.report(level, min(best, key=lambda place: place.value))
                if self.threshold is not None and min(place.value for place in best) <= NEAR:
                    best = self._lower_threshold(self.threshold, best, level)
                number = int(progress * EXCHANGES * (schedule.turns if schedule else 1))
                if number > exchanged and (schedule is None or schedule.comparable(progress)):
                    exchanged = number
                    self._exchange(level)
        for walker, place in zip(self.walkers, best, strict=True):
            if walker.value(level) > place.value:
                walker.back_to(place)

    def _heats(self, schedule: Schedule, thermostats: list[Thermostat], progress: float) -> list[float]:
        """Temperatures of the walks."""
        part = schedule.part(progress)
        if self.warm:
            return [self.warm * WARM_FALL**part] * len(self.walkers)
        return [
            thermostat.heat(walker.sampled(), schedule.taken(index, progress), part)
            for index, (walker, thermostat) in enumerate(zip(self.walkers, thermostats, strict=True))
        ]

    def _schedule(self, moves: float) -> Schedule:
        """The schedule of walks that can try so many moves in the level."""
        each = moves / max(1, len(self.walkers[0].items.block))
        turns = max(1, int(each / TURN_MOVES))
        hot = Course.within(each, HOT_TAKEN, HOT_BEND)
        if self.warm or len(self.walkers) == 1 or not BOTH_FROM <= each < BOTH_UNTIL:
            return Schedule((hot,), DESCENT_SHARE, turns=1 if self.warm else turns)
        return Schedule((hot, Course.within(each, COOL_TAKEN)), DESCENT_SHARE)

    def _round(
        self, pool: ThreadPoolExecutor, level: int, caps: Float, heats: list[float], rounds: list[int]
    ) -> list[float]:
        """One round of every walk, side by side; the seconds of each, so that none waits long for another."""
        if len(self.walkers) == 1:
            return [self._steps(self.walkers[0], level, caps, heats[0], rounds[0])]
        jobs = [
            pool.submit(self._steps, walker, level, caps, heat, moves)
            for walker, heat, moves in zip(self.walkers, heats, rounds, strict=True)
        ]
        return [job.result() for job in jobs]

    def _steps(self, walker: Walker, level: int, caps: Float, heat: float, moves: int) -> float:
        """Moves of a walk; where only who stands counts, some domains are filled anew before or instead. Seconds."""
        began = time.perf_counter()
        filling, problem = self.filling, walker.problem
        goals = {goal.id for goal in self.compiled.model.levels[level - 1].goals} if level else set()
        if filling is not None and level == problem.level_of[at.GOAL_PLACED]:
            filling.refill(walker, level, caps, heat, max(1, moves // MOVES_A_REFILL))
            if not filling.teams and goals == {GoalId.PLACED}:
                return time.perf_counter() - began
        walker.walk(level, caps, heat, moves, mix_of(problem, left=bool(walker.state.totals[at.LEFT])))
        return time.perf_counter() - began

    def _exchange(self, level: int) -> None:
        """The worst walk goes on from where the best one is."""
        order = sorted(self.walkers, key=lambda walker: float(walker.values[level]))
        if len(order) > 1 and order[-1].values[level] > order[0].values[level]:
            order[-1].adopt(order[0])

    def _lower_threshold(self, threshold: Threshold, best: list[Place], level: int) -> list[Place]:
        """Nobody exceeds the threshold any more: lower it below the best peak."""
        for walker, place in zip(self.walkers, best, strict=True):
            walker.back_to(place)
        threshold.follow(self.walkers)
        return [walker.place(level) for walker in self.walkers]
