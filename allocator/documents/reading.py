"""Bytes of a YAML 1.2 or JSON file to plain maps, lists and text. Owns syntax; knows nothing of what is in them.

Scalars stay text (nothing but null is resolved), so that names are always strings and numbers keep every digit. The
YAML events of libyaml are assembled here without recursion: a duplicate key is reported with its line, and neither
deep nesting nor nested aliases can exhaust stack or memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from allocator.errors import InputError, Problem
from allocator.quantities.decimals import QuantityError, decimal_text

__all__ = ["MAX_DEPTH", "plain_tree", "read_document", "read_text"]

MAX_DEPTH = 64
MAX_ITEMS = 5_000_000  # after expansion of aliases
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_CORE_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp")
) | {"!"}


def read_document(path: Path) -> tuple[Any, list[Problem]]:
    """Tree of maps, lists, text and None in a file, and the duplicate keys found in it.

    Raises
    ------
    InputError
        When the file cannot be read or is neither YAML nor JSON.
    """
    text = read_text(path)
    stripped = text.lstrip()
    if path.suffix.lower() == ".json" or (stripped[:1] in ("{", "[") and path.suffix.lower() not in (".yaml", ".yml")):
        return _read_json(text, str(path))
    return _read_yaml(text, str(path))


def read_text(path: Path) -> str:
    """UTF-8 text of a file.

    Raises
    ------
    InputError
        When it cannot be read or is no UTF-8 text.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        _refuse(str(path), "file", error.strerror or "cannot be read")
    except UnicodeDecodeError as error:
        _refuse(str(path), "file", f"is not UTF-8 text (byte {error.start}); save it as UTF-8")
    except ValueError:
        _refuse(str(path), "file", "cannot be read: the name holds a null character")


def plain_tree(document: object, source: str) -> Any:
    """Copy of an in-memory tree with every scalar as text: numbers by their exact decimal.

    Raises
    ------
    InputError
        When something in it is no map, list, text, number, truth value or None, or it is nested too deeply.
    """
    problems: list[Problem] = []
    tree = _plain(document, "", 0, problems)
    if problems:
        raise InputError(source, problems)
    return tree


def _plain(value: Any, path: str, depth: int, problems: list[Problem]) -> Any:
    if value is None or type(value) is str:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if depth > MAX_DEPTH:
        problems.append(Problem(path or "document", None, f"is nested more than {MAX_DEPTH} levels deep"))
        return None
    if isinstance(value, Mapping):
        copy: dict[str, Any] = {}
        for key, inner in value.items():
            name = key if isinstance(key, str) else _plain(key, f"{path}.{key}", depth + 1, problems)
            if not isinstance(name, str):
                problems.append(Problem(path or "document", str(key)[:80], "a key must be text"))
            elif name in copy:
                problems.append(Problem(f"{path}.{name}".lstrip("."), None, "the key stands there twice"))
            else:
                copy[name] = _plain(inner, f"{path}.{name}".lstrip("."), depth + 1, problems)
        return copy
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{path}[{index}]", depth + 1, problems) for index, inner in enumerate(value)]
    if hasattr(value, "item") and not isinstance(value, (int, float)):
        value = value.item()  # a NumPy scalar
    if isinstance(value, (int, float, Decimal, Fraction)):
        try:
            return decimal_text(value)
        except QuantityError as error:
            problems.append(Problem(path, str(value)[:80], str(error)))
            return None
    problems.append(Problem(path or "document", type(value).__name__, "must be a map, a list, text or a number"))
    return None


# ---------------------------------------------------------------- JSON


def _read_json(text: str, source: str) -> tuple[Any, list[Problem]]:
    problems: list[Problem] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = dict(items)
        if len(found) < len(items):
            found = {}
            for key, value in items:
                if key in found:
                    message = "the key stands there twice in one map; keep one"
                    problems.append(Problem(_shown_key(key), _shown_value(value), message))
                else:
                    found[key] = value
        return found

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_float=str, parse_int=str, parse_constant=str)
    try:
        tree = decoder.decode(text)
    except json.JSONDecodeError as error:
        _refuse(source, f"line {error.lineno}, column {error.colno}", f"is not JSON: {error.msg}")
    except RecursionError:
        _refuse(source, "document", f"is nested more than {MAX_DEPTH} levels deep")
    return _checked_json(tree, source), problems


