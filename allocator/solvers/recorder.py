"""The one writer of incumbents and bounds. Keeps a thinned trace; tells listeners (progress, reports)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Event", "Listener", "Recorder"]

MAX_TRACE = 4096


@dataclass(frozen=True, slots=True)
class Event:
    """Something that became known. ``kind``: "phase", "incumbent" or "bound". ``seconds`` since the start."""

    seconds: float
    kind: str
    level: int | None
    value: float | None
    bound: float | None
    text: str = ""


class Listener(Protocol):
    """Receives events as they happen, on whatever thread found them."""

    def __call__(self, event: Event) -> None:
        """Take one event. Must be quick and must not raise."""


class Recorder:
    """Collects events of one run. ``elapsed``: function that gives the seconds since the start."""

    def __init__(self, elapsed: Callable[[], float], listeners: tuple[Listener, ...] = ()) -> None:
        self._elapsed = elapsed
        self._listeners = listeners
        self._trace: list[Event] = []
        self._value: float | None = None
        self._bound: float | None = None

    def phase(self, text: str, level: int | None = None) -> None:
        """Note that a phase begins; ``level`` starts a new level, forgetting incumbent and bound of the last one."""
        if level is not None:
            self._value = self._bound = None
        self._add("phase", level, text)

    def incumbent(self, level: int, value: float) -> None:
        """Record the value of a better plan at a level."""
        self._value = value
        self._add("incumbent", level)

    def bound(self, level: int, bound: float) -> None:
        """Record a better bound at a level."""
        self._bound = bound
        self._add("bound", level)

    @property
    def trace(self) -> tuple[Event, ...]:
        """Events so far, thinned."""
        return tuple(self._trace)

    def _add(self, kind: str, level: int | None, text: str = "") -> None:
        event = Event(self._elapsed(), kind, level, self._value, self._bound, text)
        self._trace.append(event)
        if len(self._trace) > MAX_TRACE:
            # keep every other event of the older half: its shape stays, its size halves
            half = len(self._trace) // 2
            self._trace = self._trace[:half:2] + self._trace[half:]
        for listener in self._listeners:
            listener(event)
