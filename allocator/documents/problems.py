"""Collects what is wrong in a document. Owns how a place in it is written; knows no schema and no entity.

A location is a tuple of keys and indices from the top of the document, such as ("workloads", 2, "requests", "cpu").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from allocator.errors import Problem

__all__ = ["Location", "Problems", "did_you_mean"]

Location = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z_][\w-]*")
_SHOWN = 80
_MOST_COMPARED = 500
# The key that names an item of a list, and what such an item is called
_NAMES = (("class", "class"), ("team", "team"), ("level", "domain"), ("from", "flow from"))


def did_you_mean(name: str, known: Iterable[str], what: str) -> str:
    """Sentence for a reference to nothing: the nearest known name, or what is known."""
    names = list(dict.fromkeys(known))
    if len(names) > _MOST_COMPARED:
        return f"there is no such {what}"  # comparing with so many names for every mistake would take too long
    names.sort()
    close = get_close_matches(name, names, n=1)
    if close:
        return f"there is no such {what}; did you mean {close[0]!r}?"
    if not names:
        return f"there is no such {what}; there is none at all"
    listed = ", ".join(repr(each) for each in names[:6]) + (" ..." if len(names) > 6 else "")
    return f"there is no such {what}; known: {listed}"


class Problems:
    """Problems of one document.

    Parameters
    ----------
    document : the tree of maps, lists and text that locations point into.
    origins : location of a table's row in the document to where it really stands ("items.csv line 7").
    """

    def __init__(self, document: Any, origins: Mapping[Location, str] | None = None) -> None:
        self.document = document
        self.origins = dict(origins or {})
        self.numbers: dict[str, list[int]] = {}
        self.found: list[Problem] = []
        self._places: set[tuple[str, str]] = set()

    def add(self, location: Location, message: str, value: object = None) -> None:
        """Note a problem; ``value`` is shown when it is a single value."""
        path, name = self._walk(location)
        self.add_at(path, f"{message} ({name})" if name else message, value)

    def add_at(self, path: str, message: str, value: object = None) -> None:
        """Note a problem at a written place."""
        if (path, message) in self._places:
            return
        self._places.add((path, message))
        self.found.append(Problem(path, _shown(value), message))

    def place(self, location: Location) -> str:
        """A location in words: path and name of the innermost named item."""
        path, name = self._walk(location)
        return f"{path} ({name})" if name else path

    def value_at(self, location: Location) -> Any:
        """What stands at a location; None when it is missing."""
        location = self._original(location)
        node = self.document
        for key in location:
            if isinstance(node, Mapping):
                if key in node:
                    node = node[key]
                elif key != 0:  # 0: one map where a list of them may stand
                    return None
            elif isinstance(node, list) and isinstance(key, int) and key < len(node):
                node = node[key]
            else:
                return None
        return node

    def _original(self, location: Location) -> Location:
        """The location before bad items of a section were left out (``numbers``: what is left, by section)."""
        if len(location) < 2 or location[0] not in self.numbers or not isinstance(location[1], int):
            return location
        kept = self.numbers[str(location[0])]
        number = kept[location[1]] if location[1] < len(kept) else location[1]
        return (location[0], number, *location[2:])

    def _walk(self, location: Location) -> tuple[str, str]:
        location = self._original(location)
        path = ""
        name = ""
        node = self.document
        for depth, key in enumerate(location, start=1):
            if isinstance(key, int):
                if isinstance(node, Mapping):
                    continue  # one map where a list of them may stand
                path += f"[{key}]"
                node = node[key] if isinstance(node, list) and key < len(node) else None
                name = _name_of(node) or name
            else:
                if _BARE.fullmatch(key):
                    path += f".{key}" if path else key
                else:
                    path += f"[{json.dumps(key, ensure_ascii=False)}]"
                node = node.get(key) if isinstance(node, Mapping) else None
            path = self.origins.get(location[:depth], path)
        return path or "document", name


def _name_of(item: object) -> str:
    if isinstance(item, Mapping):
        for key, word in _NAMES:
            if key in item:
                named = item.get("name") if key == "level" else item[key]
                return f"{word} {named[:_SHOWN]}" if isinstance(named, str) and named else ""
    return ""


def _shown(value: object) -> str | None:
    if not isinstance(value, (str, int)):
        return None
    text = str(value)
    plain = text.isprintable() and text == text.strip() and text
    short = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    return short if plain else json.dumps(short, ensure_ascii=False)