def _checked_json(tree: Any, source: str) -> Any:
    """The tree itself with truth values as text; refuses deep nesting and half surrogates."""
    if isinstance(tree, bool):
        return "true" if tree else "false"
    level: list[Any] = [tree] if isinstance(tree, (dict, list)) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            _refuse(source, "document", f"is nested more than {MAX_DEPTH} levels deep")
        below: list[Any] = []
        for container in level:
            for key, value in container.items() if isinstance(container, dict) else enumerate(container):
                if value is True or value is False:
                    container[key] = "true" if value else "false"
                elif value.__class__ is dict or value.__class__ is list:
                    below.append(value)
                elif value is not None and not _is_text(value):
                    _refuse(source, _shown_key(str(key)), "holds half of a surrogate pair, which is no character")
                if isinstance(key, str) and not _is_text(key):
                    _refuse(source, _shown_key(key), "a key holds half of a surrogate pair, which is no character")
        level = below
    return tree


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------- YAML


def _read_yaml(text: str, source: str) -> tuple[Any, list[Problem]]:
    import yaml

    loader = getattr(yaml, "CLoader", yaml.Loader)
    try:
        parser = loader(text)
        try:
            return _YamlBuilder(source).build(parser)
        finally:
            parser.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "document" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        _refuse(source, where, f"is not YAML: {error.problem or error.context}")
    except yaml.YAMLError as error:
        _refuse(source, "document", f"is not YAML: {' '.join(str(error).split())}")
    except RecursionError:
        _refuse(source, "document", f"is nested more than {MAX_DEPTH} levels deep")


class _YamlBuilder:
    """Assembles parser events. A frame is [container, pending key or None, anchor, line, items before]."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.items = 0  # scalars and containers after expansion of aliases

    def build(self, parser: Any) -> tuple[Any, list[Problem]]:
        import yaml

        root: Any = None
        documents = 0
        stack: list[list[Any]] = []
        while True:
            event = parser.get_event()
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                value = event.value
                if event.tag is not None and event.tag not in _CORE_TAGS:
                    self._refuse_tag(event)
                if event.style is None and value in _NULLS and not event.tag:
                    value = None
                self.items += 1
                if event.anchor:
                    self.anchors[event.anchor] = (value, 1)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                if event.tag is not None and event.tag not in _CORE_TAGS:
                    self._refuse_tag(event)
                if len(stack) >= MAX_DEPTH:
                    _refuse(self.source, _line(event), f"is nested more than {MAX_DEPTH} levels deep")
                if event.anchor:
                    self.anchors.pop(event.anchor, None)
                container: Any = {} if kind is yaml.MappingStartEvent else []
                stack.append([container, _NO_KEY, event.anchor, event, self.items])
                self.items += 1
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                value, _, anchor, _, before = stack.pop()
                if anchor:
                    self.anchors[anchor] = (value, self.items - before)
            elif kind is yaml.AliasEvent:
                if event.anchor not in self.anchors:
                    _refuse(self.source, _line(event), f"*{event.anchor} refers to nothing that ends before it")
                value, size = self.anchors[event.anchor]
                self.items += size
                if self.items > MAX_ITEMS:
                    _refuse(self.source, _line(event), f"aliases expand to more than {MAX_ITEMS} items")
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    _refuse(self.source, _line(event), "a second document begins; one file holds one document")
                continue
            elif kind is yaml.StreamEndEvent:
                return root, self.problems
            else:
                continue
            if not stack:
                root = value
                continue
            frame = stack[-1]
            holder = frame[0]
            if holder.__class__ is list:
                holder.append(value)
            elif frame[1] is _NO_KEY:
                frame[1] = self._key(value, event, holder)
            else:
                if frame[1] is not _SKIP:
                    holder[frame[1]] = value
                frame[1] = _NO_KEY

    def _key(self, key: Any, event: Any, holder: dict[str, Any]) -> Any:
        if key.__class__ is not str:
            if key is None:
                message = "a key must be text; quote it when it is meant to be a name"
            else:
                message = "a map or list cannot be a key"
            self.problems.append(Problem(_line(event), None, message))
            return _SKIP
        if key in holder:
            message = f"the key {_shown_key(key)} stands twice in one map; keep one"
            self.problems.append(Problem(_line(event), None, message))
            return _SKIP
        return key

    def _refuse_tag(self, event: Any) -> NoReturn:
        _refuse(self.source, _line(event), f"the tag {event.tag[:80]} is not part of YAML's core schema; remove it")


_NO_KEY = object()
_SKIP = object()


def _line(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _shown_key(key: str) -> str:
    return json.dumps(key[:80])


def _shown_value(value: object) -> str | None:
    return value[:80] if isinstance(value, str) else None


def _refuse(source: str, where: str, message: str) -> NoReturn:
    raise InputError(source, [Problem(where, None, message)])
