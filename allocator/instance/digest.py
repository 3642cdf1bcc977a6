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
    """Canonical text of a value."""
    kind = value.__class__
    if kind is Fraction:
        text = f"{value.numerator}/{value.denominator}"
    elif kind is int or kind is bool or value is None:
        text = str(value)
    elif kind is tuple:
        text = f"({','.join([_text(item, shared) for item in value])})"
    elif isinstance(value, Mapping):
        text = _map_text(value, shared)
    elif isinstance(value, (set, frozenset)):
        text = f"{{{','.join(sorted(_text(item, shared) for item in value))}}}"
    elif is_dataclass(value):
        text = f"{kind.__name__}({','.join([_text(getattr(value, name), shared) for name in _names(kind)])})"
    else:
        text = json.dumps(str(value))
    return text


def _map_text(value: Mapping[Any, Any], shared: dict[int, str]) -> str:
    """Text of a map, sorted by key. The copies of a domain share their maps, which are written once."""
    key = id(value)
    if key not in shared:
        items = sorted((_text(name, shared), _text(item, shared)) for name, item in value.items())
        shared[key] = f"{{{','.join([f'{name}:{item}' for name, item in items])}}}"
    return shared[key]


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: Any) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(sorted(each.name for each in fields(kind)))
    return _NAMES[kind]
