"""The independent evaluation of a plan. Owns the order of judgement; shares no code with whatever found the plan.

Python integers and fractions throughout: "fits" is never a matter of tolerance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from types import MappingProxyType

from allocator.checker.fabric import link_uses
from allocator.checker.families import RULES
from allocator.checker.flows import flows_of, grants_of
from allocator.checker.goals import GOALS, goal_value
from allocator.checker.link_load import uncounted_messages
from allocator.checker.overfull import overfull_warnings
from allocator.checker.response import misfits
from allocator.checker.situation import Situation
from allocator.checker.slo import stable
from allocator.checker.standing import read_standing
from allocator.errors import UnsupportedFamily
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import Family, GoalId
from allocator.plan.entities import Plan
from allocator.plan.evaluation import ClassOutcome, Evaluation, Use

__all__ = ["check"]


def check(instance: Instance, model: Model, plan: Plan) -> Evaluation:
    """Evaluate a plan: every constraint it breaks, the true value of every goal, use of resources and links.

    Raises
    ------
    UnsupportedFamily
        The instance or the model uses something that is not defined: the goal ``quality``, services, response times
        of a class whose tasks need no or several compute resources, the goal ``p99`` where leaving members out
        would improve it.
    """
    _refuse(instance, model)
    standing, violations = read_standing(instance, plan)
    flows = flows_of(instance)
    grants, malformed = grants_of(flows, plan)
    if Family.FABRIC not in model.ignore:
        violations += malformed
    situation = Situation(instance, model, standing, flows, grants)
    for family, rule in RULES.items():
        if situation.holds(family):
            violations.extend(rule(situation))
    if GoalId.P99 in model.goal_ids:
        violations.extend(stable(situation))
    goals = {goal.id: goal_value(situation, goal) for level in model.levels for goal in level.goals}
    return Evaluation(
        violations=tuple(violations),
        warnings=(*overfull_warnings(situation), *uncounted_messages(situation)),
        goals=MappingProxyType(goals),
        levels=tuple(level.combine(goals) for level in model.levels),
        uses=tuple(_uses(situation)),
        links=tuple(link_uses(situation)),
        classes=tuple(_outcomes(situation)),
    )


def _refuse(instance: Instance, model: Model) -> None:
    """Raise when something in use has no definition yet."""
    unknown = [goal.value for goal in model.goal_ids if goal not in GOALS]
    if instance.services:
        unknown.append("services")
    if GoalId.P99 in model.goal_ids and model.may_leave_out_for_p99:
        unknown.append(f"{GoalId.P99.value} (members may be left out for it)")
    for workload in instance.workloads:
        hard = workload.slo.p99 is not None and Family.SLO not in model.ignore
        soft = workload.slo.critical and GoalId.P99 in model.goal_ids
        why = misfits(instance, workload) if hard or soft else None
        if why is not None and f"slo ({why})" not in unknown:
            unknown.append(f"slo ({why})")
    if unknown:
        raise UnsupportedFamily("checker", unknown)


def _uses(situation: Situation) -> Iterator[Use]:
    """Use of every stated capacity."""
    for domain in situation.instance.domains:
        for resource, amount in domain.capacity.items():
            used = situation.usage.used(situation.instance, domain.index, resource)
            yield Use(domain.path, domain.level, resource, used, situation.base(resource, amount))


def _outcomes(situation: Situation) -> Iterator[ClassOutcome]:
    """What became of every class."""
    instance = situation.instance
    moved = Counter(move.workload for move in situation.moved)
    slowest: dict[int, list[Fraction | None]] = {}
    for alike in situation.responses:
        slowest.setdefault(alike[0].server.workload.index, []).append(alike[0].p99)
    for workload, rate in zip(instance.workloads, situation.class_rates, strict=True):
        offers = workload.rate > 0
        finite = [p99 for p99 in slowest.get(workload.index, ()) if p99 is not None]
        known = bool(finite) and len(finite) == len(slowest[workload.index])
        yield ClassOutcome(
            workload=workload.name,
            count=workload.count,
            placed=situation.standing.num_placed(workload.index),
            rate=rate if offers else None,
            offered=workload.rate * workload.count if offers else None,
            moved=None if instance.current is None else moved[workload.index],
            p99=max(finite) if known else None,
            target=workload.slo.p99,
        )
