"""Equation (29), ``link_load``: no uplink is offered more than a part of its bandwidth, in either direction.

Owns the rule, and the warning where messages count in no target because no such limit holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from allocator.checker.response import is_served
from allocator.checker.situation import Situation
from allocator.model.families import Family, GoalId
from allocator.plan.evaluation import Violation
from allocator.plan.numbers import measured

__all__ = ["link_load", "uncounted_messages"]

ZERO = Fraction(0)
BITS = "bit/s"


def link_load(situation: Situation) -> Iterator[Violation]:
    """Uplinks that flows offer more than the part of their bandwidth that the instance allows."""
    part = situation.instance.link_load
    if part is None:
        return
    traffic = situation.traffic
    for domain in situation.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        most = part * domain.uplink.bandwidth
        for direction, loads in (("up", traffic.offered_up), ("down", traffic.offered_down)):
            offered = loads.get(domain.index, ZERO)
            if offered > most:
                message = (
                    f"uplink {direction}: {measured(offered, BITS)} offered, at most {measured(most, BITS)} may be"
                )
                yield Violation(Family.LINK_LOAD, domain.path, message, offered - most)


def uncounted_messages(situation: Situation) -> Iterator[str]:
    """A warning where flows of classes with response times have messages, and no ``link_load`` holds."""
    instance = situation.instance
    if instance.link_load is not None and situation.holds(Family.LINK_LOAD):
        return
    if not situation.flows.carries_messages or not any(is_served(workload) for workload in instance.workloads):
        return
    hard = situation.holds(Family.SLO) and any(workload.slo.p99 is not None for workload in instance.workloads)
    if hard or GoalId.P99 in situation.model.goal_ids:
        yield "P99 does not count the delay of messages on loaded links: no link_load holds, so it has no bound"
