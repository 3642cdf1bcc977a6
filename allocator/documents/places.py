"""How syntax errors are worded. Owns the limit of nesting; shared by the readers."""

from __future__ import annotations

import json
from typing import NoReturn

from allocator.errors import InputError, Problem

__all__ = ["MAX_DEPTH", "TOO_DEEP", "is_text", "refuse", "shown_key"]

MAX_DEPTH = 64
TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


def shown_key(key: str) -> str:
    """A key in quotes, cut to a length that fits a message."""
    return json.dumps(key[:80])


def is_text(value: str) -> bool:
    """Whether a text can be written: it holds no half of a surrogate pair."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse(source: str, where: str, message: str) -> NoReturn:
    """Raise the one problem that keeps a document from being read at all."""
    raise InputError(source, [Problem(where, None, message)])
