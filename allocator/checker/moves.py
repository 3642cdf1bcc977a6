"""Equation (10), ``move_limit``: how many members, or bytes of memory, may leave the node they run on now."""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["move_limit"]

MEMORY = "memory"
"""Name of the resource whose old floors are the bytes moved."""


def move_limit(situation: Situation) -> Iterator[Violation]:
    """Moves beyond the limit in members or in bytes."""
    costs, moved = situation.move_costs, situation.moved
    if costs.limit_members is not None and len(moved) > costs.limit_members:
        message = f"{len(moved)} members move: at most {costs.limit_members}"
        yield Violation(Family.MOVE_LIMIT, "moves", message)
    if costs.limit_bytes is not None:
        amount = sum(move.floors.get(MEMORY, 0) for move in moved)
        if amount > costs.limit_bytes:
            size, limit = situation.base(MEMORY, amount), situation.base(MEMORY, costs.limit_bytes)
            message = (
                f"members with {situation.told(MEMORY, size)} of memory move: at most {situation.told(MEMORY, limit)}"
            )
            yield Violation(Family.MOVE_LIMIT, "moves", message, size - limit)
