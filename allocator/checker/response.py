"""Response times (equation 13): a member as an M/M/1 server, P99 = ln(100) / (u / c - lambda) + D seconds.

Owns the formula and its constant, and which classes it is defined for. Knows no targets and no goal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from allocator.checker.latency import Delays
from allocator.checker.link_delay import LN_100
from allocator.checker.standing import NOWHERE, Batch, Standing
from allocator.instance.entities import Demand, Instance, WorkloadClass
from allocator.plan.numbers import base_units

__all__ = ["LN_100", "Response", "Server", "compute_work", "is_served", "misfits", "responses_of"]

HEADROOM = Fraction(101, 100)
"""Stability: compute for at least 1 % more tasks than arrive."""


@dataclass(frozen=True, slots=True)
class Server:
    """Members of one class in one mode on one kind of node, as servers of tasks.

    Attributes
    ----------
    unit : of the share, in base units.
    per_task : c, core-seconds.
    least : compute in base units below which a member is not stable; one unit where nothing arrives.
    """

    workload: WorkloadClass
    resource: str
    unit: Fraction
    per_task: Fraction
    least: Fraction
    least_share: int
    most_share: int

    def usable(self, share: int) -> Fraction:
        """u, compute in base units that a member with that share can use."""
        return min(share * self.unit, self.workload.parallel)

    def mean(self, share: int) -> Fraction | None:
        """Mean sojourn time 1 / (u / c - lambda) in s; None where the compute does not keep up with what arrives."""
        if share < self.least_share or self.workload.parallel < self.least:
            return None
        rate, each = self.workload.rate, self.per_task
        usable = share * self.unit if share <= self.most_share else self.workload.parallel
        # over one common denominator: this is evaluated for every share there is
        speed, slowing = usable.numerator * each.denominator, usable.denominator * each.numerator
        spare = speed * rate.denominator - rate.numerator * slowing
        return Fraction(slowing * rate.denominator, spare)


@dataclass(frozen=True, slots=True)
class Response:
    """``count`` members of one batch with one path delay D in s."""

    server: Server
    batch: Batch
    share: int
    delay: Fraction
    count: int

    @property
    def p99(self) -> Fraction | None:
        """Seconds; None where the compute does not keep up with what arrives."""
        mean = self.server.mean(self.share)
        return None if mean is None else LN_100 * mean + self.delay


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


def responses_of(instance: Instance, standing: Standing, delays: Delays) -> Iterator[tuple[Response, ...]]:
    """Response times of the placed members of every class that asks for them and has them.

    Yield
    -----
    tuple of Response
        Those of one server at one path delay, by share: no later one takes longer.
    """
    for workload in instance.workloads:
        if not is_served(workload) or misfits(instance, workload) is not None:
            continue
        servers: dict[tuple[int, str], Server] = {}
        found: dict[tuple[int, str, int], list[tuple[int, int, int]]] = {}
        members = zip(standing.batch_of[workload.index], delays.units(workload.index), strict=True)
        for (number, delay), count in Counter(members).items():
            if number == NOWHERE:
                continue
            batch = standing.batches[number]
            kind = str(instance.nodes[batch.node].kind)
            if (batch.mode, kind) not in servers:
                servers[batch.mode, kind] = _server(instance, workload, batch)
            share = batch.shares.get(servers[batch.mode, kind].resource, 0)
            found.setdefault((batch.mode, kind, delay), []).append((share, number, count))
        for (mode, kind, delay), alike in found.items():
            server, seconds = servers[mode, kind], Fraction(delay, delays.scale)
            alike.sort()
            yield tuple(
                [Response(server, standing.batches[number], share, seconds, count) for share, number, count in alike]
            )


def _server(instance: Instance, workload: WorkloadClass, batch: Batch) -> Server:
    ((resource, per_task),) = compute_work(batch.demand(instance))
    unit = base_units(1, instance.resources[resource].exponent)
    least = workload.rate * per_task * HEADROOM if workload.rate else unit
    return Server(workload, resource, unit, per_task, least, ceil(least / unit), floor(workload.parallel / unit))
