"""What a method is: its name, what it supports, and the answer it hands back. Knows no back end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.plan.result import LinearizationCertificate, Status, Termination
from allocator.solvers.budget import Budget
from allocator.solvers.recorder import Recorder

__all__ = ["Answer", "Assignment", "Method", "Support"]


@dataclass(frozen=True)
class Assignment:
    """Placement in counts: ``counts[block, option, node]`` members, zero entries left out.

    ``shares[block, option, node, resource]``: total amount of those members, only where it exceeds count * floor.
    ``theta[("team", t) | ("pair", p) | ("group", g)]``: granted fractions in [0, 1]; missing: 0.
    """

    counts: Mapping[tuple[int, int, int], int]
    shares: Mapping[tuple[int, int, int, int], int] = field(default_factory=dict)
    theta: Mapping[tuple[str, int], Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What a method found.

    ``claims``: value per level that it believes its assignment has (checked by ``solve``). ``bounds``: a valid bound
    per level over plans that keep the earlier ones, None where it has none.
    """

    status: Status
    termination: Termination
    assignment: Assignment | None
    claims: tuple[Fraction | None, ...]
    bounds: tuple[Fraction | None, ...]
    linearization: LinearizationCertificate | None = None
    size: Mapping[str, int | None] = field(default_factory=dict)
    prices: Mapping[tuple[int, str], float] = field(default_factory=dict)  # (domain, resource or "bandwidth")
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Support:
    """Families, goals and goodput curves a method handles."""

    families: frozenset[Family]
    goals: frozenset[GoalId]
    curves: frozenset[str] = frozenset({"fair"})


class Method(Protocol):
    """A solving method. Stateless; everything about one run is in the arguments."""

    name: str
    support: Support

    def refuse(self, compiled: Compiled) -> None:
        """Raise ``MethodRefused`` (or a subclass) when this method should not try the instance. Cheap."""

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
        gap: float,
    ) -> Answer:
        """Solve; never raises for time-outs or interruption, returns the best known instead."""
