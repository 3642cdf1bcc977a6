"""Equation (13), ``slo``: P99 within its target; and the stability that the goal ``p99`` needs (equation 27)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from allocator.checker.response import LN_100, Response, compute_work, least_compute
from allocator.checker.situation import Situation
from allocator.instance.entities import WorkloadClass
from allocator.model.families import Family
from allocator.plan.evaluation import Violation
from allocator.plan.numbers import base_units, shown

__all__ = ["slo", "stable"]


def slo(situation: Situation) -> Iterator[Violation]:
    """Members that miss the target of their class."""
    for response in situation.responses:
        workload = situation.instance.workloads[response.workload]
        target = workload.slo.p99
        if target is None or (response.p99 is not None and response.p99 <= target):
            continue
        resource, per_task, least = _needs(situation, response, workload)
        where = f"{response.count} members on {situation.instance.nodes[response.batch.node].path}"
        if target <= response.delay:
            message = f"{where}: the path delay alone is {shown(response.delay)} s, the P99 may be {shown(target)} s"
            yield Violation(Family.SLO, workload.name, message, response.delay - target)
            continue
        needed = max(least, per_task * (workload.rate + LN_100 / (target - response.delay)))
        message = (
            f"{where}: usable {resource} {shown(response.usable)}, "
            f"a P99 of {shown(target)} s needs {shown(needed)} at a path delay of {shown(response.delay)} s"
        )
        yield Violation(Family.SLO, workload.name, message, needed - response.usable)


def stable(situation: Situation) -> Iterator[Violation]:
    """Members that the goal ``p99`` counts and whose queue would grow; those with a target are judged by it."""
    for response in situation.responses:
        workload = situation.instance.workloads[response.workload]
        judged = workload.slo.p99 is not None and situation.holds(Family.SLO)
        if response.p99 is not None or not workload.slo.critical or judged:
            continue
        resource, _, least = _needs(situation, response, workload)
        message = (
            f"{response.count} members on {situation.instance.nodes[response.batch.node].path}: usable {resource} "
            f"{shown(response.usable)}, a finite P99 needs {shown(least)}"
        )
        yield Violation(Family.SLO, workload.name, message, least - response.usable)


def _needs(situation: Situation, response: Response, workload: WorkloadClass) -> tuple[str, Fraction, Fraction]:
    """Resource, core-seconds a task, and least stable compute of a member."""
    ((resource, per_task),) = compute_work(response.batch.demand(situation.instance))
    unit = base_units(1, situation.instance.resources[resource].exponent)
    return resource, per_task, least_compute(workload, per_task, unit)
