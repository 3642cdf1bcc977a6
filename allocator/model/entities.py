"""An optimisation model: ordered levels of goals, ignored families, linearisation. Knows no instance and no solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from allocator.model.families import Family, GoalId, Sense, sense_of

__all__ = ["Goal", "Level", "Linearization", "Model", "Slack"]


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal with its weight in its level. ``resources`` and ``at_level`` narrow ``peak`` (empty, None: all).

    ``worst``: of ``p99`` the worst class counts, not the sum.
    """

    id: GoalId
    weight: Fraction = Fraction(1)
    resources: tuple[str, ...] = ()
    at_level: str | None = None
    worst: bool = False


@dataclass(frozen=True, slots=True)
class Slack:
    """How far a level may be given up for later ones: relative to its value, or absolute."""

    value: Fraction = Fraction(0)
    relative: bool = False

    def allowance(self, reached: Fraction) -> Fraction:
        """Allowed worsening of a level that reached that value."""
        return abs(reached) * self.value if self.relative else self.value


@dataclass(frozen=True, slots=True)
class Level:
    """One goal, or a weighted sum of goals in which maximised ones are negated (value: sum of weight * value)."""

    goals: tuple[Goal, ...]
    slack: Slack = Slack()

    @property
    def sense(self) -> Sense:
        """A single goal keeps its sense; a weighted sum is minimised."""
        return sense_of(self.goals[0].id) if len(self.goals) == 1 else "min"

    def combine(self, values: dict[GoalId, Fraction]) -> Fraction:
        """Value of the level from the values of its goals."""
        if len(self.goals) == 1:
            return values[self.goals[0].id] * self.goals[0].weight
        return sum(
            (goal.weight * values[goal.id] * (-1 if sense_of(goal.id) == "max" else 1) for goal in self.goals),
            Fraction(0),
        )


@dataclass(frozen=True, slots=True)
class Linearization:
    """Tolerance (relative) and method of piecewise linearisation."""

    tolerance: Fraction = Fraction(1, 100)
    method: str = "auto"


@dataclass(frozen=True, slots=True)
class Model:
    """A named list of levels. A goal id stands at most once in a model."""

    name: str
    about: str
    levels: tuple[Level, ...]
    ignore: frozenset[Family] = frozenset()
    linearization: Linearization = field(default_factory=Linearization)

    @property
    def goal_ids(self) -> tuple[GoalId, ...]:
        """Ids of all goals, in order."""
        return tuple(goal.id for level in self.levels for goal in level.goals)

    @property
    def may_leave_out(self) -> bool:
        """Whether members may stay unplaced: only when the goal ``placed`` is in the model."""
        return GoalId.PLACED in self.goal_ids

    @property
    def may_leave_out_for_p99(self) -> bool:
        """Whether leaving a member out could improve the goal ``p99`` without worsening an earlier level.

        It cannot where everybody is placed, or where ``placed`` alone is an earlier level that gives nothing away.
        """
        if not self.may_leave_out and Family.ASSIGNMENT not in self.ignore:
            return False
        for level in self.levels:
            if GoalId.P99 in {goal.id for goal in level.goals}:
                break
            if [goal.id for goal in level.goals] == [GoalId.PLACED] and level.slack.value == 0:
                return False
        return GoalId.P99 in self.goal_ids

    @property
    def has_rate_goals(self) -> bool:
        """Whether shares above the floors can pay: only with ``throughput``, ``fairness`` or ``p99``."""
        return bool({GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.P99} & set(self.goal_ids))
