"""The instances of a suite: found, read, and written so that they stand alone. Knows nothing of runs.

A case's document has its tables, current placements and matrices inside: the report folder needs no file beside it. Its
digest is the instance's own, or the case is refused.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.benchmark.suite import Entry, Known, Suite
from allocator.documents.problems import Problems
from allocator.documents.reading import read_document
from allocator.errors import ArgumentError, InputError, InternalError, Problem
from allocator.formats.registry import READERS
from allocator.instance import Instance, instance_from_dict, load_instance
from allocator.instance.tables import ROW_TABLES, merge_tables
from allocator.plan.numbers import decimal_text, plain_number

__all__ = ["Case", "Found", "find_cases", "shipped_folder"]

NO_INSTANCES = (".csv", ".md", ".py")
NOT_NAMES = ("format.txt",)


@dataclass(frozen=True)
class Found:
    """What a suite comes to: its cases, and sentences on what was left out."""

    cases: tuple[Case, ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One instance of a suite with the names of its models. ``document``: JSON text that stands alone."""

    label: str
    instance: Instance
    document: str
    models: tuple[str, ...]
    best_known: Mapping[str, Any] | None


def shipped_folder() -> Path:
    """Folder of the instances that come with the package: installed with it, or the checkout's top-level one."""
    package = Path(__file__).resolve().parent
    installed = package / "instances"
    return installed if installed.is_dir() else package.parents[1] / "instances"


def find_cases(suite: Suite, data: Path | None, keep: str | None = None) -> Found:
    """Read the instances of a suite.

    Parameters
    ----------
    data : folder of public data; without it, entries that need it are left out, which is told.
    keep : pattern (as of a shell) of labels, or of parts of them; None: all.

    Raises
    ------
    InputError
        An instance is wrong.
    ArgumentError
        A label stands for two instances, or nothing is there to run.
    """
    cases: list[Case] = []
    skipped: list[str] = []
    taken: dict[str, Path] = {}
    for entry in suite.entries:
        base = _base(entry, suite, data)
        if base is None:
            why = "needs public data" if data is None else f"there is no folder {data}"
            skipped.append(f"{entry.pattern} ({entry.format}): {why}; name its folder with --data DIR")
            continue
        files = sorted(path for path in base.glob(entry.pattern) if _may_be(path))
        if not files:
            skipped.append(f"{entry.pattern} ({entry.format}): no such file in {base}")
        for path in files:
            label = path.relative_to(base).with_suffix("").as_posix() if path.is_relative_to(base) else path.stem
            if not _matches(label, keep):
                continue
            if path.name in entry.leave_out:
                skipped.append(f"{label}: {entry.leave_out[path.name]}")
            else:
                if taken.setdefault(label, path) != path:
                    raise ArgumentError(f"suite {suite.name}: {label} stands for {taken[label]} and for {path}")
                cases.append(_read(entry, path, base, label))
    if not cases:
        what = f"no instance matches {keep}" if keep and not skipped else "; ".join(skipped)
        raise ArgumentError(f"suite {suite.name}: there is nothing to run: {what}")
    return Found(tuple(cases), tuple(skipped))


def _base(entry: Entry, suite: Suite, data: Path | None) -> Path | None:
    if entry.place == "shipped":
        return shipped_folder()
    if entry.place == "path":
        return suite.folder
    return data.resolve() if data is not None and data.is_dir() else None


def _may_be(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() not in NO_INSTANCES and path.name not in NOT_NAMES


def _matches(label: str, keep: str | None) -> bool:
    from fnmatch import fnmatchcase

    return keep is None or fnmatchcase(label, keep) or fnmatchcase(label.rpartition("/")[2], keep)


def _read(entry: Entry, path: Path, base: Path, label: str) -> Case:
    if entry.format == "allocator":
        instance = load_instance(path)
        tree, _ = read_document(path)
        document = _alone(dict(tree), instance, path)
    else:
        document = READERS[entry.format](path)
        instance = instance_from_dict(document, source=str(path), base_dir=path.parent)
    if "name" not in document:
        document = {**document, "name": instance.name}
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    again = instance_from_dict(json.loads(text), source=f"{path} (written to stand alone)")
    if again.digest != instance.digest:
        raise InternalError(f"{path}: the document that stands alone is another instance")
    models = entry.models or ((instance.model,) if instance.model else ())
    if not models:
        raise InputError(str(path), [Problem("model", None, "the instance names no model; name some in the suite")])
    return Case(label, instance, text, models, _best_known(entry.best_known, path, base))


def _alone(tree: dict[str, Any], instance: Instance, path: Path) -> dict[str, Any]:
    """The document without files beside it."""
    if "tables" in tree:
        tables = merge_tables(tree, path.parent, Problems(tree))
        del tree["tables"]
        for flow in tree.get("flows", []):
            if isinstance(flow.get("table"), str):
                flow["table"] = tables[flow["table"]].rows
        if instance.distances.matrix is not None:
            tree["distances"] = {**tree.get("distances", {}), "matrix": _nested(instance.distances.matrix)}
        moves = tree.get("moves")
        if isinstance(moves, dict) and isinstance(moves.get("machine"), str) and moves["machine"] in tables:
            moves["machine"] = _nested(instance.moves.machine_cost if instance.moves else {})
        for key in ROW_TABLES:
            tree[key] = [_filled(row) for row in tree[key]] if key in tree else []
    if isinstance(tree.get("current"), str):
        tree["current"] = [
            {
                "class": part.workload,
                "first": part.first,
                "count": part.count,
                "mode": part.mode,
                "node": part.node,
            }
            for part in instance.current or ()
        ]
    return tree


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _nested(matrix: Mapping[tuple[str, str], Fraction]) -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = {}
    for (source, target), value in matrix.items():
        rows.setdefault(source, {})[target] = decimal_text(value) or str(value)
    return rows


# ---------------------------------------------------------------- best known values


def _best_known(known: Known | None, path: Path, base: Path) -> dict[str, Any] | None:
    if known is None:
        return None
    if known.value is not None:
        return {"value": plain_number(known.value), "source": known.source}
    for row in _rows_about(known.table or "", path, base):
        if known.only_where is not None:
            column, beginnings = known.only_where
            if not row.get(column, "").startswith(beginnings):
                continue
        for column in known.columns:
            text = row.get(column, "").strip()
            if text not in known.missing:
                return {"value": plain_number(Fraction(text)), "source": f"{known.source} ({column})"}
    return None


def _rows_about(table: str, path: Path, base: Path) -> Iterator[Mapping[str, str]]:
    """Rows of the nearest table of that name, beside the file or above it (two above the base at most)."""
    highest = base.parent.parent
    for folder in path.parents:
        found = folder / table
        if found.is_file():
            with found.open(newline="", encoding="utf-8") as stream:
                yield from (row for row in csv.DictReader(stream) if (folder / row["path"]) == path)
            return
        if folder == highest:
            return
