"""A HiGHS object that never writes to standard output and runs with any number of threads. Knows nothing of models.

HiGHS keeps one scheduler a process and refuses to run with another number of threads than its first run had; the
number is therefore claimed before each run. Runs with different numbers must not overlap in one process.
"""

from __future__ import annotations

from typing import Any

import highspy

__all__ = ["QuietHighs"]


class QuietHighs(highspy.Highs):
    """``highspy.Highs`` prints a banner while it is constructed; this silences the console before that."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # highspy annotates no method of its wrapper

    def enableCallbacks(self) -> Any:  # noqa: N802 - HiGHS's own name
        """Called by the constructor; silence first."""
        self.setOptionValue("log_to_console", False)
        return super().enableCallbacks()  # type: ignore[no-untyped-call]  # the same

    def run(self) -> Any:
        """Run on the calling thread, with the scheduler set up anew where the number of threads has changed."""
        _claim(int(self.getOptionValue("threads")[1]))
        return highspy._core._Highs.run(self)


_claimed: list[int] = []  # the number of threads that the scheduler of this process was last set up for


def _claim(threads: int) -> None:
    if threads and _claimed != [threads]:  # 0 takes what there is
        highspy.Highs.resetGlobalScheduler(True)
        _claimed[:] = [threads]
