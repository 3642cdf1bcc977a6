"""Equation (9), ``gang``: t members, consecutive in number, on distinct nodes of one domain, in one mode.

A gang is placed whole or not at all (equation 1). Members left over when the class does not divide by t are no gang
and stay unplaced.
"""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.checker.standing import NOWHERE
from allocator.instance.entities import Gang, WorkloadClass
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["gang"]


def gang(situation: Situation) -> Iterator[Violation]:
    """Gangs torn apart, doubled up on a node, in several modes or across domains."""
    for workload in situation.instance.workloads:
        rule = workload.placement.gang
        if rule is None:
            continue
        holders = situation.holders(rule.level)
        for first in range(0, workload.count, rule.size):
            message = _problem(situation, workload, rule, first, holders)
            if message is not None:
                where = f"{workload.name}/{first}"
                yield Violation(Family.GANG, where, f"gang of members {first} to {first + rule.size - 1}: {message}")


def _problem(
    situation: Situation, workload: WorkloadClass, rule: Gang, first: int, holders: tuple[tuple[int, ...], ...]
) -> str | None:
    """What is wrong with a gang; None when nothing is."""
    standing = situation.standing
    numbers = standing.batch_of[workload.index][first : first + rule.size]
    batches = [standing.batches[number] for number in numbers if number != NOWHERE]
    if not batches:
        return None
    nodes = {batch.node for batch in batches}
    if len(batches) < rule.size:
        return f"{len(batches)} of {rule.size} are placed: must be all or none"
    if len(nodes) < len(batches):
        return f"{len(batches)} members on {len(nodes)} nodes: must be distinct"
    if len({batch.mode for batch in batches}) > 1:
        return "several modes: must be one"
    if not set.intersection(*(set(holders[node]) for node in nodes)):
        return f"not within one domain of level {rule.level}"
    return None
