"""Goal levels with value, bound and gap, in units a person uses."""

from __future__ import annotations

from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.model.families import GoalId
from allocator.plan.result import LevelOutcome, Result
from allocator.report.format import goal_value, level_name, level_value, percent
from allocator.report.summary.section import Column, Section, Sheet

__all__ = ["section"]

_COLUMNS = (
    Column("level"),
    Column("goal"),
    Column("value", right=True),
    Column("bound", right=True),
    Column("gap", right=True),
)


def section(result: Result, instance: Instance) -> Section | None:
    """A row a level; the goals of a weighted level below it. A later bound is over plans that keep the earlier ones.

    The goals ``placed`` and ``throughput`` weigh classes by value and weight; a note says so where these are not all 1.
    """
    if not any(outcome.value is not None or outcome.bound is not None for outcome in result.levels):
        return None
    by_id = {goal.id: goal for goal in result.goals}
    rows: list[tuple[str, ...]] = []
    for index, outcome in enumerate(result.levels):
        level = outcome.level
        sense = level.sense
        rows.append(
            (
                str(index + 1),
                f"{sense} {level_name(level)}",
                level_value(level, outcome.value),
                level_value(level, outcome.bound),
                _gap(outcome),
            )
        )
        if len(level.goals) > 1:
            for goal in level.goals:
                found = by_id.get(goal.id)
                if found is not None:
                    value = goal_value(goal.id, found.value)
                    rows.append(("", f"  {found.sense} {goal.id.value}", value, goal_value(goal.id, found.bound), ""))
    notes = []
    if len(result.levels) > 1:
        notes.append("The bound of a later level is over the plans that keep the earlier levels.")
    if GoalId.PLACED in by_id and any(workload.value != 1 for workload in instance.workloads):
        notes.append("The goal placed adds up the values of members, which are not all 1 here.")
    if GoalId.THROUGHPUT in by_id and any(workload.rate and workload.weight != 1 for workload in instance.workloads):
        notes.append("The goal throughput weighs the classes, whose weights are not all 1 here.")
    return Section("Goals", sheet=Sheet(_COLUMNS, tuple(rows)), notes=tuple(notes))


def _gap(outcome: LevelOutcome) -> str:
    if outcome.gap is None:
        return "unknown"
    return "0, proven" if outcome.gap == Fraction(0) else percent(outcome.gap, 2)
