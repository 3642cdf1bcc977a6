"""The page of a report folder: verdict in words, methods side by side, every run, the plans themselves.

Built from the folder alone; every plan in it is judged again on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from allocator.plan.record import Record
from allocator.report.format import count
from allocator.report.html.beside import csv_text, markdown
from allocator.report.html.changes import changes_part
from allocator.report.html.environment import render
from allocator.report.html.figures import gap_picture, memory_picture, series_of, trace_pictures
from allocator.report.html.listing import failures_table, provenance_table, runs_table, versions_table, wrong_table
from allocator.report.html.plan import plan_view
from allocator.report.html.rebuild import Folder, Judged, read_folder
from allocator.report.html.standing import Standing, standing_of
from allocator.report.html.table import Table
from allocator.report.html.view import Part, PlanView
from allocator.report.summary.verdict import verdict

__all__ = ["Report", "make_report"]

MOST_PLANS = 40
MOST_RUNS = 1_000
LARGEST_PAGE = 1_400_000
"""Bytes that a page is kept under by leaving out plans, the largest instances first."""


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """The plan of a case and model that the page shows: that of the best run."""

    key: str
    case: str
    model: str
    words: str
    view: PlanView


@dataclass(frozen=True, slots=True)
class Report:
    """A finished report. ``wrong``: how many records are refuted or contradict others."""

    page: str
    markdown: str
    tables: Mapping[str, str]
    wrong: int


def make_report(path: Path, against: Path | None = None) -> Report:
    """Page, Markdown and CSV tables (by name) of a report folder.

    Parameters
    ----------
    path : the folder.
    against : an older folder to compare with.

    Raises
    ------
    InputError
        A folder is none, or its records cannot be read.
    """
    folder = read_folder(path)
    older = None
    if against is not None:
        from allocator.benchmark.records import read_manifest, read_records

        older = read_records(against), _name_of(against, read_manifest(against))
    sound = [run.record for run in folder.runs if not run.wrong]
    standing = standing_of(sound, series_of(sorted(folder.records, key=lambda record: record.method)))
    changes = None if older is None else changes_part(older[0], sound, older[1])
    shown, left_out = _plans(folder)
    page = _page(folder, standing, changes, shown, left_out)
    while len(page.encode()) > LARGEST_PAGE and shown:
        shown = _without_largest(shown, folder)
        page = _page(folder, standing, changes, shown, left_out + 1)
        left_out += 1
    parts = _parts(folder, standing, changes)
    tables = {table.key: csv_text(table) for _, _, table in parts if table is not None}
    title = f"Benchmark report: {folder.manifest.get('suite')}"
    return Report(page, markdown(title, parts), tables, len(folder.wrong) + len(folder.clashes))


def _name_of(path: Path, manifest: Mapping[str, object]) -> str:
    return f"{path.name} ({manifest.get('suite')}, {str(manifest.get('started'))[:10]})"


def _page(folder: Folder, standing: Standing, changes: Part | None, shown: Sequence[ShownPlan], left_out: int) -> str:
    records = folder.records
    series = series_of(sorted(records, key=lambda record: record.method))
    sound = [run.record for run in folder.runs if not run.wrong]
    traces, more_traces = trace_pictures(sound, series, "trace")
    pictures = [gap_picture(sound, series, "gap"), memory_picture(records, series, "memory")]
    failures = failures_table(folder)
    links = {(plan.case, plan.model): plan.key for plan in shown}
    return render(
        "report.html",
        f"Benchmark report: {folder.manifest.get('suite')}",
        suite=str(folder.manifest.get("suite")),
        about=_about(folder),
        verdict=_verdict(folder, standing),
        wrong=wrong_table(folder),
        clashes=folder.clashes,
        facts=_facts(folder),
        standing=standing,
        traces=traces,
        more_traces=more_traces,
        pictures=[picture for picture in pictures if picture is not None],
        failures=None if failures is None else failures.cut(MOST_RUNS),
        changes=changes,
        runs=runs_table(folder, links).cut(MOST_RUNS),
        plans=shown,
        left_out=left_out,
        provenance=provenance_table(folder),
        versions=versions_table(folder),
        suite_file=str(folder.manifest.get("suite_file") or ""),
        digests=sorted((folder.manifest.get("digests") or {}).items()),
        unjudged=[f"{run.record.case}, {run.record.method}: {run.note}" for run in folder.runs if run.note][:20],
    )


def _parts(folder: Folder, standing: Standing, changes: Part | None) -> list[tuple[str, tuple[str, ...], Table | None]]:
    """Words and tables of the page in its order."""
    wrong, failures = wrong_table(folder), failures_table(folder)
    found: list[tuple[str, tuple[str, ...], Table | None]] = [("Verdict", tuple(_verdict(folder, standing)), None)]
    if wrong is not None or folder.clashes:
        found.append(("Wrong", folder.clashes, wrong))
    found += [(table.title, (), table) for table in standing.tables]
    if failures is not None:
        found.append((failures.title, (), failures))
    if changes is not None:
        found.append((changes.title, (*changes.sentences, *changes.notes), changes.table))
    found += [
        (table.title, (), table) for table in (runs_table(folder, {}), provenance_table(folder), versions_table(folder))
    ]
    return found


def _about(folder: Folder) -> str:
    machine = folder.manifest.get("machine") or {}
    begun = str(folder.manifest.get("started") or "")[:10]
    return ", ".join(part for part in (begun, str(machine.get("cpu") or "")) if part)


def _verdict(folder: Folder, standing: Standing) -> list[str]:
    """What came out, for somebody who reads nothing else."""
    records = folder.records
    if not records:
        return ["Nothing has been run yet."]
    cases = {record.key for record in records}
    methods = {record.method for record in records}
    wrong = len(folder.wrong)
    sound = [run.record for run in folder.runs if not run.wrong]
    plans = sum(record.has_plan for record in sound)
    proven = sum(record.solved for record in sound)
    failed = len(sound) - sum(record.has_plan or record.solved for record in sound)
    first = (
        f"{count(len(methods), 'method')} on {count(len(cases), 'problem')} in {count(len(records), 'run')}: "
        f"{plans:,} ended with a plan, {proven:,} with a proven answer, {failed:,} with neither."
    )
    refuted = wrong + len(folder.clashes)
    if refuted:
        trust = (
            f"{count(refuted, 'record')} {'is' if refuted == 1 else 'are'} WRONG: refuted, and left out of the rest."
        )
    else:
        again = sum(1 for run in folder.runs if run.result is not None and run.result.plan is not None)
        trust = f"The checker judged {count(again, 'plan')} again while this page was made: all as claimed."
    return [first, *standing.sentences, trust]


def _facts(folder: Folder) -> list[tuple[str, str, str]]:
    records = folder.records
    sound = [run.record for run in folder.runs if not run.wrong]
    seeds = {record.seed for record in records}
    answered = sum(record.has_plan or record.solved for record in sound)
    return [
        ("Runs", f"{len(records):,}", count(len(seeds), "seed")),
        ("Problems", f"{len({record.key for record in records}):,}", "instance and model"),
        ("Proven", f"{sum(record.solved for record in sound):,}", "optimal or infeasible"),
        ("No answer", f"{len(sound) - answered:,}", "counted apart"),
        ("Wrong", f"{len(folder.wrong) + len(folder.clashes):,}", "refuted by the checker"),
    ]


# ---------------------------------------------------------------- plans


def _plans(folder: Folder) -> tuple[list[ShownPlan], int]:
    """The best confirmed run of every case and model; and how many there would be more."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for run in folder.runs:
        if run.result is not None and not run.wrong and run.record.has_plan:
            groups.setdefault(run.record.key, []).append(run)
    shown = []
    for index, (key, runs) in enumerate(list(groups.items())[:MOST_PLANS]):
        best = min(runs, key=lambda run: _rank(run.record))
        if best.result is None or best.instance is None:
            continue
        words = f"{best.record.method}, seed {best.record.seed}: {verdict(best.result)}"
        view = plan_view(best.result, best.instance, f"plan{index}", small=True)
        shown.append(ShownPlan(f"plan{index}", *key, words, view))
    return shown, max(0, len(groups) - MOST_PLANS)


def _rank(record: Record) -> tuple[object, ...]:
    """Better levels first, in their order; then proven before not; then quicker."""
    values = [(-1 if level["sense"] == "max" else 1) * (level["value"] or 0) for level in record.levels]
    return (*values, not record.solved, record.run_seconds)


def _without_largest(shown: Sequence[ShownPlan], folder: Folder) -> list[ShownPlan]:
    nodes = {record.key: record.instance["nodes"] for record in folder.records}
    largest = max(shown, key=lambda plan: nodes.get((plan.case, plan.model), 0))
    return [plan for plan in shown if plan is not largest]
