"""YAML text to a tree of maps, lists and text.

The events of libyaml are assembled here, without recursion and without resolving anything but null: names stay
strings, numbers keep every digit, a duplicate key is reported with its line, and neither deep nesting nor nested
aliases can exhaust stack or memory.
"""

from __future__ import annotations

from typing import Any

import yaml

from allocator.documents.places import MAX_DEPTH, TOO_DEEP, refuse, shown_key
from allocator.errors import Problem

__all__ = ["read_yaml"]

MAX_ITEMS = 5_000_000  # after expansion of aliases

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_CORE_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp")
) | {"!"}


def read_yaml(text: str, source: str) -> tuple[Any, list[Problem]]:
    """Tree of a YAML text, and the duplicate keys found in it.

    Raises
    ------
    InputError
        When it is not YAML, holds several documents or tags of other schemas, or is nested too deeply.
    """
    loader = getattr(yaml, "CLoader", yaml.Loader)
    try:
        parser = loader(text)
        try:
            return _Builder(source).build(parser)
        finally:
            parser.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "document" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        problem = error.problem or error.context
        if mark is not None and "cannot start any token" in (problem or ""):
            problem = f"{problem} (indent with spaces, not tabs; quote text that begins with a special character)"
        refuse(source, where, f"is not YAML: {problem}")
    except yaml.YAMLError as error:
        refuse(source, "document", f"is not YAML: {' '.join(str(error).split())}")


class _Frame:
    """An open map or list. ``before``: items counted when it began; ``key``: the one whose value comes next."""

    __slots__ = ("anchor", "before", "container", "key")

    def __init__(self, container: Any, anchor: str | None, before: int) -> None:
        self.container = container
        self.anchor = anchor
        self.before = before
        self.key: Any = _NO_KEY


_NO_KEY = object()
_SKIP = object()


class _Builder:
    """Assembles the events of one document."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._problems: list[Problem] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._items = 0
        self._root: Any = None
        self._stack: list[_Frame] = []

    def build(self, parser: Any) -> tuple[Any, list[Problem]]:
        documents = 0
        next_event = parser.get_event
        while True:
            event = next_event()
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._open({}, event)
            elif kind is yaml.SequenceStartEvent:
                self._open([], event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    refuse(self._source, _line(event), "a second document begins; one file holds one document")
            elif kind is yaml.StreamEndEvent:
                return self._root, self._problems

    def _scalar(self, event: Any) -> None:
        value = event.value
        if event.tag is not None:
            self._check_tag(event)
        elif not event.style and value in _NULLS:
            value = None
        self._items += 1
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._attach(value, event)

    def _open(self, container: Any, event: Any) -> None:
        if event.tag is not None:
            self._check_tag(event)
        if len(self._stack) >= MAX_DEPTH:
            refuse(self._source, _line(event), TOO_DEEP)
        if event.anchor:
            self._anchors.pop(event.anchor, None)  # an alias inside refers to nothing finished
        self._stack.append(_Frame(container, event.anchor, self._items))
        self._items += 1

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.container, self._items - frame.before)
        self._attach(frame.container, event)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            refuse(self._source, _line(event), f"*{event.anchor[:80]} refers to nothing that ends before it")
        value, size = self._anchors[event.anchor]
        self._items += size
        if self._items > MAX_ITEMS:
            refuse(self._source, _line(event), f"aliases expand to more than {MAX_ITEMS} items")
        self._attach(value, event)

    def _attach(self, value: Any, event: Any) -> None:
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        if frame.container.__class__ is list:
            frame.container.append(value)
        elif frame.key is _NO_KEY:
            frame.key = self._key(value, event, frame.container)
        else:
            if frame.key is not _SKIP:
                frame.container[frame.key] = value
            frame.key = _NO_KEY

    def _key(self, key: Any, event: Any, container: dict[str, Any]) -> Any:
        if key.__class__ is not str:
            message = "a map or a list cannot be a key"
            if key is None:
                message = "a key must be text; quote it when it is meant to be a name"
            self._problems.append(Problem(_line(event), None, message))
            return _SKIP
        if key in container:
            message = f"the key {shown_key(key)} stands twice in one map; keep one"
            self._problems.append(Problem(_line(event), None, message))
            return _SKIP
        return key

    def _check_tag(self, event: Any) -> None:
        if event.tag not in _CORE_TAGS:
            message = f"the tag {event.tag[:80]} is not part of YAML's core schema; remove it"
            refuse(self._source, _line(event), message)


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"
