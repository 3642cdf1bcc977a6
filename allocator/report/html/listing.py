"""Tables of single runs: all of them, the failures apart, what was refuted; and where the numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from allocator.plan.record import Record, exact
from allocator.plan.result import gap_between
from allocator.report.format import percent, seconds
from allocator.report.html.figures import open_gap, shown_value
from allocator.report.html.rebuild import Folder, Judged
from allocator.report.html.table import Cell, Column, Table, plain

__all__ = ["OUTCOMES", "failures_table", "provenance_table", "runs_table", "versions_table", "wrong_table"]

OUTCOMES = {
    "done": "ended by itself",
    "refused": "refused the instance",
    "crashed": "crashed",
    "timed_out": "was stopped for time",
    "out_of_memory": "ran out of memory",
}

_WHO = (
    Column("case", "case"),
    Column("model", "model", choice=True),
    Column("method", "method", choice=True),
    Column("seed", "seed", right=True),
)


def _who(record: Record, link: str = "") -> tuple[Cell, ...]:
    case = Cell(record.case, record.case, link=link)
    return case, plain(record.model), plain(record.method), Cell(str(record.seed), record.seed)


def outcome_of(run: Judged) -> Cell:
    """What became of a run, in a word."""
    record = run.record
    if run.wrong:
        return Cell("WRONG", "wrong", "bad")
    if record.outcome != "done":
        return Cell(record.outcome.replace("_", " "), record.outcome, "quiet")
    text = record.status or "done"
    return Cell(text, text, "good" if record.solved else "")


def runs_table(folder: Folder, links: Mapping[tuple[str, str], str]) -> Table:
    """A row a run. Values and gaps stand only where the plan was confirmed.

    Parameters
    ----------
    links : id of the plan shown for a case and model.
    """
    columns = (
        *_WHO,
        Column("outcome", "outcome", choice=True),
        Column("value", "goals reached", right=True),
        Column("gap", "gap", right=True),
        Column("to_best_known", "to best known", right=True),
        Column("first_plan_seconds", "first plan", right=True),
        Column("seconds", "time", right=True),
        Column("peak_memory_mib", "MiB", right=True),
        Column("variables", "variables", right=True),
        Column("constraints", "rows", right=True),
        Column("members", "members", right=True),
    )
    return Table("runs", "Every run", columns, tuple(_run_row(run, links) for run in folder.runs))


def _run_row(run: Judged, links: Mapping[tuple[str, str], str]) -> tuple[Cell, ...]:
    record = run.record
    sound = record.has_plan and not run.wrong
    levels = record.levels if sound else ()
    reached = " · ".join(shown_value(level["goals"], level["value"]) for level in levels)
    gap = open_gap(record) if sound else None
    known = exact(record.best_known["value"]) if record.best_known else None
    to_known = gap_between(record.value, known) if sound else None
    return (
        *_who(record, links.get(record.key, "")),
        outcome_of(run),
        Cell(reached, levels[-1]["value"]) if levels else Cell("-"),
        Cell("-") if gap is None else Cell(percent(gap[1], 2), gap[1]),
        Cell(_signed(record, known, to_known), to_known),
        _seconds(record.first_plan_seconds),
        _seconds(record.run_seconds),
        _whole(record.peak_memory_mib),
        _whole(record.size.get("variables")),
        _whole(record.size.get("constraints")),
        _whole(record.instance["members"]),
    )


def _signed(record: Record, known: Fraction | None, gap: Fraction | None) -> str:
    """Gap to the best known value; a better value than that says so."""
    if gap is None or known is None or record.value is None:
        return "-"
    better = record.value < known if record.sense == "min" else record.value > known
    return f"{percent(gap, 2)} better" if better and gap else percent(gap, 2)


def _seconds(value: float | None) -> Cell:
    return Cell("-") if value is None else Cell(seconds(Fraction(repr(round(value, 4)))), value)


def _whole(value: float | None) -> Cell:
    return Cell("-") if value is None else Cell(f"{value:,.0f}", value)


def failures_table(folder: Folder) -> Table | None:
    """Runs that ended without a plan and without a proof that there is none; None when there are none."""
    rows = []
    for run in folder.runs:
        record = run.record
        if run.wrong or record.has_plan or record.solved:
            continue
        why = record.error or (record.result or {}).get("termination", {}).get("detail") or record.reason or "-"
        rows.append((*_who(record), outcome_of(run), plain(_first_lines(str(why))), _seconds(record.run_seconds)))
    if not rows:
        return None
    columns = (*_WHO, Column("outcome", "outcome", choice=True), Column("why", "why"), Column("s", "time", right=True))
    return Table("failures", "Runs without an answer", columns, tuple(rows))


def _first_lines(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def wrong_table(folder: Folder) -> Table | None:
    """What was refuted, and by what; None when nothing was."""
    rows = [
        (who[0], Cell(_first_lines(sentence, 500), sentence, "bad"), *who[1:])
        for run in folder.wrong
        for who in (_who(run.record),)
        for sentence in run.wrong
    ]
    if not rows:
        return None
    columns = (_WHO[0], Column("why", "what the checker says"), *_WHO[1:])
    return Table("wrong", "Wrong", columns, tuple(rows))


def provenance_table(folder: Folder) -> Table:
    """Where the numbers come from: machine, commit, seeds, limits."""
    manifest = folder.manifest
    machine: Mapping[str, Any] = manifest.get("machine") or {}
    limits: Mapping[str, Any] = manifest.get("limits") or {}
    facts = [
        ("suite", manifest.get("suite")),
        ("begun", manifest.get("started")),
        ("continued", ", ".join(str(entry.get("at")) for entry in manifest.get("continued") or ()) or None),
        ("commit", manifest.get("commit")),
        *((name, machine.get(name)) for name in ("cpu", "cores", "memory_mib", "platform", "python")),
        ("seeds", ", ".join(map(str, manifest.get("seeds") or ())) or None),
        *((f"limit: {name}", value) for name, value in limits.items()),
    ]
    rows = tuple((plain(name.replace("_", " ")), plain("-" if value is None else str(value))) for name, value in facts)
    return Table(
        "provenance", "Where the numbers come from", (Column("what", "what"), Column("is", "is")), rows, filters=False
    )


def versions_table(folder: Folder) -> Table:
    """Versions that an answer depends on."""
    versions: Mapping[str, Any] = folder.manifest.get("versions") or {}
    rows = tuple((plain(name), plain(str(version or "-"))) for name, version in versions.items())
    return Table("versions", "Versions", (Column("name", "package"), Column("version", "version")), rows, filters=False)
