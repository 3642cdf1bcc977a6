"""A section of the summary: a title, sentences and tables; and how they become text. Knows nothing of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = ["SHOWN", "Column", "Section", "Sheet", "cut", "printable", "render"]

T = TypeVar("T")

SHOWN = 8
"""Rows of a list before it is cut."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet; numbers stand to the right."""

    title: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of texts; ``more`` rows were left out."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """``title`` (empty: none), then sentences, a sheet, then notes below it."""

    title: str
    sentences: tuple[str, ...] = ()
    sheet: Sheet | None = None
    notes: tuple[str, ...] = field(default=())


def cut(rows: Sequence[T], shown: int = SHOWN) -> tuple[tuple[T, ...], int]:
    """The first rows and how many are left out; one left out is shown instead of counted."""
    if len(rows) <= shown + 1:
        return tuple(rows), 0
    return tuple(rows[:shown]), len(rows) - shown


def printable(text: str) -> str:
    """The text with control characters, which a name may hold, written as escapes."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def render(sections: Sequence[Section], *, width: int, color: bool) -> str:
    """Text of the sections, each line without trailing blanks."""
    from io import StringIO

    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    target = StringIO()
    console = Console(
        file=target,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
        legacy_windows=False,
        _environ={},
    )
    for index, section in enumerate(sections):
        if index:
            console.print()
        indent = 0
        if section.title:
            console.print(Text(printable(section.title), style="bold"))
            indent = 2
        for sentence in section.sentences:
            console.print(Padding(_sentence(sentence, style="" if section.title else "bold"), (0, 0, 0, indent)))
        if section.sheet is not None:
            console.print(Padding(_table(section.sheet), (0, 0, 0, indent)))
            if section.sheet.more:
                console.print(Padding(Text(f"... and {section.sheet.more:,} more"), (0, 0, 0, indent)))
        for note in section.notes:
            console.print(Padding(Text(printable(note)), (0, 0, 0, indent)))
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _sentence(sentence: str, style: str) -> Table | Text:
    """A paragraph; one that begins with a dash is an item, its further lines indented."""
    from rich.table import Table
    from rich.text import Text

    if not sentence.startswith("- "):
        return Text(printable(sentence), style=style)
    item = Table.grid(padding=(0, 1, 0, 0))
    item.add_column()
    item.add_column(overflow="fold")
    item.add_row("-", Text(printable(sentence[2:]), style=style))
    return item


def _table(sheet: Sheet) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for column in sheet.columns:
        table.add_column(
            Text(column.title), justify="right" if column.right else "left", no_wrap=column.right, overflow="fold"
        )
    for row in sheet.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
