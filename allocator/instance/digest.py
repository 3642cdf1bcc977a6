"""The digest that names an instance's content: the same for any spelling of the same instance.

Independent of key order, comments and units; dependent on the order of classes, nodes and flows, which number things.
The name of the model to use is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import Any

from allocator.instance.entities import Instance, Power, Uplink
from allocator.instance.node_matrix import NodeMatrix

__all__ = ["digest_of"]

_LEFT_OUT = frozenset({"digest", "model"})


def digest_of(instance: Instance) -> str:
    """SHA-256, hex, over a canonical text of the entities."""
    hasher = hashlib.sha256(b"allocator instance 1\n")
    writer = _Writer()
    for name in sorted(each.name for each in fields(instance)):
        if name not in _LEFT_OUT:
            hasher.update(f"{name}=".encode())
            value = getattr(instance, name)
            for item in value if isinstance(value, tuple) else (value,):
                hasher.update(writer.text(item).encode())
                hasher.update(b"\n")
    return hasher.hexdigest()


class _Writer:
    """Canonical text of entities. What the copies of a domain share is written once, known by its identity."""

    def __init__(self) -> None:
        self._shared: dict[int, str] = {}
        self._names: dict[type, tuple[str, ...]] = {}
        self._by_type: dict[type, Callable[[Any], str]] = {
            str: encode_basestring_ascii,
            int: str,
            bool: str,
            type(None): str,
            Fraction: str,
            tuple: self._tuple,
            dict: self._map,
            MappingProxyType: self._map,
            frozenset: self._set,
            NodeMatrix: NodeMatrix.digest,
        }

    def text(self, value: Any) -> str:
        kind = value.__class__
        write = self._by_type.get(kind)
        if write is None:
            write = self._by_type[kind] = self._choose(value)
        return write(value)

    def _choose(self, value: Any) -> Callable[[Any], str]:
        if isinstance(value, Mapping):
            return self._map
        if is_dataclass(value):
            kind: Any = value.__class__
            self._names[kind] = tuple(sorted(each.name for each in fields(value)))
            return self._shared_entity if isinstance(value, (Uplink, Power)) else self._entity
        return lambda other: encode_basestring_ascii(str(other))

    def _tuple(self, value: tuple[Any, ...]) -> str:
        return f"({','.join([self.text(item) for item in value])})"

    def _set(self, value: frozenset[Any]) -> str:
        return f"{{{','.join(sorted([self.text(item) for item in value]))}}}" if value else "{}"

    def _map(self, value: Mapping[Any, Any]) -> str:
        if not value:
            return "{}"
        found = self._shared.get(id(value))
        if found is None:
            text = self.text
            items = [f"{text(name)}:{text(item)}" for name, item in sorted(value.items())]
            found = self._shared[id(value)] = f"{{{','.join(items)}}}"
        return found

    def _entity(self, value: Any) -> str:
        kind = value.__class__
        return f"{kind.__name__}({','.join([self.text(getattr(value, name)) for name in self._names[kind]])})"

    def _shared_entity(self, value: Any) -> str:
        found = self._shared.get(id(value))
        if found is None:
            found = self._shared[id(value)] = self._entity(value)
        return found
