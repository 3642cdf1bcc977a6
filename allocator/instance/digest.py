"""The digest that names an instance's content: the same for any spelling of the same instance.

Independent of key order, comments and units; dependent on the order of classes, nodes and flows, which number things.
The name of the model to use is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from allocator.instance.entities import Instance

__all__ = ["digest_of"]

_LEFT_OUT = frozenset({"digest", "model"})


def digest_of(instance: Instance) -> str:
    """SHA-256, hex, over a canonical text of the entities."""
    hasher = hashlib.sha256(b"allocator instance 1\n")
    shared: dict[int, str] = {}
    for name in sorted(each.name for each in fields(instance)):
        if name not in _LEFT_OUT:
            hasher.update(f"{name}=".encode())
            value = getattr(instance, name)
            for item in value if isinstance(value, tuple) else (value,):
                hasher.update(_text(item, shared).encode())
                hasher.update(b"\n")
    return hasher.hexdigest()


def _text(value: Any, shared: dict[int, str]) -> str:
    """Canonical text of a value; maps of copied domains are shared objects and written once."""
    kind = value.__class__
    if kind is str:
        return json.dumps(value)
    if kind is int or kind is bool or value is None:
        return str(value)
    if kind is Fraction:
        return f"{value.numerator}/{value.denominator}"
    if kind is tuple:
        return f"({','.join([_text(item, shared) for item in value])})"
    if isinstance(value, Mapping):
        key = id(value)
        if key not in shared:
            items = sorted((_text(name, shared), _text(item, shared)) for name, item in value.items())
            shared[key] = f"{{{','.join([f'{name}:{item}' for name, item in items])}}}"
        return shared[key]
    if isinstance(value, (set, frozenset)):
        return f"{{{','.join(sorted(_text(item, shared) for item in value))}}}"
    if is_dataclass(value):
        return f"{kind.__name__}({','.join([_text(getattr(value, name), shared) for name in _names(kind)])})"
    return json.dumps(str(value))


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: Any) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(sorted(each.name for each in fields(kind)))
    return _NAMES[kind]
