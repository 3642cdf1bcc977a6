"""Values of the goals, equations (15) to (27): one function each, from the situation alone."""

from __future__ import annotations

from allocator.checker.goals.table import GOALS, goal_value

__all__ = ["GOALS", "goal_value"]
