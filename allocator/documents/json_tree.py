"""JSON text to a tree of maps, lists and text. Numbers keep every digit, since they stay text."""

from __future__ import annotations

import json
from typing import Any

from allocator.documents.places import MAX_DEPTH, TOO_DEEP, is_text, refuse, shown_key
from allocator.errors import Problem

__all__ = ["read_json"]


def read_json(text: str, source: str) -> tuple[Any, list[Problem]]:
    """Tree of a JSON text, and the duplicate keys found in it.

    Raises
    ------
    InputError
        When it is not JSON, or nested too deeply.
    """
    problems: list[Problem] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = dict(items)
        if len(found) < len(items):
            found = {}
            for key, value in items:
                if key in found:
                    message = "the key stands there twice in one map; keep one"
                    problems.append(Problem(shown_key(key), value[:80] if isinstance(value, str) else None, message))
                else:
                    found[key] = value
        return found

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_float=str, parse_int=str, parse_constant=str)
    try:
        tree = decoder.decode(text)
    except json.JSONDecodeError as error:
        refuse(source, f"line {error.lineno}, column {error.colno}", f"is not JSON: {error.msg}")
    except RecursionError:
        refuse(source, "document", TOO_DEEP)
    # without escapes no string of a UTF-8 text can hold half of a surrogate pair
    return _checked_json(tree, source, escaped="\\u" in text), problems


def _checked_json(tree: Any, source: str, *, escaped: bool) -> Any:
    """The tree itself with truth values as text; refuses deep nesting and half surrogates."""
    if isinstance(tree, bool):
        return "true" if tree else "false"
    level: list[Any] = [tree] if isinstance(tree, (dict, list)) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            refuse(source, "document", TOO_DEEP)
        below: list[Any] = []
        for container in level:
            values = container.values() if container.__class__ is dict else container
            if escaped or True in values or False in values:
                below += _checked_container(container, source)
            else:
                below += [value for value in values if value.__class__ is dict or value.__class__ is list]
        level = below
    return tree


def _checked_container(container: Any, source: str) -> list[Any]:
    """The containers right inside one, whose own scalars are checked."""
    below: list[Any] = []
    for key, value in container.items() if isinstance(container, dict) else enumerate(container):
        if value is True or value is False:
            container[key] = "true" if value else "false"
        elif value.__class__ is dict or value.__class__ is list:
            below.append(value)
        elif not (value is None or is_text(value)) or not (isinstance(key, int) or is_text(key)):
            refuse(source, shown_key(str(key)), "holds half of a surrogate pair, which is no character")
    return below
