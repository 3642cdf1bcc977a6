"""Names of the foreign formats, and what reads and writes each. A module is imported when its format is used.

``READERS`` turn a file, and what ``READER_OPTIONS`` names beside it, into an instance document
(``allocator.instance.instance_from_dict``). ``MODEL_WRITERS`` write
instance and model for other solvers. ``PLAN_WRITERS`` write a plan with its instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.plan.entities import Plan

__all__ = ["MODEL_WRITERS", "PLAN_WRITERS", "READERS", "READER_OPTIONS"]

Reader = Callable[..., dict[str, Any]]
ModelWriter = Callable[[Instance, Model, Path], None]
PlanWriter = Callable[[Plan, Instance, Path], None]


def _lazy(module: str, function: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(import_module(f"allocator.formats.{module}"), function)(*arguments, **options)

    return call


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "gap": _lazy("gap", "read_gap"),
        "gqap": _lazy("gqap", "read_gqap"),
        "ctap": _lazy("ctap", "read_ctap"),
        "vbp": _lazy("vbp", "read_vbp"),
        "roadef2012": _lazy("roadef2012", "read_roadef2012"),
        "openb": _lazy("openb", "read_openb"),
    }
)

READER_OPTIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"roadef2012": frozenset({"assignment"}), "openb": frozenset({"requests", "load", "seed"})}
)
"""Keyword arguments of a reader beside the path, for the formats that have some."""

MODEL_WRITERS: Mapping[str, ModelWriter] = MappingProxyType(
    {"mps": _lazy("programs", "write_mps"), "lp": _lazy("programs", "write_lp")}
)

PLAN_WRITERS: Mapping[str, PlanWriter] = MappingProxyType(
    {
        **{name: _lazy("assignment", "write_assignment") for name in ("gap", "gqap", "ctap", "vbp")},
        "roadef2012": _lazy("assignment", "write_assignment_row"),
    }
)
