"""Load and validate an instance: everything wrong with it is reported at once. Owns the order of the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from allocator.documents.collector import collector_paused
from allocator.documents.memory import plain_tree
from allocator.documents.problems import Problems
from allocator.documents.reading import read_document
from allocator.errors import InputError, Problem
from allocator.instance.build.current import build_current
from allocator.instance.build.families import Families
from allocator.instance.build.resources import ResourceBook
from allocator.instance.build.topology import Topology
from allocator.instance.build.traffic import build_flows, build_teams
from allocator.instance.build.workloads import Workloads
from allocator.instance.checking import check_document
from allocator.instance.entities import Instance
from allocator.instance.schema.document import FORMAT, InstanceDocument
from allocator.instance.tables import ROW_TABLES, Table, merge_tables, number_matrix

__all__ = ["instance_from_dict", "load_instance"]

PLAN_FORMATS = "allocator/plan/"
"""Beginning of the formats of plan files, which are often named where an instance should be."""

Progress = Callable[[str], None]


def load_instance(path: str | PathLike[str], *, progress: Progress | None = None) -> Instance:
    """Instance in a YAML or JSON file.

    Parameters
    ----------
    path : the file; tables and a current plan are found relative to it.
    progress : called with the name of each phase.

    Raises
    ------
    InputError
        With every problem found, when the file is not a valid instance.
    """
    file = Path(path)
    if progress is not None:
        progress(f"reading {file}")
    tree, found = read_document(file)
    if progress is not None:
        progress(f"validating {file}")
    return _instance(tree, str(file), file.parent, file.stem, found)


def instance_from_dict(
    document: Mapping[str, Any], source: str = "<memory>", base_dir: str | PathLike[str] | None = None
) -> Instance:
    """Instance from an in-memory document, the same as a file would hold.

    Parameters
    ----------
    document : maps and lists; numbers may be int, float (the decimal it prints as), Decimal, Fraction or text.
    source : what error messages call it.
    base_dir : where tables and a current plan are looked for; the working directory by default.

    Raises
    ------
    InputError
        With every problem found.
    """
    tree = plain_tree(document, source)
    return _instance(tree, source, None if base_dir is None else Path(base_dir), "instance", [])


def _instance(tree: Any, source: str, base_dir: Path | None, name: str, found: list[Problem]) -> Instance:
    if not isinstance(tree, dict):
        what = "is empty" if tree is None else f"is a {'list' if isinstance(tree, list) else 'single value'}"
        message = f"{what}; it must be a map that begins with format: {FORMAT}"
        raise InputError(source, [Problem("document", None, message)])
    stated = tree.get("format")
    if isinstance(stated, str) and stated.startswith(PLAN_FORMATS):
        message = f"this is a plan; name the instance that it was made for, a file with format: {FORMAT}"
        raise InputError(source, [Problem("format", stated, message)])
    with collector_paused():
        return _checked(dict(tree), source, base_dir, name, found)


def _checked(tree: dict[str, Any], source: str, base_dir: Path | None, name: str, found: list[Problem]) -> Instance:
    problems = Problems(tree)
    problems.found.extend(found)
    tables = merge_tables(tree, base_dir, problems)
    document = check_document(tree, problems)
    instance = None if document is None else _build(document, tables, base_dir, name, problems)
    if problems.found or instance is None:
        raise InputError(source, problems.found)
    return instance


def _build(
    document: InstanceDocument, tables: dict[str, Table], base_dir: Path | None, name: str, problems: Problems
) -> Instance | None:
    if document.services:
        problems.add(("services",), "services are not supported yet; state them as classes")
    book = ResourceBook(document.resources, problems)
    topology = Topology(document.topology, book, problems)
    workloads = Workloads(document.workloads, topology, book, problems)
    families = Families(document, topology, workloads, book, problems)
    teams = build_teams(document.teams, workloads, problems)
    rows = {key: table.rows for key, table in tables.items() if key not in ROW_TABLES}
    flows = build_flows(document.flows, workloads, rows, problems)
    resources = book.close()
    if topology.too_large:
        return None
    instance = Instance(
        name=document.name or name,
        resources=MappingProxyType(resources),
        domains=topology.expand(families.level_weights),
        workloads=workloads.build(),
        teams=teams,
        flows=flows,
        conflicts=families.conflicts,
        spreads=families.spreads,
        dependencies=families.dependencies,
        balance=families.balance,
        reserves=families.reserves,
        model=document.model,
        link_load=families.link_load,
    )
    nodes = instance.node_index
    workloads.check_references(instance.domain_by_path, nodes)
    matrices = _matrices(document, tables, problems)
    return replace(
        instance,
        moves=families.moves(nodes, matrices),
        distances=families.distances(nodes, matrices),
        current=build_current(document.current, base_dir, workloads, nodes, problems),
    )


def _matrices(
    document: InstanceDocument, tables: dict[str, Table], problems: Problems
) -> dict[str, dict[str, dict[str, Fraction]]]:
    """Tables of numbers by two nodes that the document uses."""
    used = {"distances"}
    if document.moves is not None and isinstance(document.moves.machine, str):
        used.add(document.moves.machine)
    if document.distances is not None and isinstance(document.distances.matrix, str):
        used.add(document.distances.matrix)
    return {name: number_matrix(name, tables[name], problems) for name in sorted(used) if name in tables}
