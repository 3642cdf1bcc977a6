"""The empty mapping: what a frozen entity holds where nothing is stated."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["EMPTY", "empty"]

EMPTY: Mapping[Any, Any] = MappingProxyType({})


def empty() -> Mapping[Any, Any]:
    """``EMPTY``, for a default: a mapping proxy cannot be a plain one before Python 3.12, where it became hashable."""
    return EMPTY
