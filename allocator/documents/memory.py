"""In-memory documents to plain trees of text, the same a file would give. Owns which Python values may stand there."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from allocator.documents.places import MAX_DEPTH, TOO_DEEP, is_text
from allocator.errors import InputError, Problem
from allocator.quantities.decimals import QuantityError, decimal_text

__all__ = ["plain_tree"]


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
    if value is None or (value.__class__ is str and value.isascii()):
        return value
    if isinstance(value, (Mapping, list, tuple)) and depth >= MAX_DEPTH:
        problems.append(Problem(path or "document", None, TOO_DEEP))
        return None
    if isinstance(value, Mapping):
        return _map(value, path, depth + 1, problems)
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{path}[{index}]", depth + 1, problems) for index, inner in enumerate(value)]
    return _scalar(value, path, problems)


def _map(value: Mapping[Any, Any], path: str, depth: int, problems: list[Problem]) -> dict[str, Any]:
    copy: dict[str, Any] = {}
    for key, inner in value.items():
        name = _scalar(key, path, problems)
        at = f"{path}.{name}" if path else f"{name}"
        if name is None:
            continue
        if name in copy:
            problems.append(Problem(at, None, "the key stands there twice"))
        copy[name] = _plain(inner, at, depth, problems)
    return copy


def _scalar(value: Any, path: str, problems: list[Problem]) -> str | None:
    if isinstance(value, str):
        if not is_text(value):
            problems.append(Problem(path or "document", None, "holds half of a surrogate pair, which is no character"))
            return None
        return str(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # a NumPy scalar
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal, Fraction)):
        try:
            return decimal_text(value)
        except QuantityError as error:
            problems.append(Problem(path, str(value)[:80], str(error)))
            return None
    problems.append(Problem(path or "document", type(value).__name__, "must be a map, a list, text or a number"))
    return None
