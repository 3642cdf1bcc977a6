"""A table of the report: texts to read, and beside each the value it is sorted by and exported as. Knows no markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

__all__ = ["Cell", "Column", "Table", "from_sheet", "plain"]

LARGEST = Fraction(10) ** 300

Value = str | int | float | Fraction | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``key``: its name in CSV. ``right``: numbers. ``choice``: few values, offered as a list of a filter."""

    key: str
    title: str
    right: bool = False
    choice: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """``text`` is read, ``value`` sorts and is exported. ``tone``: "bad", "good", "quiet" or "". ``link``: an id."""

    text: str
    value: Value = None
    tone: str = ""
    link: str = ""

    @property
    def sort(self) -> str | None:
        """What the cell is sorted by where that is not its text: a number, or "" for what is missing."""
        if isinstance(self.value, bool):
            return str(int(self.value))
        if isinstance(self.value, (int, float, Fraction)):
            value = Fraction(self.value)
            return repr(float(value)) if abs(value) < LARGEST else "1e300"
        return None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns. ``more``: rows that were left out here. ``filters``: offer to filter it."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int = 0
    filters: bool = True
    notes: tuple[str, ...] = field(default=())

    def cut(self, most: int) -> Table:
        """The first rows; the others are counted in ``more``."""
        if len(self.rows) <= most:
            return self
        return replace(self, rows=self.rows[:most], more=self.more + len(self.rows) - most)


def plain(text: str, tone: str = "") -> Cell:
    """A cell that is its own value."""
    return Cell(text, text, tone)


def from_sheet(
    key: str, title: str, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]], more: int = 0
) -> Table:
    """A table of texts alone: (title, right) columns and rows."""
    return Table(
        key,
        title,
        tuple(Column(name.lower().replace(" ", "_"), name, right) for name, right in columns),
        tuple(tuple(plain(cell) for cell in row) for row in rows),
        more,
        filters=False,
    )
