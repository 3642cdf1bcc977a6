"""What a page is made of: pictures, parts, the view of one plan. Plain data for the templates."""

from __future__ import annotations

from dataclasses import dataclass, field

from allocator.report.html.table import Table

__all__ = ["Part", "Picture", "PlanView"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing (SVG markup) with its caption, its key of (swatch markup, name), and the table behind it.

    ``elsewhere``: id of the table that holds its numbers, where it is not right below.
    """

    title: str
    drawing: str
    caption: str = ""
    key: tuple[tuple[str, str], ...] = ()
    data: Table | None = None
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A titled part: sentences, a table, notes."""

    title: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan on the page. ``facts``: (name, value, note). ``before`` and ``after`` stand around maps and tables."""

    key: str
    facts: tuple[tuple[str, str, str], ...]
    before: tuple[Part, ...]
    maps: tuple[Picture, ...] = ()
    map_words: str = ""
    legend: str = ""
    cell_word: str = "node"
    mix: Picture | None = None
    tables: tuple[Table, ...] = field(default=())
    after: tuple[Part, ...] = ()
