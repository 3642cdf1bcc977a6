"""What the share solvers hand back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allocator.solvers.base import Assignment

__all__ = ["SharePlan"]


@dataclass(frozen=True)
class SharePlan:
    """``assignment`` with exact shares; ``prices[domain, resource]``: first share level's value per base unit more.

    Of a maximised level what one more unit adds, of a minimised one what it saves.
    """

    assignment: Assignment
    prices: Mapping[tuple[int, str], float] = field(default_factory=dict)
