"""Equation (3), ``shares``: every share lies between floor and ceiling, and above the floor only where that can pay."""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.checker.standing import Batch
from allocator.instance.entities import WorkloadClass
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["shares"]


def shares(situation: Situation) -> Iterator[Violation]:
    """One violation for each batch and resource whose share is out of its range."""
    known: dict[tuple[int, int, str, str], _Range] = {}
    nodes = situation.instance.nodes
    for batch in situation.standing.batches:
        if not batch.count:
            continue
        kind = str(nodes[batch.node].kind)
        demand = batch.demand(situation.instance)
        floors = demand.requests
        if batch.shares == floors and not demand.limits:
            continue
        for resource in dict.fromkeys((*floors, *batch.shares)):
            key = (batch.workload, batch.mode, kind, resource)
            if key not in known:
                known[key] = _range(situation, batch, resource)
            floor, ceiling, by_node = known[key]
            share = batch.shares.get(resource, 0)
            if share < floor:
                yield _violation(situation, batch, resource, share=share, limit=floor, message="below the floor")
                continue
            if by_node and share > floor:
                ceiling = _capacity_above(situation, batch, resource, floor)
            if ceiling is not None and share > ceiling:
                message = "above the floor, which it may not exceed," if ceiling == floor else "above the ceiling"
                yield _violation(situation, batch, resource, share=share, limit=ceiling, message=message)


_Range = tuple[int, int | None, bool]
"""Floor, ceiling (None: nothing limits the share), and whether the ceiling depends on the node instead."""


def _range(situation: Situation, batch: Batch, resource: str) -> _Range:
    """Range of the share of members of a class in a mode on a kind of node."""
    demand = batch.demand(situation.instance)
    floor = demand.requests.get(resource, 0)
    if not _may_exceed_floor(situation, situation.instance.workloads[batch.workload], resource):
        return floor, floor, False
    stated = demand.limits.get(resource)
    return floor, stated, stated is None


def _capacity_above(situation: Situation, batch: Batch, resource: str, floor: int) -> int | None:
    """Ceiling that is not stated: what the nearest domain has; None when none says."""
    instance = situation.instance
    pooled = 0
    for domain in instance.ancestors(instance.nodes[batch.node]):
        if situation.holds(Family.POOL):
            pooled += domain.pool.get(resource, 0)
    for domain in instance.ancestors(instance.nodes[batch.node]):
        if resource in domain.capacity:
            return max(floor, domain.capacity[resource] + (pooled if domain.is_node else 0))
    return None


def _may_exceed_floor(situation: Situation, workload: WorkloadClass, resource: str) -> bool:
    """Whether a share above the floor can pay: for rates, or for a target on the response time."""
    if situation.model.has_rate_goals:
        return resource in _worked_with(workload)
    if workload.slo.p99 is None or not situation.holds(Family.SLO):
        return False
    demands = [demand for mode in workload.modes for demand in (mode.default, *mode.by_kind.values())]
    return any(demand.work.compute.get(resource, 0) > 0 for demand in demands)


def _worked_with(workload: WorkloadClass) -> set[str]:
    """Resources that the class has work on, in any mode and on any kind."""
    return {
        resource
        for mode in workload.modes
        for demand in (mode.default, *mode.by_kind.values())
        for resource in (*demand.work.compute, *demand.work.memory)
    }


def _violation(situation: Situation, batch: Batch, resource: str, *, share: int, limit: int, message: str) -> Violation:
    instance = situation.instance
    text = (
        f"{batch.count} members on {instance.nodes[batch.node].path}: {resource} share "
        f"{situation.told_amount(resource, share)} is {message} {situation.told_amount(resource, limit)}"
    )
    name = instance.workloads[batch.workload].name
    return Violation(Family.SHARES, name, text, situation.base(resource, abs(share - limit)))
