"""Two folders compared, as words and a table: what got better or worse, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from allocator.plan.record import Record
from allocator.report.format import count, number, percent, seconds
from allocator.report.html.table import Cell, Column, Table, plain
from allocator.report.html.view import Part

if TYPE_CHECKING:
    from allocator.benchmark.comparison import Change, Comparison

__all__ = ["changes_part"]

MOST_ROWS = 500
HOW_TO_READ = (
    "Positive changes are for the worse. With certainty: the 95 % bootstrap interval of the change leaves 0 out, with "
    "at least three seeds on each side."
)
ORDER = ("worse", "better", "perhaps worse", "perhaps better", "not comparable", "same")
MEASURES = {"value": "first goal", "solved": "share proven", "failed": "share failed", "seconds": "time when proven"}


def changes_part(before: Sequence[Record], after: Sequence[Record], name: str) -> Part:
    """The comparison with an older folder.

    Parameters
    ----------
    before, after : records of the older folder and of this one.
    name : of the older folder, for a person.
    """
    from allocator.benchmark.comparison import compare

    found = compare(before, after)
    return Part("Against the older report", (_sentence(found, name), *_doubts(found)), _table(found), _aside(found))


def _sentence(found: Comparison, name: str) -> str:
    certain = [found.count("better"), found.count("worse")]
    perhaps = [found.count("perhaps better"), found.count("perhaps worse")]
    words = f"Compared with {name}: {certain[0]:,} better and {certain[1]:,} worse with certainty; "
    words += f"{perhaps[0]:,} perhaps better and {perhaps[1]:,} perhaps worse; {found.count('same'):,} the same."
    unclear = found.count("not comparable")
    return f"{words} {count(unclear, 'measure')} cannot be compared." if unclear else words


def _doubts(found: Comparison) -> tuple[str, ...]:
    return tuple(f"{note[:1].upper()}{note[1:]}." for note in found.notes)


def _aside(found: Comparison) -> tuple[str, ...]:
    notes = [HOW_TO_READ]
    for keys, words in ((found.only_before, "the older report"), (found.only_after, "this report")):
        if keys:
            shown = ", ".join(" / ".join(key) for key in keys[:8])
            notes.append(f"Only in {words}: {shown}{f' and {len(keys) - 8:,} more' if len(keys) > 8 else ''}.")
    return tuple(notes)


def _table(found: Comparison) -> Table:
    columns = (
        Column("case", "case"),
        Column("model", "model", choice=True),
        Column("method", "method", choice=True),
        Column("measure", "measure", choice=True),
        Column("verdict", "verdict", choice=True),
        Column("before", "before", right=True),
        Column("after", "now", right=True),
        Column("change", "change", right=True),
        Column("interval", "95 % interval", right=True),
        Column("seeds", "seeds", right=True),
        Column("note", "note"),
    )
    ranked = sorted(found.changes, key=lambda change: (ORDER.index(change.verdict), -abs(change.change or 0.0)))
    rows = tuple(_row(change) for change in ranked[:MOST_ROWS])
    return Table("changes", "What changed", columns, rows, max(0, len(ranked) - MOST_ROWS))


def _row(change: Change) -> tuple[Cell, ...]:
    tone = {"better": "good", "worse": "bad"}.get(change.verdict, "quiet" if change.verdict == "same" else "")
    interval = "-"
    if change.low is not None and change.high is not None:
        interval = f"{_signed(change.low)} to {_signed(change.high)}"
    return (
        plain(change.case),
        plain(change.model),
        plain(change.method),
        plain(MEASURES.get(change.measure, change.measure)),
        Cell(change.verdict, change.verdict, tone),
        _side(change, change.before),
        _side(change, change.after),
        Cell("-") if change.change is None else Cell(_signed(change.change), change.change),
        Cell(interval),
        Cell(f"{change.seeds[0]} / {change.seeds[1]}", change.seeds[1]),
        plain(change.note or "-"),
    )


def _side(change: Change, value: float | None) -> Cell:
    if value is None:
        return Cell("-")
    exact = Fraction(repr(value))
    if change.measure == "seconds":
        return Cell(seconds(round(exact, 4)), value)
    return Cell(percent(exact) if change.measure in ("solved", "failed") else number(exact), value)


def _signed(value: float) -> str:
    text = percent(abs(Fraction(repr(value))))
    return text if value == 0 else f"{'+' if value > 0 else '-'}{text}"
