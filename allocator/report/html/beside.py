"""The tables of a page as Markdown and CSV. Owns both formats' escapes; knows no content."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from fractions import Fraction

from allocator.plan.numbers import plain_number
from allocator.report.html.table import Cell, Table
from allocator.report.summary.section import printable

__all__ = ["csv_text", "markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def markdown(title: str, parts: Iterable[tuple[str, Iterable[str], Table | None]]) -> str:
    """A document of parts: title, sentences, table. What a person named stands literally."""
    lines = [f"# {_literal(title)}", ""]
    for heading, sentences, table in parts:
        if heading:
            lines += [f"## {_literal(heading)}", ""]
        for sentence in sentences:
            lines += [_literal(sentence), ""]
        if table is not None:
            lines += [*_table(table), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(table: Table) -> Iterable[str]:
    yield _row(column.title for column in table.columns)
    yield _row(("---:" if column.right else "---" for column in table.columns), literal=False)
    for cells in table.rows:
        yield _row(cell.text for cell in cells)
    if table.more:
        yield ""
        yield f"... and {table.more:,} more rows"


def _row(texts: Iterable[str], *, literal: bool = True) -> str:
    return "| " + " | ".join(_literal(text) if literal else text for text in texts) + " |"


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))


def csv_text(table: Table) -> str:
    """The table with its values: numbers in full, nothing for what is missing."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for cells in table.rows:
        writer.writerow([_value(cell) for cell in cells])
    return buffer.getvalue()


def _value(cell: Cell) -> str | int | float | None:
    value = cell.value
    if value is None:
        return None if cell.text == "-" else _safe(cell.text)
    if isinstance(value, Fraction):
        return plain_number(value)
    if isinstance(value, str):
        return None if value == "-" else _safe(value)
    return value


def _safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
