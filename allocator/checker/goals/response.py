"""Goal ``p99`` (27): response times of the placed members of critical classes."""

from __future__ import annotations

from fractions import Fraction

from allocator.checker.response import LN_100, Response, compute_work, least_compute
from allocator.checker.situation import Situation
from allocator.model.entities import Goal
from allocator.plan.numbers import base_units

__all__ = ["p99"]


def p99(situation: Situation, goal: Goal) -> Fraction:
    """Weighted sum of seconds, or the largest weighted one (``worst``); 0 when no critical member is placed."""
    weighted = []
    for response in situation.responses:
        workload = situation.instance.workloads[response.workload]
        if workload.slo.critical:
            weighted.append((workload.weight * _seconds(situation, response), response.count))
    if goal.worst:
        return max((value for value, _ in weighted), default=Fraction(0))
    return sum((value * count for value, count in weighted), Fraction(0))


def _seconds(situation: Situation, response: Response) -> Fraction:
    """P99 of a member; where it is not stable, which is a violation, what it would be at the limit of stability."""
    if response.p99 is not None:
        return response.p99
    workload = situation.instance.workloads[response.workload]
    ((resource, per_task),) = compute_work(response.batch.demand(situation.instance))
    unit = base_units(1, situation.instance.resources[resource].exponent)
    return LN_100 / (least_compute(workload, per_task, unit) / per_task - workload.rate) + response.delay
