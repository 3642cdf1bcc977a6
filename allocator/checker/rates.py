"""Equation (6), ``rates``: tasks per second that every placed member completes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from allocator.checker.standing import NOWHERE, Batch, Standing
from allocator.checker.traffic import Traffic
from allocator.instance.entities import Instance
from allocator.plan.numbers import base_units

__all__ = ["class_rates"]


def class_rates(instance: Instance, standing: Standing, traffic: Traffic | None, *, limited: bool) -> list[Fraction]:
    """Tasks/s of all placed members of each class.

    Parameters
    ----------
    traffic : granted fractions that bind; None when the family ``fabric`` is ignored.
    limited : False when the family ``rates`` is ignored: every placed member then completes what it is offered.
    """
    rates = [Fraction(0)] * len(instance.workloads)
    if not limited:
        for workload in instance.workloads:
            rates[workload.index] = workload.rate * standing.num_placed(workload.index)
        return rates
    by_shares = [_by_shares(instance, batch) for batch in standing.batches]
    if traffic is None:
        for batch, rate in zip(standing.batches, by_shares, strict=True):
            rates[batch.workload] += rate * batch.count
        return rates
    one_by_one = {workload for workload, _ in traffic.member_theta}  # the others' members are bound alike
    for batch, rate in zip(standing.batches, by_shares, strict=True):
        if batch.workload not in one_by_one:
            offered = instance.workloads[batch.workload].rate * traffic.theta(batch.workload, 0)
            rates[batch.workload] += min(rate, offered) * batch.count
    for workload in instance.workloads:
        if workload.index not in one_by_one:
            continue
        counts: Counter[tuple[int, Fraction]] = Counter()
        for member, number in enumerate(standing.batch_of[workload.index]):
            if number != NOWHERE:
                counts[number, traffic.theta(workload.index, member)] += 1
        for (number, theta), count in counts.items():
            rates[workload.index] += min(by_shares[number], workload.rate * theta) * count
    return rates


def _by_shares(instance: Instance, batch: Batch) -> Fraction:
    """Largest rate of one member that its offer and its shares allow."""
    workload = instance.workloads[batch.workload]
    work, rate = batch.demand(instance).work, workload.rate
    for resource, per_task in work.compute.items():
        if per_task > 0:
            rate = min(rate, min(_share(instance, batch, resource), workload.parallel) / per_task)
    for resource, per_task in work.memory.items():
        held = per_task * (workload.residence or 0)
        if held > 0:
            rate = min(rate, _share(instance, batch, resource) / held)
    return max(rate, Fraction(0))


def _share(instance: Instance, batch: Batch, resource: str) -> Fraction:
    """Share in base units."""
    return base_units(batch.shares.get(resource, 0), instance.resources[resource].exponent)
