"""What keeps the members of a class from all the tasks they are offered, by equation (6). Reads instance and shares.

Knows no layout, and no traffic: what links do not grant is what remains when shares explain less than is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from allocator.instance.entities import Demand, Instance, WorkloadClass
from allocator.plan.numbers import base_units
from allocator.report.format import amount, number

__all__ = ["most_by_shares", "parallel_notes"]


def most_by_shares(
    instance: Instance, workload: WorkloadClass, demand: Demand, shares: Mapping[str, int]
) -> tuple[Fraction, str | None]:
    """Tasks/s that one member completes with these shares, and what holds it below its offer, None if nothing does.

    Parameters
    ----------
    shares : amounts by resource; a missing one is 0.
    """
    most, why = workload.rate, None
    for name, each in demand.work.compute.items():
        if each <= 0:
            continue
        share = base_units(shares.get(name, 0), instance.resources[name].exponent)
        rate = min(share, workload.parallel) / each
        if rate < most:
            most = rate
            if share >= workload.parallel:
                why = f"parallel: at most {_of(instance, name, workload.parallel)} at a time"
            else:
                why = _by_share(instance, demand, name, shares)
    for name, each in demand.work.memory.items():
        held = each * (workload.residence or 0)
        if held <= 0:
            continue
        rate = base_units(shares.get(name, 0), instance.resources[name].exponent) / held
        if rate < most:
            most, why = rate, _by_share(instance, demand, name, shares)
    return most, why


def _by_share(instance: Instance, demand: Demand, name: str, shares: Mapping[str, int]) -> str:
    limit = demand.limits.get(name)
    if limit is not None and shares.get(name, 0) >= limit:
        return f"limits: at most {_of(instance, name, base_units(limit, instance.resources[name].exponent))}"
    return f"{name}: shares too small"


def _of(instance: Instance, name: str, value: Fraction) -> str:
    return f"{amount(value, instance.resources[name].unit)} of {name}"


def parallel_notes(instance: Instance) -> tuple[str, ...]:
    """A sentence for each class that can never complete its offer, in any mode or kind of node, by its ``parallel``."""
    found = []
    kinds = sorted({str(node.kind) for node in instance.nodes})
    for workload in instance.workloads:
        slowest = [_slowest(mode.demand(kind)) for mode in workload.modes for kind in kinds]
        if not workload.rate or any(work is None for work in slowest):
            continue
        each, name = min((work for work in slowest if work is not None), default=(Fraction(0), ""))
        if workload.rate * each > workload.parallel:
            found.append(
                f"{workload.name}: a member uses at most {_of(instance, name, workload.parallel)} at a time (parallel, "
                f"1 if not stated), which completes {number(workload.parallel / each)} of the {number(workload.rate)} "
                "tasks/s it is offered"
            )
    return tuple(found)


def _slowest(demand: Demand) -> tuple[Fraction, str] | None:
    """Most work of a task on one compute resource, and which; None without such work."""
    works = [(each, name) for name, each in demand.work.compute.items() if each > 0]
    return max(works, default=None)
