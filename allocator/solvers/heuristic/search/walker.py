"""One walk: its state, its counts, and calls of the kernels. Knows no clock and no other walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.construct import construct
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.moves import NUM_MOVES
from allocator.solvers.heuristic.kernels.problem import Problem
from allocator.solvers.heuristic.kernels.state import State, empty_state
from allocator.solvers.heuristic.kernels.tables import Table, Tabled
from allocator.solvers.heuristic.kernels.walk import clear_parts, put_all, walk

__all__ = ["Place", "Walker"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

SAMPLES = 2048


@dataclass(frozen=True)
class Place:
    """Where everybody stood, and a level's value there."""

    value: float
    where: Int
    option: Int


class Walker:
    """A state of its own over a shared problem.

    ``counts``: int64[4, NUM_MOVES], moves tried, fitting, taken, improving.
    ``sample``: the latest worsenings met, see ``walk``.
    """

    def __init__(self, problem: Problem, table: Table, items: Items, seed: int) -> None:
        self.problem = problem
        self.items = items
        self._problem_table = table
        self.state: State = empty_state(problem, seed)
        self._tabled = Tabled(tuple(self.state))
        self.counts = np.zeros((4, NUM_MOVES), dtype=np.int64)
        self.sample = np.zeros(1 + SAMPLES)

    @property
    def table(self) -> Table:
        """The state as kernels take it."""
        return self._tabled.table

    @property
    def values(self) -> Float:
        """Internal levels as they stand; a view."""
        return self.state.values

    @property
    def num_left(self) -> int:
        """Items that do not stand."""
        return int((self.state.where < 0).sum())

    def value(self, level: int) -> float:
        """An internal level as it stands; level 0 with how far rules are broken."""
        return float(self.state.values[level]) + (self._broken() if level == 0 else 0)

    def place(self, level: int) -> Place:
        """Where everybody stands, and the level's value there."""
        return Place(self.value(level), self.state.where.copy(), self.state.option.copy())

    def _broken(self) -> int:
        totals, most = self.state.totals, self.problem.most_moves
        split = int(totals[at.UNSPREAD] + totals[at.UNMET] + totals[at.SPLIT])
        return split + max(0, int(totals[at.MOVED] - most[0])) + max(0, int(totals[at.BYTES] - most[1]))

    def put(self, where: Int, option: Int, *, forced: bool = False) -> int:
        """Place items of an empty state, see ``put_all``."""
        return int(put_all(self._problem_table, self._tabled.table, where, option, forced))

    def construct(self, order: Int, options: Int, looks: int, *, tight: bool, cursor: int) -> int:
        """Place who is left, see ``construct``."""
        return int(construct(self._problem_table, self._tabled.table, order, options, looks, tight, cursor))

    def clear_parts(self) -> int:
        """Take out the items of units that stand in part, see ``clear_parts``."""
        return int(clear_parts(self._problem_table, self._tabled.table))

    def walk(self, level: int, caps: Float, heat: float, rounds: int, mix: Float) -> None:
        """Try moves, see ``walk``."""
        walk(self._problem_table, self._tabled.table, level, caps, heat, rounds, mix, self.counts, self.sample)

    def adopt(self, other: Walker) -> None:
        """Take over another walk's place, keeping the own random numbers."""
        for mine, theirs, name in zip(self.state, other.state, State._fields, strict=True):
            if name != "random":
                mine[...] = theirs

    def back_to(self, place: Place) -> None:
        """Stand as at an earlier place, with sums computed afresh, keeping the own random numbers."""
        fresh = Walker(self.problem, self._problem_table, self.items, seed=0)
        fresh.put(place.where, place.option, forced=True)
        self.adopt(fresh)

    def sampled(self) -> Float:
        """The latest worsenings met."""
        return self.sample[1 : 1 + min(int(self.sample[0]), SAMPLES)]
