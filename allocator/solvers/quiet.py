"""A HiGHS object that never writes to standard output. Knows nothing of models."""

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
