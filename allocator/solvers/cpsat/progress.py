"""What a level reports while it runs: improvements only, since a restarted search begins with worse plans again."""

from __future__ import annotations

from allocator.solvers.recorder import Recorder

__all__ = ["Progress"]


class Progress:
    """Incumbents and bounds of one level. ``scale``: value of one unit of the minimised objective, with its sign."""

    def __init__(self, recorder: Recorder, level: int, scale: float) -> None:
        self._recorder, self._level, self._scale = recorder, level, scale
        self._value: float | None = None
        self._bound: float | None = None

    def value(self, objective: float) -> None:
        """Note a plan with that objective."""
        if self._value is None or objective < self._value:
            self._value = objective
            self._recorder.incumbent(self._level, objective * self._scale)

    def bound(self, objective: float) -> None:
        """Note a lower bound of the objective."""
        if self._bound is None or objective > self._bound:
            self._bound = objective
            self._recorder.bound(self._level, objective * self._scale)
