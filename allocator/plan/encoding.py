"""JSON text with exact decimal numbers, one entry of a top-level list a line. Knows no plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from json.encoder import encode_basestring
from typing import Any

from allocator.errors import InternalError
from allocator.plan.numbers import decimal_text

__all__ = ["Encoded", "encode", "text_of"]


_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class Encoded(str):
    """Text that is JSON already, for entries of long lists whose parts repeat."""

    __slots__ = ()


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
            entries = ",\n".join([f"  {text_of(entry)}" for entry in value])
            members.append(f" {text_of(key)}: [\n{entries}\n ]")
        else:
            members.append(f" {text_of(key)}: {text_of(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def text_of(value: Any) -> str:
    """One value in one line.

    Raises
    ------
    InternalError
        As in ``encode``.
    """
    if value.__class__ is str:
        return encode_basestring(value)
    if value.__class__ is Encoded or value.__class__ is int:
        return str(value)
    if isinstance(value, Fraction):
        text = decimal_text(value)
        if text is None:
            raise InternalError(f"{value} is no decimal number")
        return text
    if value.__class__ is dict or isinstance(value, Mapping):
        return "{" + ", ".join([f"{encode_basestring(str(key))}: {text_of(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([text_of(item) for item in value]) + "]"
    try:
        return _ENCODE(value)
    except (ValueError, TypeError) as error:
        raise InternalError(f"{value!r} cannot be written as JSON") from error
