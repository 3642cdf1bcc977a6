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
from allocator.solvers.heuristic.search.heat import COLD, Schedule, heat_range
from allocator.solvers.heuristic.search.mixes import mix_of
from allocator.solvers.heuristic.search.peaks import Threshold
from allocator.solvers.heuristic.search.walker import Place, Walker

__all__ = ["NEAR", "Cooling"]

Float = npt.NDArray[np.float64]

FIRST_ROUNDS = 2000  # moves between looks at the clock, until a round's seconds are known
CHUNK_SECONDS = 0.04
DESCENT_SHARE = 0.05  # of a level's time, without taking worse plans
WARM_FALL = 0.3  # last temperature of single items to the first, after clusters
BOTH_FROM = 500  # moves an item from where one walk starts hot and one cool: nothing stated tells which ends better
TRIAL_SHARE = 0.2  # of a level's time, until where both cool for trial
CLEAR = 0.02  # of the better value: if the other one is worse by more, all go on with the better start
TURN_MOVES = 50_000  # moves an item of a cooling; where there is time for more, one more cooling is worth more
COOL_TAKEN = 0.35  # part of the worsenings that a cool walk takes first
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
        rounds = FIRST_ROUNDS
        schedule: Schedule | None = None
        exchanged = 0
        with ThreadPoolExecutor(len(self.walkers)) as pool:
            while (progress := clock.progress()) < 1.0 and min(place.value for place in best) > until:
                heats = [COLD] * len(self.walkers)
                if progress > DESCENT_SHARE:
                    schedule = schedule or self._schedule(clock.done / progress)
                    if progress >= schedule.end:
                        schedule = self._after_trial(schedule, best)
                    heats = [schedule.heat(index, progress) for index in range(len(self.walkers))]
                if clock.moves is not None:
                    rounds = max(1, min(rounds, clock.moves - clock.done))
                began = time.perf_counter()
                self._steps(pool, level, caps, heats, rounds)
                seconds = time.perf_counter() - began
                clock.done += rounds
                self.tried += rounds * len(self.walkers)
                if clock.moves is None:
                    rounds = int(np.clip(rounds * CHUNK_SECONDS / max(seconds, 1e-4), 200, 10_000_000))
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

    def _schedule(self, moves: float) -> Schedule:
        """The schedule of walks that can try so many moves in the level."""
        if self.warm:
            return Schedule(((self.warm, self.warm * WARM_FALL),), DESCENT_SHARE)
        each = moves / max(1, len(self.walkers[0].items.block))
        turns = max(1, int(each / TURN_MOVES))
        sampled = np.concatenate([walker.sampled() for walker in self.walkers])
        hot = heat_range(sampled, each)
        if len(self.walkers) == 1 or each < BOTH_FROM or turns > 1:
            return Schedule((hot,), DESCENT_SHARE, turns=turns)
        return Schedule((hot, heat_range(sampled, each, COOL_TAKEN)), DESCENT_SHARE, TRIAL_SHARE)

    def _after_trial(self, trial: Schedule, best: list[Place]) -> Schedule:
        """What follows a trial of two starts: the better one for all, from its place on, if it is clearly better."""
        reached = [min(place.value for place in best[start::2]) for start in range(2)]
        if max(reached) - min(reached) <= CLEAR * abs(min(reached)):
            return Schedule(trial.ranges, trial.end)
        first = min(best, key=lambda place: place.value)
        for walker in self.walkers:
            walker.back_to(first)
        return Schedule((trial.ranges[reached.index(min(reached))],), trial.end)

    def _steps(self, pool: ThreadPoolExecutor, level: int, caps: Float, heats: list[float], rounds: int) -> None:
        """One round of every walk; where only who stands counts, some domains are filled anew before or instead."""
        filling = self.filling
        problem = self.walkers[0].problem
        if filling is not None and level == problem.level_of[at.GOAL_PLACED]:
            number = max(1, rounds // MOVES_A_REFILL)
            for job in [
                pool.submit(filling.refill, each, level, caps, heat, number)
                for each, heat in zip(self.walkers, heats, strict=True)
            ]:
                job.result()
            if not filling.teams and {goal.id for goal in self.compiled.model.levels[level - 1].goals} == {
                GoalId.PLACED
            }:
                return
        mixes = [mix_of(problem, left=bool(walker.state.totals[at.LEFT])) for walker in self.walkers]
        if len(self.walkers) == 1:
            self.walkers[0].walk(level, caps, heats[0], rounds, mixes[0])
            return
        jobs = [
            pool.submit(walker.walk, level, caps, heat, rounds, mix)
            for walker, heat, mix in zip(self.walkers, heats, mixes, strict=True)
        ]
        for job in jobs:
            job.result()

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
