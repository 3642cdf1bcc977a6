"""How kernels are compiled: cached on disk, free of the interpreter's lock, without fast-math.

The cache of numba goes by the date of the file that a function stands in, and a kernel compiled before one of its
parts was changed would run on. So all kernels share a folder that is named after the text of every file here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["cache_folder", "is_compiled", "kernel", "part", "spliced"]

F = TypeVar("F", bound=Callable[..., object])
CONFIG: Any = numba.config  # its entries are set as the module is imported


def cache_folder() -> Path:
    """Folder of compiled kernels: beside the sources where that can be written, else the user's cache folder."""
    here = Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {CONFIG.BOUNDSCHECK}".encode())
    for source in sorted(here.glob("*.py")):
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    stated = os.environ.get("NUMBA_CACHE_DIR")
    if stated:
        return Path(stated) / name
    if os.access(here, os.W_OK):
        return here / "__pycache__" / name
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "allocator" / name


FOLDER = cache_folder()


def is_compiled() -> bool:
    """Whether the main loop was compiled on this machine before, with this text of all kernels."""
    return any(FOLDER.rglob("walk.walk-*.nbi"))


def kernel(function: F) -> F:
    """Compile a loop; it releases the interpreter's lock, so that independent walks run on several cores."""
    before = CONFIG.CACHE_DIR
    CONFIG.CACHE_DIR = str(FOLDER)
    try:
        return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    finally:
        CONFIG.CACHE_DIR = before


def part(function: F) -> F:
    """Compile a part of loops; numba's compiler takes small ones into their callers."""
    return cast("F", numba.njit(nogil=True, error_model="numpy")(function))


def spliced(function: F) -> F:
    """Take a part into its callers before anything is compiled: each level of parts is compiled with all below it."""
    return cast("F", numba.njit(nogil=True, error_model="numpy", inline="always")(function))
