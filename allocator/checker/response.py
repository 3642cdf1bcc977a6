"""Response times (equation 13): a member as an M/M/1 server, P99 = ln(100) / (u / c - lambda) + D seconds.

Owns the formula and its constant, and which classes it is defined for. Knows no targets and no goal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from allocator.checker.latency import Delays
from allocator.checker.standing import NOWHERE, Batch, Standing
from allocator.instance.entities import Demand, Instance, WorkloadClass
from allocator.plan.numbers import base_units

__all__ = ["LN_100", "Response", "compute_work", "is_served", "least_compute", "misfits", "responses_of"]

LN_100 = Fraction(4605170185988091368035982909368728415203, 10**39)
"""ln 100 to 40 digits, rounded up."""

HEADROOM = Fraction(101, 100)
"""Stability: compute for at least 1 % more tasks than arrive."""


@dataclass(frozen=True, slots=True)
class Response:
    """``count`` members of one batch with one path delay.

    Attributes
    ----------
    usable : u, compute in base units that one of them can use.
    delay : D, s.
    p99 : s; None where the compute does not keep up with what arrives.
    """

    workload: int
    batch: Batch
    usable: Fraction
    delay: Fraction
    p99: Fraction | None
    count: int


def is_served(workload: WorkloadClass) -> bool:
    """Whether response times of the class are asked for."""
    return workload.slo.p99 is not None or workload.slo.critical


def compute_work(demand: Demand) -> list[tuple[str, Fraction]]:
    """Compute resources that a task needs, with core-seconds."""
    return [(name, each) for name, each in demand.work.compute.items() if each > 0]


def misfits(instance: Instance, workload: WorkloadClass) -> str | None:
    """Why response times of a class are not defined, in two words; None when they are."""
    kinds = dict.fromkeys(str(node.kind) for node in instance.nodes)
    numbers = {len(compute_work(mode.demand(kind))) for mode in workload.modes for kind in kinds}
    if numbers <= {1}:
        return None
    return "several compute resources" if max(numbers) > 1 else "no compute resource"


def least_compute(workload: WorkloadClass, per_task: Fraction, unit: Fraction) -> Fraction:
    """Compute below which a member is not stable; one ``unit`` where nothing arrives."""
    return workload.rate * per_task * HEADROOM if workload.rate else unit


def responses_of(instance: Instance, standing: Standing, delays: Delays) -> Iterator[Response]:
    """Response times of the placed members of every class that asks for them and has them."""
    for workload in instance.workloads:
        if not is_served(workload) or misfits(instance, workload) is not None:
            continue
        counts: Counter[tuple[int, Fraction]] = Counter()
        for member, number in enumerate(standing.batch_of[workload.index]):
            if number != NOWHERE:
                counts[number, delays.of(workload.index, member)] += 1
        for (number, delay), count in counts.items():
            batch = standing.batches[number]
            ((resource, per_task),) = compute_work(batch.demand(instance))
            exponent = instance.resources[resource].exponent
            usable = min(base_units(batch.shares.get(resource, 0), exponent), workload.parallel)
            stable = usable >= least_compute(workload, per_task, base_units(1, exponent))
            p99 = LN_100 / (usable / per_task - workload.rate) + delay if stable else None
            yield Response(workload.index, batch, usable, delay, p99, count)
