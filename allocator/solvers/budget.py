"""Limits of a run: an immutable value; ``start`` makes the state of one run. Knows clocks, nothing of solving."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real

from allocator.errors import ArgumentError, BudgetExhausted

__all__ = ["Budget", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall time in seconds and iterations; None: unlimited."""

    seconds: float | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not isinstance(self.seconds, Real):
            raise ArgumentError(f"time limit = {self.seconds!r}: must be a number of seconds, or None for no limit")
        if self.seconds is not None and not self.seconds > 0:
            raise ArgumentError(f"time limit = {self.seconds}: must be more than 0 seconds")
        if self.iterations is not None and (not isinstance(self.iterations, Integral) or self.iterations < 0):
            raise ArgumentError(f"iterations = {self.iterations!r}: must be a whole number of at least 0, or None")

    def start(self, clock: Callable[[], float] = time.monotonic, spent: float = 0.0) -> Budget:
        """Start the clock, ``spent`` seconds already gone (reading the file, importing)."""
        return Budget(self, clock, clock() - spent)


@dataclass(slots=True)
class Budget:
    """One run's clock and interruption flag. ``interrupt`` may be called from any thread or a signal handler."""

    limits: Limits
    clock: Callable[[], float]
    started: float
    _interrupted: threading.Event = field(default_factory=threading.Event)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    def remaining(self) -> float:
        """Seconds left, at least 0; infinity without a limit."""
        if self.limits.seconds is None:
            return float("inf")
        return max(0.0, self.limits.seconds - self.elapsed())

    def interrupt(self) -> None:
        """Ask the run to stop and return its best plan."""
        self._interrupted.set()

    @property
    def interrupted(self) -> bool:
        """Whether a stop was asked for."""
        return self._interrupted.is_set()

    @property
    def exhausted(self) -> bool:
        """Whether the run should stop now."""
        return self.interrupted or self.remaining() <= 0.0

    def check(self) -> None:
        """Raise ``BudgetExhausted`` when the run should stop now."""
        if self.exhausted:
            raise BudgetExhausted("interrupted" if self.interrupted else "time limit reached")

    def portion(self, share: float) -> Budget:
        """A budget that ends after ``share`` of the time left, and stops with this one."""
        remaining = self.remaining()
        seconds = None if remaining == float("inf") else self.elapsed() + remaining * share
        return Budget(Limits(seconds, self.limits.iterations), self.clock, self.started, self._interrupted)

    def counting(self, iterations: int | None) -> Budget:
        """A budget that ends and stops with this one, with iterations of its own: for a solver that is only a step."""
        return Budget(Limits(self.limits.seconds, iterations), self.clock, self.started, self._interrupted)

    def keeping(self, seconds: float) -> Budget:
        """A budget that ends so many seconds before this one, and stops with it; without a limit it has none."""
        remaining = self.remaining()
        return self if remaining == float("inf") else self.at_most(max(0.0, remaining - seconds))

    def at_most(self, seconds: float) -> Budget:
        """A budget that ends after so many seconds, or with this one if that is sooner, and stops with this one."""
        end = self.elapsed() + min(seconds, self.remaining())
        return Budget(Limits(max(end, 1e-9), self.limits.iterations), self.clock, self.started, self._interrupted)

    def at_least(self, seconds: float) -> Budget:
        """Leave so many seconds, even beyond the end of this budget; interrupted, both stop."""
        if self.limits.seconds is None:
            return self
        end = self.elapsed() + max(seconds, self.remaining())
        return Budget(Limits(end, self.limits.iterations), self.clock, self.started, self._interrupted)
