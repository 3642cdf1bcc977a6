"""Instances: entities, their document and its validation. Knows no model, plan, compiled array or solver.

What needs Pydantic is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allocator.instance.digest import digest_of
    from allocator.instance.entities import Instance
    from allocator.instance.load import instance_from_dict, load_instance
    from allocator.instance.schema.document import json_schema

__all__ = ["Instance", "digest_of", "instance_from_dict", "json_schema", "load_instance"]

_HOMES = {
    "Instance": "allocator.instance.entities",
    "digest_of": "allocator.instance.digest",
    "instance_from_dict": "allocator.instance.load",
    "json_schema": "allocator.instance.schema.document",
    "load_instance": "allocator.instance.load",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
