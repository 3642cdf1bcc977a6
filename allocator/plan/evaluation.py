"""What the checker found of a plan: violations, goal values, use of resources and links. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.model.families import Family, GoalId

__all__ = ["ClassOutcome", "Evaluation", "LinkUse", "Use", "Violation"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that the plan breaks: its family, where (domain path, class, group, flow) and by how much, in words.

    ``amount`` is the excess in base units where that has a meaning.
    """

    family: Family
    where: str
    message: str
    amount: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Use of one resource in one domain that states a capacity for it. Amounts in base units."""

    domain: str
    level: str
    resource: str
    used: Fraction
    capacity: Fraction

    @property
    def utilization(self) -> Fraction | None:
        """Used over capacity; None where the capacity is 0."""
        return self.used / self.capacity if self.capacity else None


@dataclass(frozen=True, slots=True)
class LinkUse:
    """One direction of an uplink ("up" towards the root). bit/s; ``capacity`` None: unlimited.

    ``carried``: what the uplink's goodput curve lets through of the offered load; grants fit below it. ``message``:
    bits of the largest message that crosses, None where none is stated. ``delay``: seconds that 99 of 100 such
    messages stay within at the load there is, latency included (equation 13); None without a bound, or a message.
    """

    domain: str
    level: str
    direction: str
    offered: Fraction
    granted: Fraction
    capacity: Fraction | None
    proportional: Fraction | None = None  # what proportional sharing would carry
    carried: Fraction | None = None
    message: Fraction | None = None
    delay: Fraction | None = None


@dataclass(frozen=True, slots=True)
class ClassOutcome:
    """What became of a class. ``rate``: tasks/s of all placed members; None when the class offers no work.

    ``p99``: seconds of the worst placed member of a class that has a target or is critical; None for others, when
    nobody is placed, or when some member's queue would grow without end. ``target``: stated P99, seconds.
    """

    workload: str
    count: int
    placed: int
    rate: Fraction | None
    offered: Fraction | None
    moved: int | None  # None without a current plan
    p99: Fraction | None = None
    target: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The checker's word on a plan under a model.

    ``goals`` holds the exact value of every goal of the model, ``levels`` that of every level in order.
    """

    violations: tuple[Violation, ...]
    warnings: tuple[str, ...]
    goals: Mapping[GoalId, Fraction]
    levels: tuple[Fraction, ...]
    uses: tuple[Use, ...]
    links: tuple[LinkUse, ...]
    classes: tuple[ClassOutcome, ...]

    @property
    def feasible(self) -> bool:
        """Whether no constraint is broken."""
        return not self.violations
