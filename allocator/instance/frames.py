"""An instance from pandas DataFrames: one row a node, a class, a team, a flow. Owns the way from cells to a document.

A column is a key of the instance document, ``requests.cpu`` being the key ``cpu`` below ``requests``; empty cells are
left out. What the document means, and what may stand in it, is ``instance_from_dict``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allocator.errors import ArgumentError, InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

    from allocator.instance.entities import Instance

__all__ = ["document_from_frames", "instance_from_frames"]

_FLAT_MAPS = frozenset({"capacity", "cost", "labels", "limits", "members", "pool", "requests", "safety", "work"})
"""Keys whose content is a map by free names: a further dot belongs to the name (``requests.nvidia.com/gpu``)."""

_NODE_KEYS = frozenset({"name", "kind", "level", "weight", "count", "profile", "taints", "capabilities"})
_CLASS_KEYS = frozenset({"class", "count", "group", "value", "weight", "move_cost"})


def instance_from_frames(
    nodes: pd.DataFrame,
    workloads: pd.DataFrame,
    teams: pd.DataFrame | None = None,
    flows: pd.DataFrame | None = None,
    model: str | None = None,
    *,
    levels: Sequence[str] = (),
    domains: pd.DataFrame | None = None,
    settings: Mapping[str, Any] | None = None,
    name: str = "frames",
) -> Instance:
    """Instance of nodes and workloads in DataFrames.

    Parameters
    ----------
    nodes : a row a node. ``name`` is required; the columns named in ``levels`` place it in the tree; ``kind``,
        ``weight``, and dotted keys (``uplink.bandwidth``, ``labels.zone``, ``power.idle``) are those of the instance
        file; any other column is the capacity of the resource of that name (``cpu``, ``memory``).
    workloads : a row a class. ``class`` is required; ``count``, ``value``, ``weight`` and dotted keys (``limits.cpu``,
        ``work.rate``) are those of the instance file; any other column is the request of that resource.
    teams, flows : a row an entry, columns as in the instance file (``members.intake``, ``traffic.rate``).
    model : optimisation model used when none is named.
    levels : columns of ``nodes`` that name the domains above a node, from the root down.
    domains : a row a domain above the nodes: ``path`` (``rack0``, ``site/rack0``) and dotted keys.
    settings : further keys of the instance document: ``resources``, ``moves``, ``reserve``, ``current`` ...

    Numbers are in base units (cores, bytes, bit/s, watts, seconds); text may name a unit ("768 GiB", "400 Gbit/s").

    Raises
    ------
    ArgumentError
        A column that is needed is missing, or a domain has no node.
    InputError
        What ``instance_from_dict`` refuses.
    """
    from allocator.instance import instance_from_dict

    document = document_from_frames(
        nodes, workloads, teams, flows, model, levels=levels, domains=domains, settings=settings, name=name
    )
    return instance_from_dict(document)


def document_from_frames(
    nodes: pd.DataFrame,
    workloads: pd.DataFrame,
    teams: pd.DataFrame | None = None,
    flows: pd.DataFrame | None = None,
    model: str | None = None,
    *,
    levels: Sequence[str] = (),
    domains: pd.DataFrame | None = None,
    settings: Mapping[str, Any] | None = None,
    name: str = "frames",
) -> dict[str, Any]:
    """The instance document that ``instance_from_frames`` loads; dump it as JSON to keep it as a file."""
    _need(nodes, "nodes", ("name", *levels))
    _need(workloads, "workloads", ("class",))
    node_entries = list(_entries(nodes, "nodes", _NODE_KEYS | set(levels), "capacity"))
    document: dict[str, Any] = {
        "format": "allocator/v1",
        "name": name,
        "topology": _tree(node_entries, levels, {} if domains is None else _by_path(domains)),
        "workloads": list(_entries(workloads, "workloads", _CLASS_KEYS, "requests")),
    }
    if teams is not None:
        document["teams"] = list(_entries(teams, "teams"))
    if flows is not None:
        document["flows"] = list(_entries(flows, "flows"))
    if model is not None:
        document["model"] = model
    for key, value in (settings or {}).items():
        if key in document:
            raise ArgumentError(f"settings[{key!r}]: is stated by the frames already")
        document[key] = value
    return document


def _need(frame: pd.DataFrame, what: str, columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ArgumentError(
            f"{what}: there is no column {missing[0]!r}; there are: {', '.join(map(str, frame.columns))}"
        )
    if not frame.columns.is_unique:
        raise ArgumentError(f"{what}: a column stands there twice")


@dataclass(frozen=True, slots=True)
class _Target:
    column: Any
    keys: tuple[str, ...]


def _entries(
    frame: pd.DataFrame, what: str, known: frozenset[str] | set[str] | None = None, other: str = ""
) -> Iterator[dict[str, Any]]:
    """One nested map a row. A column without dot that is not ``known`` goes below the key ``other``."""
    targets = []
    for column in frame.columns:
        head, dot, rest = str(column).partition(".")
        if not dot:
            keys: tuple[str, ...] = (head,) if known is None or head in known else (other, head)
        elif head in _FLAT_MAPS:
            keys = (head, rest)
        else:
            keys = (head, *rest.split("."))
        targets.append(_Target(column, keys))
    for number, row in enumerate(frame.itertuples(index=False, name=None)):
        entry: dict[str, Any] = {}
        for target, cell in zip(targets, row, strict=True):
            value = _value(cell)
            if value is None:
                continue
            place = entry
            for key in target.keys[:-1]:
                place = place.setdefault(key, {})
                if not isinstance(place, dict):
                    raise InputError(
                        what, [Problem(f"[{number}].{target.column}", None, f"{key} has a value of its own")]
                    )
            place[target.keys[-1]] = value
        yield entry


def _value(cell: Any) -> Any:
    """The cell for a document: None when empty; whole floats as integers (counts beside gaps become floats)."""
    import pandas as pd

    if isinstance(cell, (str, list, tuple, dict)):
        return cell
    if pd.isna(cell):
        return None
    if hasattr(cell, "item"):
        cell = cell.item()
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _by_path(domains: pd.DataFrame) -> dict[str, dict[str, Any]]:
    _need(domains, "domains", ("path",))
    found: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(
        _entries(domains, "domains", {"path", "weight", "taints", "capabilities"}, "capacity")
    ):
        path = str(entry.pop("path", ""))
        if path in found:
            raise InputError("domains", [Problem(f"[{number}].path", path, "stands there twice")])
        found[path] = entry
    return found


def _tree(
    nodes: Sequence[dict[str, Any]], levels: Sequence[str], attributes: Mapping[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Nodes under domains by their level columns, in the order of first appearance."""
    top: list[dict[str, Any]] = []
    domains: dict[tuple[str, ...], dict[str, Any]] = {}
    used: set[str] = set()
    for number, node in enumerate(nodes):
        siblings = top
        names: tuple[str, ...] = ()
        for level in levels:
            if level not in node:
                raise InputError(
                    "nodes", [Problem(f"[{number}].{level}", None, "is empty; every node needs its domain")]
                )
            names = (*names, str(node.pop(level)))
            domain = domains.get(names)
            if domain is None:
                path = "/".join(part.replace("~", "~0").replace("/", "~1") for part in names)
                used.add(path)
                domain = {"level": level, "name": names[-1], **attributes.get(path, {}), "children": []}
                domains[names] = domain
                siblings.append(domain)
            siblings = domain["children"]
        siblings.append({"level": "node", **node})
    unknown = [path for path in attributes if path not in used]
    if unknown:
        raise ArgumentError(f"domains: no node is in {unknown[0]!r}; there are: {', '.join(sorted(used)) or 'none'}")
    return top
