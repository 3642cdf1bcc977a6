"""Placements that compete: the better of two, who becomes a parent, who has to go. Knows no kernel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["Individual", "Population"]

Int = npt.NDArray[np.int64]
NEAR = 1e-9  # relative difference of values that counts as none


@dataclass(frozen=True)
class Individual:
    """``where``, ``option``: of every item. ``values``: internal levels, smaller is better, the first one first."""

    where: Int
    option: Int
    values: tuple[float, ...]

    def beats(self, other: Individual) -> bool:
        """Whether this one is better in the first level that differs."""
        for mine, theirs in zip(self.values, other.values, strict=True):
            if abs(mine - theirs) > NEAR * max(1.0, abs(mine), abs(theirs)):
                return mine < theirs
        return False

    def equals(self, other: Individual) -> bool:
        """Whether neither is better."""
        return not self.beats(other) and not other.beats(self)


@dataclass
class Population:
    """At most ``size`` individuals, all of different values."""

    size: int
    members: list[Individual] = field(default_factory=list)

    @property
    def best(self) -> Individual:
        """The best one."""
        found = self.members[0]
        for one in self.members[1:]:
            if one.beats(found):
                found = one
        return found

    def add(self, one: Individual) -> bool:
        """Take it in, in place of the worst one where there is no room; False when it is not wanted."""
        if any(one.equals(other) for other in self.members):
            return False
        if len(self.members) < self.size:
            self.members.append(one)
            return True
        worst = 0
        for index in range(1, len(self.members)):
            if self.members[worst].beats(self.members[index]):
                worst = index
        if not one.beats(self.members[worst]):
            return False
        self.members[worst] = one
        return True

    def parents(self, rng: np.random.Generator) -> tuple[Individual, Individual]:
        """Two by tournaments of two; the same twice only in a population of one."""
        first = self._tournament(rng, None)
        return first, self._tournament(rng, first)

    def _tournament(self, rng: np.random.Generator, without: Individual | None) -> Individual:
        candidates = [one for one in self.members if one is not without] or self.members
        drawn = [candidates[int(i)] for i in rng.integers(len(candidates), size=2)]
        return drawn[1] if drawn[1].beats(drawn[0]) else drawn[0]
