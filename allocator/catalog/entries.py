"""The entries of the catalog and the numbers in them. Owns the format of the data files; expands nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from allocator.documents.reading import read_document

__all__ = ["GROUPS", "ILLUSTRATIVE", "Entry", "Number", "list_entries", "show", "stated"]

GROUPS = ("cpu", "accelerator", "rack", "supernode")
"""Groups of entries in the order they are listed; there is a data file for each."""

ILLUSTRATIVE = "illustrative"
"""Source of a number that no data sheet gives."""

_WORDS = frozenset({"level", "name", "kind", "profile"})
_WORD_MAPS = frozenset({"labels"})


@dataclass(frozen=True, slots=True)
class Number:
    """One number of an entry: where it stands in it ("rack.uplink.oversubscription"), its text, its source."""

    path: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A catalog entry.

    Attributes
    ----------
    name : what ``profile`` names.
    group : one of ``GROUPS``.
    about : one line on what it is.
    source : of every number that does not state its own.
    domain : a topology entry; a number may stand as {value, source}, a child may name another entry as its ``profile``.
    facts : further published numbers that no allocation uses yet.
    """

    name: str
    group: str
    about: str
    source: str
    domain: Mapping[str, Any]
    facts: Mapping[str, Any]

    def numbers(self) -> tuple[Number, ...]:
        """Every number of the entry itself, in the order of the file; those of entries it refers to are theirs."""
        found = [*_numbers(self.domain, str(self.domain["level"]), self.source)]
        found += [_number(f"facts.{key}", value, self.source) for key, value in self.facts.items()]
        return tuple(found)


def list_entries() -> tuple[Entry, ...]:
    """All entries, by group."""
    return tuple(_entries().values())


def show(name: str) -> Entry:
    """Entry by name.

    Raises
    ------
    KeyError
        With a message that lists names like it.
    """
    found = _entries().get(name)
    if found is None:
        close = get_close_matches(name, _entries(), n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_entries())}"
        raise KeyError(f"is not in the catalog; {hint}")
    return found


def stated(value: Any) -> Any:
    """A value without its source."""
    return value["value"] if _has_source(value) else value


@cache
def _entries() -> Mapping[str, Entry]:
    found: dict[str, Entry] = {}
    for group in GROUPS:
        path = Path(__file__).parent / "data" / f"{group}s.yaml"
        tree, problems = read_document(path)
        if problems:
            raise ValueError(f"{path.name}: {problems[0]}")
        for item in tree:
            entry = Entry(**{"facts": {}, **item})
            if entry.name in found:
                raise ValueError(f"{path.name}: {entry.name} stands there twice")
            found[entry.name] = entry
    return MappingProxyType(found)


def _has_source(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"value", "source"}


def _number(path: str, value: Any, source: str) -> Number:
    return Number(path, value["value"], value["source"]) if _has_source(value) else Number(path, value, source)


def _numbers(tree: Mapping[str, Any], path: str, source: str) -> Iterator[Number]:
    for key, value in tree.items():
        if key in _WORDS or key in _WORD_MAPS:
            continue
        if key == "children":
            for child in value:
                yield from _numbers(child, f"{path}.{child['level']}", source)
        elif isinstance(value, Mapping) and not _has_source(value):
            yield from _numbers(value, f"{path}.{key}", source)
        else:
            yield _number(f"{path}.{key}", value, source)
