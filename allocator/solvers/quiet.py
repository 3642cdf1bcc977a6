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
        threads = int(self.getOptionValue("threads")[1])
        if threads and _claimed != [threads]:  # 0 takes what there is
            _set_up_anew(threads)
        status = highspy._core._Highs.run(self)
        if status == highspy.HighsStatus.kError and self.getModelStatus() == highspy.HighsModelStatus.kNotset:
            _set_up_anew(threads)  # somebody else's run in this process had set the scheduler up
            status = highspy._core._Highs.run(self)
        return status


_claimed: list[int] = []  # the number of threads that the scheduler of this process was last set up for


def _set_up_anew(threads: int) -> None:
    highspy.Highs.resetGlobalScheduler(True)
    _claimed[:] = [threads]
