"""JSON text with exact decimal numbers, one entry of a top-level list a line. Knows no plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from allocator.errors import InternalError
from allocator.plan.numbers import decimal_text

__all__ = ["encode"]


def encode(tree: Mapping[str, Any]) -> str:
    """JSON text of a tree whose numbers may be fractions.

    Raises
    ------
    InternalError
        A number is infinite, not a number, or a fraction that is not a decimal.
    """
    members = []
    for key, value in tree.items():
        if isinstance(value, list) and value:
            entries = ",\n".join(f"  {_compact(entry)}" for entry in value)
            members.append(f" {_compact(key)}: [\n{entries}\n ]")
        else:
            members.append(f" {_compact(key)}: {_compact(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def _compact(value: Any) -> str:
    if isinstance(value, Fraction):
        text = decimal_text(value)
        if text is None:
            raise InternalError(f"{value} is no decimal number")
        return text
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_compact(str(key))}: {_compact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_compact(item) for item in value) + "]"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError) as error:
        raise InternalError(f"{value!r} cannot be written as JSON") from error
