"""Signals during a solve: the first asks for the best plan so far, a second ends the program at once.

A back end may keep the main thread in compiled code, where no Python handler runs; a thread that reads the wake-up
pipe of the interpreter learns of a signal even then.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from allocator.cli.entry import INTERRUPTED

__all__ = ["interruptible"]

_HANDLED = (signal.SIGINT, signal.SIGTERM)
_NOTICE = b"\ninterrupted: finishing with the best plan so far; once more to stop at once\n"


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Within the block, the first SIGINT or SIGTERM calls ``interrupt``; a second one exits with 130.

    Outside the main thread nothing is changed: signals belong to the program that embeds this one.

    Parameters
    ----------
    interrupt : safe to call from another thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    watcher = threading.Thread(target=_watch, args=(reader, interrupt), name="signals", daemon=True)
    watcher.start()
    before_fd = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in _HANDLED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before_fd)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(reader: int, interrupt: Callable[[], None]) -> None:
    """Read signal numbers until the pipe is closed."""
    seen = False
    while data := os.read(reader, 64):
        for number in data:
            if number not in _HANDLED:
                continue
            if seen:
                # No clean-up: the main thread may be busy for long, and files are only ever replaced whole.
                os._exit(INTERRUPTED)
            seen = True
            os.write(2, _NOTICE)
            interrupt()
