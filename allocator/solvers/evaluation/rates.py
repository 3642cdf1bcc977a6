"""Completed rates of an assignment (equation 6), exact. One total for each (block, option, node)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.loads import flow_keys
from allocator.solvers.evaluation.use import share_of

__all__ = ["class_rates", "granted_limit"]


def granted_limit(compiled: Compiled, assignment: Assignment) -> dict[int, Fraction]:
    """Smallest granted fraction over the flows of each block; 1 without flows or when the fabric is ignored."""
    least: dict[int, Fraction] = {}
    if Family.FABRIC in compiled.model.ignore:
        return least
    for key, rate, sources, targets in flow_keys(compiled):
        if not rate:
            continue
        theta = assignment.theta.get(key, Fraction(0))
        for block in {*sources, *targets}:
            least[block] = min(least.get(block, Fraction(1)), theta)
    return least


def class_rates(compiled: Compiled, assignment: Assignment) -> list[Fraction]:
    """Tasks/s per class. Totals of shares are split as ``plan_of`` splits them: evenly, the remainder one unit each.

    Where the model ignores the family, every placed member completes what it is offered.
    """
    rates = [Fraction(0)] * len(compiled.instance.workloads)
    if Family.RATES in compiled.model.ignore:
        for (block, _, _), count in assignment.counts.items():
            workload = compiled.instance.workloads[compiled.blocks[block].workload]
            rates[workload.index] += workload.rate * count
        return rates
    granted = granted_limit(compiled, assignment)
    for key, count in assignment.counts.items():
        block, option, node = key
        workload = compiled.instance.workloads[compiled.blocks[block].workload]
        if not workload.rate or not count:
            continue
        work = (
            workload.modes[int(compiled.option_mode[option])].demand(compiled.kinds[int(compiled.node_kind[node])]).work
        )
        limited = workload.rate * granted.get(block, Fraction(1))
        needs = [(name, need) for name, need in work.compute.items() if need > 0]
        held = [(name, need * (workload.residence or 0)) for name, need in work.memory.items()]
        totals = {
            name: share_of(compiled, assignment.counts, assignment.shares, key, compiled.resources.index(name))
            for name, need in (*needs, *held)
            if need > 0
        }
        # members differ by at most one unit of each resource: walk the few distinct members
        cuts = sorted({0, count, *(total % count for total in totals.values())})
        for first, end in pairwise(cuts):
            rate = limited
            for name, need in needs:
                amount = totals[name] // count + (1 if first < totals[name] % count else 0)
                usable = min(amount * Fraction(10) ** compiled.instance.resources[name].exponent, workload.parallel)
                rate = min(rate, usable / need)
            for name, need in held:
                if need > 0:
                    amount = totals[name] // count + (1 if first < totals[name] % count else 0)
                    rate = min(rate, amount * Fraction(10) ** compiled.instance.resources[name].exponent / need)
            rates[workload.index] += rate * (end - first)
    return rates
