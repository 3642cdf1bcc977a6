"""Records of a report folder: appended whole, read back, as a frame. Knows no run.

A record counts once its line end is on disk. A torn last line, left by a crash, is cut off before the next append.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from allocator.errors import ArgumentError, InputError, Problem
from allocator.plan.record import Record

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MANIFEST", "RECORDS", "RecordFile", "flat", "read_manifest", "read_records", "records_frame"]

MANIFEST = "manifest.json"
RECORDS = "records.jsonl"
REPORT_FORMAT = "allocator/report/v1"


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Manifest of a report folder.

    Raises
    ------
    InputError
        There is none, or it is something else.
    """
    path = Path(folder) / MANIFEST
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(str(path), [Problem("file", None, _unreadable(error))]) from error
    except ValueError as error:
        raise InputError(str(path), [Problem("file", None, f"is not JSON: {error}")]) from error
    if not isinstance(tree, dict) or tree.get("format") != REPORT_FORMAT:
        raise InputError(str(path), [Problem("format", None, f"must be {REPORT_FORMAT!r}")])
    return tree


def read_records(folder: str | os.PathLike[str]) -> list[Record]:
    """Records of a report folder in the order they were finished; a torn last line is passed over.

    Raises
    ------
    InputError
        A line is no record, or a run stands there twice.
    """
    path = Path(folder) / RECORDS
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(str(path), [Problem("file", None, _unreadable(error))]) from error
    return _parse(data, path)


def _parse(data: bytes, path: Path) -> list[Record]:
    records: dict[str, Record] = {}
    problems: list[Problem] = []
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            record = Record.from_json(line.decode())
        except (ValueError, TypeError) as error:
            problems.append(Problem(f"line {number}", None, f"is no record: {error}"))
            continue
        if record.run in records:
            problems.append(Problem(f"line {number}", record.run, "this run has a record already"))
        records[record.run] = record
    if problems:
        raise InputError(str(path), problems)
    return list(records.values())


class RecordFile:
    """The one writer of a folder's records; a lock keeps a second one out. Use as a context manager.

    Raises
    ------
    ArgumentError
        Another process writes there now.
    InputError
        The file cannot be opened, or holds something that is no record.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORDS
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise InputError(str(self._path), [Problem("file", None, _unreadable(error))]) from error
        try:
            self.records = self._open()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _open(self) -> list[Record]:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"{self._path}: another process writes here now; wait for it, or choose another folder"
            raise ArgumentError(message) from error
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        records = _parse(whole, self._path)
        if len(whole) < len(data):
            os.ftruncate(self._descriptor, len(whole))
            os.fsync(self._descriptor)
        return records

    def __enter__(self) -> RecordFile:
        """Nothing more to do."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, which gives the lock up."""
        os.close(self._descriptor)

    def append(self, record: Record) -> None:
        """Write a record; it is on disk when this returns."""
        rest = memoryview((record.to_json() + "\n").encode())
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        os.fsync(self._descriptor)
        self.records.append(record)


def records_frame(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """One row a run, flat columns, numbers as floats."""
    import pandas as pd

    rows = [flat(record) for record in read_records(folder)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


COLUMNS = (
    "run", "suite", "case", "instance", "digest", "members", "nodes", "model", "method", "seed",
    "limit_seconds", "limit_gap", "limit_threads", "limit_memory_mib", "limit_iterations",
    "outcome", "error", "status", "reason", "sense", "value", "bound", "gap", "levels", "feasible", "as_claimed",
    "wrong", "solved", "best_known", "best_known_source", "first_plan_seconds",
    "run_seconds", "seconds", "cpu_seconds", "peak_memory_mib",
    "variables", "constraints", "plan", "started", "allocator", "cpu",
)  # fmt: skip


def flat(record: Record) -> dict[str, Any]:
    """A record as one row; ``value``, ``bound`` and ``gap`` are of the first level, ``levels`` holds all as JSON."""
    first: Mapping[str, Any] = record.levels[0] if record.levels else {}
    known = record.best_known or {}
    row = {name: getattr(record, name, None) for name in COLUMNS}
    return {
        **row,
        "instance": record.instance["name"],
        **{name: record.instance[name] for name in ("digest", "members", "nodes")},
        **{f"limit_{name}": record.limits[name] for name in ("seconds", "gap", "threads", "memory_mib", "iterations")},
        **{name: first.get(name) for name in ("sense", "value", "bound", "gap")},
        "levels": json.dumps([dict(level) for level in record.levels], ensure_ascii=False),
        "feasible": record.checked["feasible"],
        "as_claimed": record.checked["as_claimed"],
        "best_known": known.get("value"),
        "best_known_source": known.get("source"),
        "variables": record.size.get("variables"),
        "constraints": record.size.get("constraints"),
        "allocator": record.versions.get("allocator"),
        "cpu": record.machine.get("cpu"),
    }


def _unreadable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file; make the folder with: allocator bench SUITE -o DIR"
    return f"cannot be read: {error.strerror or error}"
