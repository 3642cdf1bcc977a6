"""Optimisation models: ordered goals, families to ignore; their files and validation. Knows no instance, no solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allocator.model.load import list_models, load_model

__all__ = ["list_models", "load_model"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("allocator.model.load"), name)
