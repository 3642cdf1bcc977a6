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
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from allocator.instance.entities import Instance, Placement, Power, Slo, Uplink, Work
from allocator.instance.node_matrix import NodeMatrix

__all__ = ["digest_of"]

_LEFT_OUT = frozenset({"model"})
_WHEN_STATED = frozenset({"link_load", "message"})  # later additions: instances without them keep their digest
_OFTEN_SHARED = (Uplink, Power, Placement, Slo, Work)


def digest_of(instance: Instance) -> str:
    """SHA-256, hex, over a canonical text of the entities."""
    hasher = hashlib.sha256(b"allocator instance 1\n")
    writer = _Writer()
    for name in sorted(each.name for each in fields(instance)):
        if name not in _LEFT_OUT:
            value = getattr(instance, name)
            if name in _WHEN_STATED and not value:
                continue
            hasher.update(f"{name}=".encode())
            for item in value if isinstance(value, tuple) else (value,):
                hasher.update(writer.text(item).encode())
                hasher.update(b"\n")
    return hasher.hexdigest()


class _Writers(dict[type, Callable[[Any], str]]):
    """What writes the values of a type, chosen when the first one is met."""

    def __init__(
        self, known: Mapping[type, Callable[[Any], str]], choose: Callable[[type], Callable[[Any], str]]
    ) -> None:
        super().__init__(known)
        self._choose = choose

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        found = self[kind] = self._choose(kind)
        return found


class _Writer:
    """Canonical text of entities. What many of them share is written once, known by its identity."""

    def __init__(self) -> None:
        self._shared: dict[int, str] = {}
        known: dict[type, Callable[[Any], str]] = {
            str: encode_basestring_ascii,
            int: str,
            bool: str,
            type(None): str,
            Fraction: self._fraction,
            tuple: self._tuple,
            dict: self._map,
            MappingProxyType: self._map,
            frozenset: self._set,
            NodeMatrix: NodeMatrix.digest,
        }
        self._writers = _Writers(known, self._choose)

    def text(self, value: Any) -> str:
        return self._writers[value.__class__](value)

    def _choose(self, kind: type) -> Callable[[Any], str]:
        if issubclass(kind, Mapping):
            return self._map
        if not is_dataclass(kind):
            return lambda other: encode_basestring_ascii(str(other))
        later = [each.name for each in fields(kind) if each.name in _WHEN_STATED]
        names = sorted(each.name for each in fields(kind) if each.name not in _WHEN_STATED)
        values = attrgetter(*names) if len(names) > 1 else lambda value: [getattr(value, name) for name in names]
        head, writers = kind.__name__, self._writers

        def write(value: Any) -> str:
            stated = [each for name in later if (each := getattr(value, name))]
            return f"{head}({','.join([writers[each.__class__](each) for each in (*values(value), *stated)])})"

        if not issubclass(kind, _OFTEN_SHARED):
            return write
        shared = self._shared

        def write_once(value: Any) -> str:
            found = shared.get(id(value))
            if found is None:
                found = shared[id(value)] = write(value)
            return found

        return write_once

    def _fraction(self, value: Fraction) -> str:
        found = self._shared.get(id(value))
        if found is None:
            found = self._shared[id(value)] = str(value)
        return found

    def _tuple(self, value: tuple[Any, ...]) -> str:
        writers = self._writers
        return f"({','.join([writers[item.__class__](item) for item in value])})"

    def _set(self, value: frozenset[Any]) -> str:
        return f"{{{','.join(sorted([self.text(item) for item in value]))}}}" if value else "{}"

    def _map(self, value: Mapping[Any, Any]) -> str:
        if not value:
            return "{}"
        found = self._shared.get(id(value))
        if found is None:
            writers = self._writers
            items = [
                f"{writers[name.__class__](name)}:{writers[item.__class__](item)}"
                for name, item in sorted(value.items())
            ]
            found = self._shared[id(value)] = f"{{{','.join(items)}}}"
        return found
