"""Equation (6), ``rates``: tasks per second that every placed member completes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from allocator.checker.standing import NOWHERE, Batch, Standing
from allocator.checker.sums import exact_sum
from allocator.checker.traffic import Traffic
from allocator.instance.entities import Instance
from allocator.plan.numbers import base_units

__all__ = ["class_rates"]

ZERO = Fraction(0)
ONE = Fraction(1)


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
    workers: dict[tuple[int, int, str], _Worker] = {}
    by_shares = [
        _worker(instance, batch, workers).rate(batch.shares) if instance.workloads[batch.workload].rate else ZERO
        for batch in standing.batches
    ]
    one_by_one = {} if traffic is None else traffic.member_theta  # members of the other classes are bound alike
    completed: list[Counter[Fraction]] = [Counter() for _ in instance.workloads]
    offered = [each.rate * (ONE if traffic is None else traffic.theta(each.index)) for each in instance.workloads]
    for batch, rate in zip(standing.batches, by_shares, strict=True):
        if rate and batch.workload not in one_by_one:
            completed[batch.workload][min(rate, offered[batch.workload])] += batch.count
    for index, thetas in one_by_one.items():
        assert traffic is not None
        offered_at = {number: instance.workloads[index].rate * traffic.theta(index, number) for number in set(thetas)}
        for (batch_number, number), count in Counter(zip(standing.batch_of[index], thetas, strict=True)).items():
            if batch_number != NOWHERE:
                completed[index][min(by_shares[batch_number], offered_at[number])] += count
    return [exact_sum(each.items()) if each else ZERO for each in completed]


class _Worker:
    """Largest rate of one member of a class in one mode on one kind of node, that its offer and its shares allow."""

    def __init__(self, instance: Instance, batch: Batch) -> None:
        workload = instance.workloads[batch.workload]
        work, units = batch.demand(instance).work, instance.resources
        self._offered = workload.rate
        self._parallel = workload.parallel
        self._compute = [
            (name, base_units(1, units[name].exponent), each) for name, each in work.compute.items() if each > 0
        ]
        held = {name: each * (workload.residence or 0) for name, each in work.memory.items()}
        self._memory = [(name, base_units(1, units[name].exponent), each) for name, each in held.items() if each > 0]
        # shares with which the whole offer is completed
        self._enough = [
            (name, ceil(self._offered * each / unit)) for name, unit, each in (*self._compute, *self._memory)
        ]
        self._quick = all(self._offered * each <= self._parallel for _, _, each in self._compute)
        self._known: dict[tuple[int, ...], Fraction] = {}

    def rate(self, shares: Mapping[str, int]) -> Fraction:
        """Tasks/s with these shares."""
        if self._quick and all(shares.get(name, 0) >= enough for name, enough in self._enough):
            return self._offered
        key = tuple([shares.get(name, 0) for name, _ in self._enough])
        found = self._known.get(key)
        if found is None:
            found = self._offered
            for name, unit, each in self._compute:
                found = min(found, min(shares.get(name, 0) * unit, self._parallel) / each)
            for name, unit, each in self._memory:
                found = min(found, shares.get(name, 0) * unit / each)
            found = self._known[key] = max(found, ZERO)
        return found


def _worker(instance: Instance, batch: Batch, known: dict[tuple[int, int, str], _Worker]) -> _Worker:
    key = (batch.workload, batch.mode, str(instance.nodes[batch.node].kind))
    if key not in known:
        known[key] = _Worker(instance, batch)
    return known[key]
