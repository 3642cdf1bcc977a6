"""Completed rates of an assignment (equation 6), exact. One total for each (block, option, node)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.loads import flow_keys

__all__ = ["class_rates", "granted_limit"]

ONE = Fraction(1)


def granted_limit(compiled: Compiled, assignment: Assignment) -> dict[int, Fraction]:
    """Smallest granted fraction over the flows of each block; 1 without flows or when the fabric is ignored."""
    least: dict[int, Fraction] = {}
    if Family.FABRIC in compiled.model.ignore:
        return least
    for key, rate, sources, targets in flow_keys(compiled):
        if not rate:
            continue
        theta = assignment.theta.get(key, Fraction(0))
        if theta == 1:
            continue
        for block in {*sources, *targets}:
            if theta < least.get(block, ONE):
                least[block] = theta
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
    kinds: list[int] = compiled.node_kind.tolist()
    laws: dict[tuple[int, int], _Law] = {}
    alike: dict[tuple[int, int, Fraction, int, tuple[int, ...]], int] = {}
    for key, count in assignment.counts.items():
        block, option, node = key
        where = option, kinds[node]
        law = laws.get(where)
        if law is None:
            law = laws[where] = _law_of(compiled, *where)
        if law.rate and count:
            totals = tuple(
                assignment.shares.get((*key, r), floor * count)
                for r, floor in zip(law.resources, law.floors, strict=True)
            )
            spot = (*where, granted.get(block, ONE), count, totals)
            alike[spot] = alike.get(spot, 0) + 1
    for (option, kind, theta, count, totals), number in alike.items():
        law = laws[option, kind]
        rates[law.workload] += number * law.completed(theta, count, totals)
    return rates


@dataclass(frozen=True, slots=True)
class _Law:
    """Equation (6) for one member in a mode on a kind of node: q <= share * speed for each of ``resources``."""

    workload: int
    rate: Fraction
    resources: tuple[int, ...]
    floors: tuple[int, ...]
    speeds: tuple[Fraction, ...]  # tasks/s per integer unit
    most: Fraction  # tasks/s that ``parallel`` allows, and no more than are offered

    def completed(self, theta: Fraction, count: int, totals: tuple[int, ...]) -> Fraction:
        """Tasks/s of ``count`` members with those totals: they differ by at most one unit of each resource."""
        limited = min(self.rate * theta, self.most)
        done = Fraction(0)
        for first, end in pairwise(sorted({0, count, *(total % count for total in totals)})):
            rate = limited
            for total, speed in zip(totals, self.speeds, strict=True):
                rate = min(rate, (total // count + (1 if first < total % count else 0)) * speed)
            done += rate * (end - first)
        return done


def _law_of(compiled: Compiled, option: int, kind: int) -> _Law:
    workload = compiled.instance.workloads[int(compiled.option_workload[option])]
    work = workload.modes[int(compiled.option_mode[option])].demand(compiled.kinds[kind]).work
    needs = {name: need for name, need in work.compute.items() if need > 0}
    most = min([workload.rate, *(workload.parallel / need for need in needs.values())])
    held = {name: need * (workload.residence or 0) for name, need in work.memory.items()}
    limits = [*needs.items(), *((name, need) for name, need in held.items() if need > 0)]
    resources = tuple(compiled.resources.index(name) for name, _ in limits)
    return _Law(
        workload.index,
        workload.rate,
        resources,
        tuple(int(compiled.floor[option, kind, r]) for r in resources),
        tuple(Fraction(10) ** compiled.instance.resources[name].exponent / need for name, need in limits),
        most,
    )
