"""The command line: one module per subcommand, imported when it is invoked. Parses, calls, prints; no logic."""

from __future__ import annotations

import time

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code. A time limit counts from here, imports and reading included.

    Parameters
    ----------
    arguments : without the program's name; None: those of the process.
    """
    started = time.monotonic()
    from allocator.cli.entry import run

    return run(arguments, started)
