"""What a stage of method ``auto`` is and what it hands on. Knows no particular structure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from allocator.compiled.entities import Compiled
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.recorder import Recorder

__all__ = ["Stage", "StageAnswer"]


@dataclass(frozen=True)
class StageAnswer:
    """``bound``: valid bound of the first level, None if none is known. ``optimal``: the assignment's value equals it.

    ``solver_proof``: the bound rests on a solver's proof (its tolerances), not on exact integers alone.
    """

    assignment: Assignment | None
    bound: Fraction | None
    optimal: bool
    solver_proof: bool = False


class Stage(Protocol):
    """A stage. Stateless."""

    name: str

    def applies(self, compiled: Compiled) -> bool:
        """Whether the instance has the structure. Cheap."""

    def run(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
    ) -> StageAnswer:
        """Work within the budget; stops at any moment with what is known."""
