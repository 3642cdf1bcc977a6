"""Rows of a CSV file with a header. Owns the messages about cells; knows no format."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NoReturn

from allocator.documents.reading import read_text
from allocator.errors import InputError, Problem

__all__ = ["Row", "rows_of"]

MAX_DIGITS = 15
SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Row:
    """A row by column. Every method raises ``InputError`` with the line and column of the cell it concerns."""

    source: str
    line: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """What stands in a cell, which must not be empty."""
        found = self.optional(column)
        if not found:
            self.refuse(column, "must not be empty")
        return found

    def optional(self, column: str) -> str:
        """What stands in a cell; empty also where there is no such column."""
        return self.cells.get(column, "").strip()

    def whole(self, column: str) -> int:
        """A whole number of at least 0."""
        found = self.optional(column)
        if not (found.isascii() and found.isdigit() and len(found) <= MAX_DIGITS):
            self.refuse(column, f"must be a whole number of at least 0 and at most {MAX_DIGITS} digits")
        return int(found)

    def refuse(self, column: str, message: str) -> NoReturn:
        """Raise at a cell."""
        value = self.cells.get(column, "")[:SHOWN_CHARACTERS]
        raise InputError(self.source, [Problem(f"line {self.line}, {column}", value, message)])


def rows_of(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Rows of a file that has at least these columns.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, has no rows, or a row of another length than the header.
    """
    source = str(path)
    reader = csv.reader(StringIO(read_text(path), newline=""), strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        missing = [column for column in columns if column not in header]
        if missing:
            message = f"lacks the columns {', '.join(missing)}; it needs {', '.join(columns)}"
            raise InputError(source, [Problem("line 1", None, message)])
        empty = True
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                message = f"has {len(cells)} cells, and the header {len(header)}"
                raise InputError(source, [Problem(f"line {reader.line_num}", None, message)])
            empty = False
            yield Row(source, reader.line_num, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise InputError(source, [Problem(f"line {reader.line_num}", None, f"is not CSV: {error}")]) from None
    if empty:
        raise InputError(source, [Problem("file", None, "has no rows below its header")])
