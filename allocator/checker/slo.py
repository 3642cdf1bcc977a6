"""Equation (13), ``slo``: P99 within its target, a member being an M/M/1 server of rate x / c.

P99 = ln(100) / (x / c - lambda). Path delays are not defined yet: a class with a target whose traffic crosses a link
with latency is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from allocator.checker.situation import Situation
from allocator.instance.entities import Instance
from allocator.model.families import Family
from allocator.plan.evaluation import Violation
from allocator.plan.numbers import shown

__all__ = ["has_path_delay", "slo"]

LN_100 = Fraction(460517018598809136803598290936873, 10**32)
"""ln 100, rounded up in the 33rd digit."""

HEADROOM = Fraction(101, 100)
"""Stability: compute for at least 1 % more tasks than arrive."""


def slo(situation: Situation) -> Iterator[Violation]:
    """Batches whose members miss the target of their class."""
    instance = situation.instance
    for batch in situation.standing.batches:
        workload = instance.workloads[batch.workload]
        if workload.slo.p99 is None or not batch.count:
            continue
        for resource, per_task in batch.demand(instance).work.compute.items():
            if per_task <= 0:
                continue
            share = min(situation.base(resource, batch.shares.get(resource, 0)), workload.parallel)
            needed = per_task * max(workload.rate + LN_100 / workload.slo.p99, workload.rate * HEADROOM)
            if share < needed:
                message = (
                    f"{batch.count} members on {instance.nodes[batch.node].path}: usable {resource} {shown(share)}, "
                    f"a P99 of {shown(workload.slo.p99)} s needs {shown(needed)}"
                )
                yield Violation(Family.SLO, workload.name, message, needed - share)


def has_path_delay(instance: Instance) -> bool:
    """Whether a class with a target has traffic in a topology with link latencies."""
    if not any(domain.uplink is not None and domain.uplink.latency for domain in instance.domains):
        return False
    targets = {workload.name for workload in instance.workloads if workload.slo.p99 is not None}
    talking = {name for team in instance.teams for name, each in team.members.items() if each}
    talking.update(name for flow in instance.flows for name in (flow.source, flow.target))
    return bool(targets & talking)
