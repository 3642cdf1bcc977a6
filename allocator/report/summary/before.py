"""What the goals are worth where things run now, beside the plan's values. Judged by the checker, as every plan is."""

from __future__ import annotations

from allocator.checker import check
from allocator.instance.entities import Instance
from allocator.model.entities import Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.entities import PlacedGroup, Plan
from allocator.plan.result import Result
from allocator.report.format import count, goal_value
from allocator.report.summary.rates import rewards_rates
from allocator.report.summary.section import Column, Section, Sheet

__all__ = ["running_plan", "section"]

_NEVER = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.P99, GoalId.QUALITY, GoalId.MOVES})
"""Goals that depend on shares and grants, which a current placement does not state; and ``moves``, 0 by definition."""

_BY_SHARES = frozenset({GoalId.POWER, GoalId.PEAK, GoalId.OVERLOAD, GoalId.BALANCE})
"""Goals that count shares: comparable where plans have no more than their floors."""

_COLUMNS = (Column("goal"), Column("running now", right=True), Column("this plan", right=True))


def section(result: Result, instance: Instance) -> Section | None:
    """A row a goal that can be compared; None without a plan, a current placement, or such a goal."""
    if result.evaluation is None or not instance.current:
        return None
    left_out = _NEVER | _BY_SHARES if rewards_rates(result) else _NEVER
    goals = [goal for outcome in result.levels for goal in outcome.level.goals if goal.id not in left_out]
    if not goals:
        return None
    ignored = frozenset(family for family in Family if family.value in result.ignored)
    model = Model(result.model, "", tuple(Level((goal,)) for goal in goals), ignored)
    now = check(instance, model, running_plan(instance))
    rows = tuple(
        (goal.id.value, goal_value(goal.id, now.goals[goal.id]), goal_value(goal.id, result.evaluation.goals[goal.id]))
        for goal in goals
    )
    broken = [item for item in now.violations if item.family is not Family.ASSIGNMENT]
    notes = [f"What runs now breaks {count(len(broken), 'constraint')}."] if broken else []
    return Section("Goals before and after", sheet=Sheet(_COLUMNS, rows), notes=tuple(notes))


def running_plan(instance: Instance) -> Plan:
    """The current placement as a plan, every member with its floors."""
    groups = []
    for entry in instance.current or ():
        workload = instance.workload_by_name[entry.workload]
        mode = next(mode for mode in workload.modes if mode.name == entry.mode)
        floors = mode.demand(str(instance.domain_by_path[entry.node].kind)).requests
        groups.append(PlacedGroup(entry.workload, entry.first, entry.count, entry.mode, (entry.node,), floors))
    return Plan(instance.name, instance.digest, tuple(groups))
