"""The one writer of incumbents and bounds. Keeps a thinned trace; tells listeners (progress, reports)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from allocator.solvers.base import Assignment

__all__ = ["Event", "Listener", "Recorder"]

MAX_TRACE = 4096
PHASE = "phase"


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

    keeper: Callable[[Callable[[], Assignment | None]], None] | None = None
    """Takes the plans that are handed over, as functions that make them; None: nobody wants them."""

    def __init__(self, elapsed: Callable[[], float], listeners: tuple[Listener, ...] = ()) -> None:
        self._elapsed = elapsed
        self._listeners = listeners
        self._trace: list[Event] = []
        self._stride = 1  # of the events of a level, one in so many is kept
        self._number = 0  # of the next event in its level
        self._value: float | None = None
        self._bound: float | None = None

    def phase(self, text: str, level: int | None = None) -> None:
        """Note that a phase begins; ``level`` starts a new level, forgetting incumbent and bound of the last one."""
        if level is not None:
            self._value = self._bound = None
        self._add(PHASE, level, text)

    def incumbent(self, level: int, value: float) -> None:
        """Record the value of a better plan at a level."""
        self._value = value
        self._add("incumbent", level)

    def offer(self, make: Callable[[], Assignment | None]) -> None:
        """Hand over a plan that is better than earlier ones, feasible or not; the keeper judges it.

        ``make`` may be called later, on another thread, or never: it must read nothing that changes.
        """
        if self.keeper is not None:
            self.keeper(make)

    def bound(self, level: int, bound: float) -> None:
        """Record a better bound at a level."""
        self._bound = bound
        self._add("bound", level)

    @property
    def trace(self) -> tuple[Event, ...]:
        """Events so far, thinned evenly; starts of levels, the event before each and the latest are always there."""
        return tuple(self._trace)

    def _add(self, kind: str, level: int | None, text: str = "") -> None:
        event = Event(self._elapsed(), kind, level, self._value, self._bound, text)
        self._keep(event)
        for listener in self._listeners:
            listener(event)

    def _keep(self, event: Event) -> None:
        """Append an event, in place of the latest one unless that is one of those to keep."""
        if _starts_level(event):
            self._number = 0
        else:
            if self._number and (self._number - 1) % self._stride:
                self._trace.pop()
            self._number += 1
        self._trace.append(event)
        if len(self._trace) > MAX_TRACE:
            self._stride *= 2
            self._trace = _every_other(self._trace)


def _starts_level(event: Event) -> bool:
    return event.kind == PHASE and event.level is not None


def _every_other(events: list[Event]) -> list[Event]:
    """Every other event of each level, with the first and the last."""
    kept: list[Event] = []
    number = 0
    for event, following in zip(events, [*events[1:], None], strict=True):
        number = 0 if _starts_level(event) else number + 1
        if number % 2 == 1 or number == 0 or following is None or _starts_level(following):
            kept.append(event)
    return kept
