"""Progress of a suite on stderr: a bar on a terminal, a line a finished run elsewhere. Listens to the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from allocator.plan.numbers import shown
from allocator.plan.record import Record

if TYPE_CHECKING:
    from allocator.benchmark.runner import RunEvent

__all__ = ["BenchProgress", "clock"]


class BenchProgress:
    """A listener; use as a context manager."""

    def __init__(self, stream: TextIO, *, live: bool) -> None:
        self._stream = stream
        self._live = live
        self._bar: Any = None
        self._task: Any = None
        self._broken = False

    def __enter__(self) -> BenchProgress:
        """Start the bar, on a terminal."""
        if self._live:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}", markup=False),
            )
            self._bar = Progress(*columns, console=Console(file=self._stream), transient=True)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: RunEvent) -> None:
        """Take one event."""
        if event.kind == "note":
            self._say(event.text)
        elif event.kind == "begin" and event.done:
            self._say(f"{event.done} of {event.total} runs are recorded already")
        left = "" if event.seconds_left is None else f"about {clock(event.seconds_left)} left"
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task("starting", total=event.total, left=left)
            name = "running" if event.record is None else _name(event.record)
            self._bar.update(self._task, completed=event.done, total=event.total, description=name, left=left)
        if event.record is not None and (self._bar is None or event.record.wrong):
            width = len(str(event.total))
            self._say(f"{event.done:>{width}}/{event.total}  {_line(event.record)}  {left}".rstrip())

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
            return
        if self._broken:
            return
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # the reader of stderr has gone; progress is not worth failing for
            self._broken = True


def _name(record: Record) -> str:
    return f"{record.case}  {record.model}  {record.method}  seed {record.seed}"


def _line(record: Record) -> str:
    if record.wrong:
        said = "WRONG: " + "; ".join(record.checked["mismatches"][:1])
    elif record.outcome != "done":
        said = record.outcome.replace("_", " ")
    else:
        value = "" if record.value is None else f" {shown(record.value)}"
        said = f"{record.status}{value}"
    return f"{_name(record)}  {said}  {record.seconds:.1f} s"


def clock(seconds: float) -> str:
    """A duration for a person: ``40 s``, ``3 min``, ``2 h 10 min``."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
