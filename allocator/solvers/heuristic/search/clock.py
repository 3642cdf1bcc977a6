"""Progress of a part of the search, by time or by moves. Knows no walk."""

from __future__ import annotations

from dataclasses import dataclass

from allocator.solvers.budget import Budget

__all__ = ["Clock"]


@dataclass
class Clock:
    """Progress of a part, by time or by moves; ``done`` counts the moves that a walk has tried."""

    budget: Budget
    end: float  # seconds of the budget's clock
    moves: int | None  # moves a walk may try, None: time rules
    begun: float = 0.0
    done: int = 0

    def __post_init__(self) -> None:
        self.begun = self.budget.elapsed()

    def progress(self) -> float:
        """How much is over, 0 to 1; 1 once the budget is used up."""
        if self.moves is not None:
            part = self.done / max(1, self.moves)
            return 1.0 if self.budget.exhausted else min(1.0, part)
        if self.budget.exhausted:
            return 1.0
        return min(1.0, (self.budget.elapsed() - self.begun) / max(1e-9, self.end - self.begun))
