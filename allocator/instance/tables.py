"""CSV tables beside an instance: big data that would be slow and long as YAML. Owns their columns.

``workloads`` and ``flows``: a row is an entry, a column a key of it, dotted where nested (``requests.cpu``); an empty
cell states nothing. ``costs``: class, node (or kind), cost. Other tables have three columns, from, to and a number, and
are named where they are used.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from allocator.documents.problems import Location, Problems
from allocator.documents.reading import read_text
from allocator.errors import InputError
from allocator.quantities import QuantityError, parse_decimal

__all__ = ["Table", "merge_tables", "number_matrix"]

ROW_TABLES = ("workloads", "flows")
SEPARATOR = "|"
_LISTS = ("placement.tolerations", "placement.capabilities", "placement.within", "placement.require.")


@dataclass(frozen=True, slots=True)
class Table:
    """Header, rows and their line numbers; all rows are as long as the header."""

    file: str
    header: list[str]
    rows: list[list[str]]
    lines: list[int]


def merge_tables(tree: dict[str, Any], base_dir: Path | None, problems: Problems) -> dict[str, Table]:
    """Read all tables; append rows of ``workloads`` and ``flows`` and put ``costs`` into the document tree."""
    stated = tree.get("tables")
    tables: dict[str, Table] = {}
    if not isinstance(stated, Mapping):
        return tables
    for name, file in stated.items():
        if not isinstance(file, str) or not file:
            continue  # the schema says what is wrong
        table = _read(file, (base_dir or Path()) / file, ("tables", name), problems)
        if table is not None:
            tables[name] = table
    for name, table in tables.items():
        if name not in ROW_TABLES:
            for number, line in enumerate(table.lines):
                problems.origins["tables", name, number] = f"{table.file} line {line}"
    for key in ROW_TABLES:
        if key in tables:
            _append_rows(tree, key, tables[key], problems)
    if "costs" in tables:
        _merge_costs(tree, tables["costs"], problems)
    return tables


def number_matrix(name: str, table: Table, problems: Problems) -> dict[str, dict[str, Fraction]]:
    """Numbers of a table by its first and second column."""
    matrix: dict[str, dict[str, Fraction]] = {}
    if len(table.header) != 3:
        problems.add(("tables", name), "needs three columns: from, to and a number", table.file)
        return matrix
    for number, (source, target, text) in enumerate(table.rows):
        location: Location = ("tables", name, number)
        try:
            value = parse_decimal(text)
        except QuantityError as error:
            problems.add(location, f"{table.header[2]} {error}", text)
            continue
        if value < 0:
            problems.add(location, f"{table.header[2]} must be at least 0", text)
        row = matrix.setdefault(source, {})
        if target in row:
            problems.add(location, f"{source} to {target} is stated twice")
        row[target] = value
    return matrix


def _read(file: str, path: Path, location: Location, problems: Problems) -> Table | None:
    try:
        text = read_text(path)
        reader = csv.reader(StringIO(text, newline=""), strict=True)
        header = [column.strip() for column in next(reader, [])]
        rows: list[list[str]] = []
        lines: list[int] = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                message = f"line {reader.line_num} has {len(row)} cells, and the header {len(header)}"
                problems.add(location, message, file)
                continue
            rows.append([cell.strip() for cell in row])
            lines.append(reader.line_num)
    except InputError as error:
        for problem in error.problems:
            problems.add(location, problem.message, file)
        return None
    except csv.Error as error:
        problems.add(location, f"is not CSV: {error}", file)
        return None
    if not header or not all(header):
        problems.add(location, "needs a first line with a name for every column", file)
        return None
    for column in {column for column in header if header.count(column) > 1}:
        problems.add(location, f"has the column {column} twice", file)
        return None
    return Table(file, header, rows, lines)


def _append_rows(tree: dict[str, Any], key: str, table: Table, problems: Problems) -> None:
    entries = tree.get(key, [])
    if not isinstance(entries, list):
        return  # the schema says what is wrong
    columns = [tuple(column.split(".")) for column in table.header]
    if any(first == second[: len(first)] for first in columns for second in columns if first is not second):
        problems.add(("tables", key), "has a column that is a part of another one's name", table.file)
        return
    many = [column.startswith(_LISTS) for column in table.header]
    merged = list(entries)
    for row, line in zip(table.rows, table.lines, strict=True):
        entry: dict[str, Any] = {}
        for path, cell, listed in zip(columns, row, many, strict=True):
            if cell:
                inner = entry
                for part in path[:-1]:
                    inner = inner.setdefault(part, {})
                inner[path[-1]] = cell.split(SEPARATOR) if listed else cell
        problems.origins[key, len(merged)] = f"{table.file} line {line}"
        merged.append(entry)
    tree[key] = merged


def _merge_costs(tree: dict[str, Any], table: Table, problems: Problems) -> None:
    if len(table.header) != 3:
        problems.add(("tables", "costs"), "needs three columns: class, node, cost", table.file)
        return
    entries = tree.get("workloads")
    if not isinstance(entries, list):
        return
    place = {entry["class"]: index for index, entry in enumerate(entries) if _has_class(entry)}
    copied: dict[str, dict[str, Any]] = {}
    for number, (name, node, cost) in enumerate(table.rows):
        location: Location = ("tables", "costs", number)
        if name not in place:
            problems.add(location, "there is no such class", name)
            continue
        if name not in copied:
            entry = dict(entries[place[name]])
            own = entry.get("cost", {})
            if not isinstance(own, Mapping):
                continue
            entry["cost"] = copied[name] = dict(own)
            entries[place[name]] = entry
        if node in copied[name]:
            problems.add(location, f"the cost of {name} on {node} is stated twice")
        copied[name][node] = cost


def _has_class(entry: object) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("class"), str)
