"""Records as tables for other programs: CSV, and Parquet where pyarrow is installed. One row a run, flat columns."""

from __future__ import annotations

import csv
import io
import os
from importlib.util import find_spec

from allocator.benchmark.records import COLUMNS, flat, read_records, records_frame
from allocator.errors import ArgumentError
from allocator.plan.whole import write_whole

__all__ = ["RECORDS_CSV", "RECORDS_PARQUET", "export_csv", "export_parquet", "require_parquet"]

RECORDS_CSV = "records.csv"
RECORDS_PARQUET = "records.parquet"


def export_csv(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Write the records of a report folder as CSV; an empty cell states nothing.

    Raises
    ------
    InputError
        The records are wrong, or the file cannot be written.
    """
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat(record) for record in read_records(folder))
    write_whole(path, buffer.getvalue().encode())


def require_parquet() -> None:
    """Raise ``ArgumentError`` that says what to install, when pyarrow is not there."""
    if find_spec("pyarrow") is None:
        raise ArgumentError("Parquet needs pyarrow; install it with: pip install 'allocator[parquet]'")


def export_parquet(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Write the records of a report folder as Parquet.

    Raises
    ------
    ArgumentError
        pyarrow is not installed.
    InputError
        The records are wrong, or the file cannot be written.
    """
    require_parquet()
    frame = records_frame(folder)
    buffer = io.BytesIO()
    frame.to_parquet(buffer, engine="pyarrow", index=False)
    write_whole(path, buffer.getvalue())
