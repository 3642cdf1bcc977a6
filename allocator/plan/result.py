"""The result of a solve: why it stopped kept apart from what it holds. Plain data, no default claims success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from allocator.model.entities import Level
from allocator.model.families import GoalId, Sense
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation
from allocator.plan.numbers import shown

__all__ = [
    "Bottleneck",
    "GoalOutcome",
    "Headroom",
    "Infeasibility",
    "LevelOutcome",
    "LinearizationCertificate",
    "Result",
    "Status",
    "Termination",
    "TerminationReason",
    "gap_between",
]


class Status(StrEnum):
    """What is known: ``optimal`` only when value and bound agree on every level."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class TerminationReason(StrEnum):
    """Why the method stopped."""

    OPTIMAL = "optimal"
    GAP = "gap"
    CONVERGED = "converged"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True)
class Termination:
    """Reason and a sentence of detail."""

    reason: TerminationReason
    detail: str = ""


def gap_between(value: Fraction | None, bound: Fraction | None) -> Fraction | None:
    """Gap as the design defines it: 0 if equal, else |value - bound| / max(|value|, |bound|); None without a bound."""
    if value is None or bound is None:
        return None
    if value == bound:
        return Fraction(0)
    return abs(value - bound) / max(abs(value), abs(bound))


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    """True value of one goal at the plan (None without a plan) and a valid bound of it (None: none known)."""

    id: GoalId
    sense: Sense
    value: Fraction | None
    bound: Fraction | None


@dataclass(frozen=True, slots=True)
class LevelOutcome:
    """True value of a level and a valid bound over the plans that keep the earlier levels."""

    level: Level
    value: Fraction | None
    bound: Fraction | None

    @property
    def gap(self) -> Fraction | None:
        """Relative gap; None without value or bound."""
        return gap_between(self.value, self.bound)


@dataclass(frozen=True, slots=True)
class LinearizationCertificate:
    """Largest relative error proven over the stated range and the one measured at the plan; 0 where nothing bends."""

    max_relative_error: Fraction
    measured: Fraction
    proven_over: str


@dataclass(frozen=True, slots=True)
class Infeasibility:
    """Why there is no plan, in workload terms.

    ``reasons``: sentences for a person. ``conflict``: constraints that cannot hold together, none of them superfluous.
    ``relaxation``: a least change that makes the instance feasible.
    """

    reasons: tuple[str, ...] = ()
    conflict: tuple[Mapping[str, Any], ...] = ()
    relaxation: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A resource of a domain (or a link: resource "bandwidth") near its limit.

    ``price``: value of one more base unit of it in the first level that can use it, from the share program; None where
    prices were not computed.
    """

    domain: str
    resource: str
    utilization: Fraction
    price: float | None


@dataclass(frozen=True, slots=True)
class Headroom:
    """How many more whole copies of the mix fit: ``copies`` is a proven ``bound`` or a number ``found``."""

    copies: Fraction
    kind: str  # "bound" | "found"
    resource: str | None  # what runs out first


@dataclass(frozen=True, repr=False)
class Result:
    """Everything that is known when a solve ends. ``plan`` and ``evaluation`` are None together.

    ``repr`` gives a line: a plan of many members would fill a screen or a log.
    """

    status: Status
    termination: Termination
    levels: tuple[LevelOutcome, ...]
    goals: tuple[GoalOutcome, ...]
    plan: Plan | None
    evaluation: Evaluation | None
    method: str
    model: str
    seed: int
    threads: int
    seconds: Mapping[str, float]
    ignored: tuple[str, ...] = ()
    linearization: LinearizationCertificate | None = None
    infeasibility: Infeasibility | None = None
    bottlenecks: tuple[Bottleneck, ...] = ()
    headroom: Headroom | None = None
    peak_memory_mib: float | None = None
    size: Mapping[str, int | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.plan is None) != (self.evaluation is None):
            raise ValueError("plan and evaluation stand together or not at all")
        if self.status in (Status.OPTIMAL, Status.FEASIBLE) and self.plan is None:
            raise ValueError(f"status {self.status} needs a plan")

    def __repr__(self) -> str:
        levels = ", ".join(f"{_told(outcome.value)} of {_told(outcome.bound)}" for outcome in self.levels)
        placed = "no plan" if self.plan is None else f"{sum(group.count for group in self.plan.placements)} placed"
        return (
            f"<Result {self.status.value} ({self.termination.reason.value}), {self.method}, model {self.model}, "
            f"{placed}, levels value of bound: {levels or 'none'}>"
        )


def _told(value: Fraction | None) -> str:
    return "?" if value is None else shown(value)
