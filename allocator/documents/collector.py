"""The garbage collector's pause while millions of small long-lived objects are made. Owns nothing else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Switch the cyclic collector off, which would re-read all that is made again and again, and on again if it was."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
