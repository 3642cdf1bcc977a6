"""What was asked for, and the random numbers that follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

__all__ = ["Request", "apportion", "around", "between"]


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments of ``generate``, checked."""

    family: str
    agents: int
    load: float
    seed: int

    @property
    def name(self) -> str:
        """Name of the instance."""
        return f"{self.family}-{self.agents}-{self.load:g}-{self.seed}"

    def random(self, part: str) -> Random:
        """Return the generator of one part, so that parts do not disturb each other's numbers."""
        return Random(f"{self.family}/{part}/{self.seed}")


def between(random: Random, low: float, high: float) -> float:
    """Number of a log-uniform distribution: as often in the lower as in the upper half of the ratio."""
    return low * math.exp(random.random() * math.log(high / low))


def around(random: Random, value: float, spread: float) -> float:
    """Number within a relative spread of a value."""
    return value * (1 + spread * (2 * random.random() - 1))


def apportion(total: int, weights: list[float]) -> list[int]:
    """Whole numbers in proportion to weights with the given sum, by largest remainders."""
    exact = [total * weight / sum(weights) for weight in weights]
    parts = [int(part) for part in exact]
    order = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for index in order[: total - sum(parts)]:
        parts[index] += 1
    return parts
