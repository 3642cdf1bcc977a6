"""Files written whole or not at all: a kill at any moment leaves the old file or the new one. Knows no format."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from allocator.errors import InputError, Problem

__all__ = ["write_whole"]

NEW_FILE_MODE = 0o666  # narrowed by the umask


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the file's content; keeps the permissions of a file that exists. Devices and pipes are written to.

    Raises
    ------
    InputError
        The file cannot be written; says why and what would help.
    """
    target = Path(path)
    try:
        _write(target, data)
    except (OSError, ValueError) as error:
        raise InputError(str(path), [Problem("file", None, _advice(target, error))]) from error


def _write(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))  # a link keeps pointing at its file
    try:
        mode: int | None = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as stream:
            stream.write(data)
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), NEW_FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _advice(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"cannot be written: the folder {path.parent} does not exist; create it first"
    if isinstance(error, IsADirectoryError):
        return "cannot be written: it is a folder; name a file in it"
    if isinstance(error, PermissionError):
        return f"cannot be written: no permission for it or its folder {path.parent}; choose another place"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"cannot be written: {reason or error}; choose another name or place"
