"""Keeps the best plan so far in a file while a method runs, written whole, now and then, by a thread of its own.

Owns when to write and what counts as better. Must not know any method: the recorder hands plans over.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from allocator.compiled.entities import Compiled
from allocator.errors import InputError
from allocator.plan.entities import Plan
from allocator.solvers.base import Assignment

__all__ = ["EVERY", "Checkpoint"]

EVERY = 5.0  # s between two writings
PATIENCE = 20.0  # at least so many times as long as a writing took lie before the next one


class Checkpoint:
    """A file that always holds the best whole plan that was handed over, at most ``every`` seconds behind.

    Parameters
    ----------
    path : of the plan file; replaced whole or not at all.
    every : least seconds between two writings; more where a writing takes long.
    """

    def __init__(self, compiled: Compiled, path: str | os.PathLike[str], every: float = EVERY) -> None:
        self._compiled = compiled
        self._path = Path(path)
        self._every = every
        self._condition = threading.Condition()
        self._latest: Callable[[], Assignment | None] | None = None
        self._closing = False
        self._reached: tuple[Fraction, ...] | None = None
        self._problem: str | None = None
        self._thread = threading.Thread(target=self._write_now_and_then, name="checkpoint", daemon=True)
        self._thread.start()

    @property
    def problem(self) -> str | None:
        """Why a plan could not be written, if that happened."""
        return self._problem

    def offer(self, make: Callable[[], Assignment | None]) -> None:
        """Take a better plan, on any thread. ``make`` is called later, on another thread, or never."""
        with self._condition:
            self._latest = make
            self._condition.notify()

    def close(self, final: Plan | None = None) -> None:
        """End the thread; write the final plan of the run, or else the last one that was handed over."""
        with self._condition:
            self._closing = True
            if final is not None:
                self._latest = None
            self._condition.notify()
        self._thread.join()
        if final is not None:
            self._write(final)

    def _write_now_and_then(self) -> None:
        pause = 0.0
        while True:
            with self._condition:
                if pause and not self._closing:
                    self._condition.wait_for(lambda: self._closing, timeout=pause)
                self._condition.wait_for(lambda: self._closing or self._latest is not None)
                make, self._latest = self._latest, None
                if make is None:
                    return
            began = time.monotonic()
            self._take(make)
            pause = max(self._every, PATIENCE * (time.monotonic() - began))

    def _take(self, make: Callable[[], Assignment | None]) -> None:
        from allocator.checker import check
        from allocator.compiled.restore import plan_of

        found = make()
        if found is None:
            return
        plan = plan_of(self._compiled, found.counts, found.shares, found.theta)
        evaluation = check(self._compiled.instance, self._compiled.model, plan)
        if evaluation.feasible and self._is_ahead(evaluation.levels):
            self._reached = evaluation.levels
            self._write(plan)

    def _is_ahead(self, values: Sequence[Fraction]) -> bool:
        """Whether level values are better than what is in the file; an earlier level may give way within its slack."""
        if self._reached is None:
            return True
        for level, new, old in zip(self._compiled.model.levels, values, self._reached, strict=True):
            gain = old - new if level.sense == "min" else new - old
            if gain > 0:
                return True
            if -gain > level.slack.allowance(old):
                return False
        return False

    def _write(self, plan: Plan) -> None:
        from allocator.plan.files import write_plan

        try:
            write_plan(self._path, plan, self._compiled.instance)
        except InputError as error:  # the search goes on; the file is as it was
            self._problem = str(error)
