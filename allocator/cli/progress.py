"""Progress on stderr: a live line on a terminal, at most one plain line a second elsewhere. Listens to the recorder."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, TextIO

from allocator.model.entities import Model
from allocator.plan.result import gap_between
from allocator.report.format import level_name, level_value, percent, seconds

if TYPE_CHECKING:
    from allocator.solvers.recorder import Event

__all__ = ["Progress"]

PLAIN_EVERY = 1.0  # s between plain lines
SAID_AT_ONCE = 2  # plans of a level: the first one, and the first better one
LIVE_EVERY = 0.2  # s between drawings of the live line


class Progress:
    """A listener that shows phase, level, best value, bound, gap and time. Use as a context manager.

    Parameters
    ----------
    model : names the levels and their units.
    stream : where to write.
    live : redraw one line (a terminal) instead of adding lines.
    elapsed : seconds since the start of the run.
    """

    def __init__(self, model: Model, stream: TextIO, *, live: bool, elapsed: Callable[[], float]) -> None:
        self._model = model
        self._stream = stream
        self._live = live
        self._elapsed = elapsed
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._phase = "starting"
        self._level: int | None = None
        self._value: float | None = None
        self._bound: float | None = None
        self._announced: Counter[int | None] = Counter()
        self._pending = False
        self._last = float("-inf")
        self._width = 0

    def __enter__(self) -> Progress:
        """Start; on a terminal the line is redrawn so that the clock runs."""
        if self._live:
            self._thread = threading.Thread(target=self._redraw, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the live line, or write the last state that was held back."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            if self._live:
                self._write("\r" + " " * self._width + "\r")
            elif self._pending:
                self._write(self._line() + "\n")
                self._pending = False

    def __call__(self, event: Event) -> None:
        """Take one event, on any thread."""
        with self._lock:
            if event.level is not None:
                self._level = event.level
            if event.kind == "phase":
                self._phase = event.text or self._phase
            self._value, self._bound = event.value, event.bound
            early = event.kind == "incumbent" and self._announced[self._level] < SAID_AT_ONCE
            if early:
                self._announced[self._level] += 1
            at_once = early or event.kind == "phase"  # phases are few, and what they say is said once
            if self._live or self._stop.is_set():
                return
            now = time.monotonic()
            if at_once or now - self._last >= PLAIN_EVERY:
                self._last = now
                self._pending = False
                self._write(self._line() + "\n")
            else:
                self._pending = True

    def _redraw(self) -> None:
        while not self._stop.wait(LIVE_EVERY):
            with self._lock:
                room = max(shutil.get_terminal_size().columns - 1, 20)
                line = self._line()[:room]
                self._write("\r" + line.ljust(min(self._width, room)))
                self._width = len(line)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the reader of stderr has gone; progress is not worth failing for
            self._stop.set()

    def _line(self) -> str:
        parts = [f"{seconds(Fraction(round(self._elapsed(), 1)).limit_denominator(10)):>7}", self._phase]
        levels = self._model.levels
        if self._level is not None and 0 <= self._level < len(levels):
            level = levels[self._level]
            name = level_name(level)
            parts.append(f"level {self._level + 1}/{len(levels)} {name}")
            value, bound = _exact(self._value), _exact(self._bound)
            if value is not None:
                parts.append(f"best {level_value(level, value)}")
            if bound is not None:
                parts.append(f"bound {level_value(level, bound)}")
            if value is not None and bound is not None:
                parts.append(f"gap {percent(gap_between(value, bound), 2)}")
        return "  ".join(parts)


def _exact(value: float | None) -> Fraction | None:
    return Fraction(value) if value is not None and isfinite(value) else None
