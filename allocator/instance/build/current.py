"""Where members run now: listed in the instance, or the placements of a plan file.

Reads of a plan only what is needed here; the plan itself is owned further up (``allocator.plan``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from allocator.documents.problems import Location, Problems, did_you_mean
from allocator.documents.reading import read_document, read_text
from allocator.errors import InputError, Problem
from allocator.instance.build.workloads import DEFAULT_MODE, Workloads
from allocator.instance.entities import CurrentPlacement
from allocator.instance.schema.document import CurrentDocument
from allocator.quantities import QuantityError, parse_whole

__all__ = ["build_current"]


@dataclass(frozen=True, slots=True)
class _Entry:
    workload: str
    first: int
    count: int
    mode: str | None
    node: str
    place: Location | str

    def note(self, problems: Problems, key: str, message: str, value: object) -> None:
        if isinstance(self.place, str):
            problems.add_at(f"{self.place}.{key}", message, value)
        else:
            problems.add((*self.place, key), message, value)


def build_current(
    stated: str | list[CurrentDocument] | None,
    base_dir: Path | None,
    workloads: Workloads,
    nodes: Mapping[str, int],
    problems: Problems,
) -> tuple[CurrentPlacement, ...] | None:
    """Current placements in order of class and member; None when none are stated."""
    if stated is None:
        return None
    if isinstance(stated, str):
        entries = list(_from_file(stated, base_dir, problems))
    else:
        entries = [
            _Entry(each.class_, each.first, each.count, each.mode, each.node, ("current", index))
            for index, each in enumerate(stated)
        ]
    order = {name: index for index, name in enumerate(workloads.by_name)}
    kept = [entry for entry in entries if _refers(entry, workloads, nodes, problems) and entry.count]
    kept.sort(key=lambda entry: (order[entry.workload], entry.first))
    placements: list[CurrentPlacement] = []
    for entry in kept:
        modes = workloads.by_name[entry.workload].modes
        mode = entry.mode or next(iter(modes), DEFAULT_MODE)
        last = placements[-1] if placements else None
        if last is not None and last.workload == entry.workload and entry.first < last.first + last.count:
            message = f"member {entry.first} of class {entry.workload} is stated to run on {last.node} already"
            entry.note(problems, "first", message, entry.first)
            continue
        if (
            last is not None
            and (last.workload, last.mode, last.node) == (entry.workload, mode, entry.node)
            and last.first + last.count == entry.first
        ):
            placements[-1] = CurrentPlacement(last.workload, last.first, last.count + entry.count, mode, entry.node)
        else:
            placements.append(CurrentPlacement(entry.workload, entry.first, entry.count, mode, entry.node))
    return tuple(placements)


def _refers(entry: _Entry, workloads: Workloads, nodes: Mapping[str, int], problems: Problems) -> bool:
    workload = workloads.by_name.get(entry.workload)
    fine = True
    if workload is None:
        entry.note(problems, "class", did_you_mean(entry.workload, workloads.by_name, "class"), entry.workload)
        fine = False
    else:
        if entry.first + entry.count > workload.count:
            message = f"reaches member {entry.first + entry.count - 1}, and class {entry.workload} has {workload.count}"
            entry.note(problems, "count", message, entry.count)
            fine = False
        modes = tuple(workload.modes) or (DEFAULT_MODE,)
        if entry.mode is not None and entry.mode not in modes:
            entry.note(problems, "mode", did_you_mean(entry.mode, modes, "mode"), entry.mode)
            fine = False
    if entry.node not in nodes:
        message = did_you_mean(entry.node, nodes, "node")
        entry.note(problems, "node", message, entry.node)
        fine = False
    return fine


# ---------------------------------------------------------------- plan files


def _from_file(name: str, base_dir: Path | None, problems: Problems) -> Iterator[_Entry]:
    path = (base_dir or Path()) / name
    try:
        if path.suffix.lower() == ".csv":
            yield from _from_csv(path, name)
            return
        tree, found = read_document(path)
    except InputError as error:
        _pass_on(error, name, problems)
        return
    for problem in found:
        problems.add_at(f"current ({name}): {problem.path}", problem.message, problem.value)
    placements = tree.get("placements") if isinstance(tree, dict) else None
    if not isinstance(placements, list):
        problems.add(("current",), "is no plan file: it has no list of placements", name)
        return
    for index, group in enumerate(placements):
        where = f"{name}: placements[{index}]"
        try:
            yield from _from_group(group, where)
        except (KeyError, TypeError, AttributeError, QuantityError) as error:
            detail = error.args[0] if isinstance(error, QuantityError) else "class, first, count, mode and nodes"
            problems.add_at(where, f"must be a placement of a plan: {detail}")


def _from_group(group: Mapping[str, Any], where: str) -> Iterator[_Entry]:
    first, count = parse_whole(group["first"]), parse_whole(group["count"])
    nodes = group["nodes"]
    mode = group.get("mode")
    if not (
        isinstance(group["class"], str)
        and isinstance(nodes, list)
        and all(isinstance(node, str) for node in nodes)
        and (mode is None or isinstance(mode, str))
    ):
        raise TypeError
    if first < 0 or count < 0:
        raise QuantityError("first and count must be at least 0")
    if len(nodes) == 1:
        yield _Entry(group["class"], first, count, mode, nodes[0], where)
        return
    if len(nodes) != count:
        raise QuantityError(f"nodes must be one, or as many as count, which is {count}")
    for offset, node in enumerate(nodes):
        yield _Entry(group["class"], first + offset, 1, mode, node, where)


def _from_csv(path: Path, name: str) -> Iterator[_Entry]:
    """Rows of a plan written as CSV: class, member, mode, node; members without a node are passed over."""
    reader = csv.DictReader(StringIO(read_text(path), newline=""))
    if not {"class", "member", "node"} <= set(reader.fieldnames or ()):
        raise InputError(name, [Problem("line 1", None, "a plan needs the columns class, member, mode and node")])
    for row in reader:
        if not row["node"]:
            continue
        where = f"{name}: line {reader.line_num}"
        try:
            member = parse_whole(row["member"] or "")
        except QuantityError as error:
            raise InputError(name, [Problem(f"line {reader.line_num}", row["member"], str(error))]) from None
        yield _Entry(row["class"] or "", member, 1, row.get("mode") or None, row["node"], where)


def _pass_on(error: InputError, name: str, problems: Problems) -> None:
    for problem in error.problems:
        problems.add_at(f"current ({name}): {problem.path}", problem.message, problem.value)
