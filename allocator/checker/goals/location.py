"""Goals on where members stand: ``placed`` (15), ``cost`` (19), ``moves`` (24), ``nodes`` (25) and ``power`` (26)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from allocator.checker.situation import Situation
from allocator.checker.standing import NOWHERE
from allocator.instance.entities import Domain, WorkloadClass
from allocator.model.entities import Goal

__all__ = ["cost", "moves", "nodes", "placed", "power"]

ZERO = Fraction(0)


def placed(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Summed value of the placed members."""
    workloads = situation.instance.workloads
    return sum((workload.value * situation.standing.num_placed(workload.index) for workload in workloads), ZERO)


def cost(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Summed cost of the placed members at their nodes."""
    instance = situation.instance
    return sum(
        (
            batch.count * _cost_at(instance.workloads[batch.workload], instance.nodes[batch.node])
            for batch in situation.standing.batches
        ),
        ZERO,
    )


def moves(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Process, group and machine costs of the members that leave their node."""
    instance, costs = situation.instance, situation.move_costs
    by_member = by_machine = ZERO
    by_group: Counter[str] = Counter()
    for move in situation.moved:
        workload = instance.workloads[move.workload]
        by_member += workload.move_cost
        by_group[workload.group] += 1
        if move.target != NOWHERE:
            ends = instance.nodes[move.source].path, instance.nodes[move.target].path
            by_machine += costs.machine_cost.get(ends, ZERO)
    most = max(by_group.values(), default=0)
    return costs.process * by_member + costs.service * most + costs.machine * by_machine


def nodes(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Summed weight of the nodes in use."""
    return sum((node.weight for node in situation.instance.nodes if situation.usage.members[node.index]), ZERO)


def power(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Watts that the nodes in use draw."""
    return situation.usage.watts[0]  # domain 0 is the root


def _cost_at(workload: WorkloadClass, node: Domain) -> Fraction:
    """Cost of a member at a node: by its path, else its kind, else the default, else 0."""
    for key in (node.path, str(node.kind), "default"):
        if key in workload.cost:
            return workload.cost[key]
    return ZERO
