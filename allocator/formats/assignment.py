"""A plan as a plain list of node numbers, the way the classical formats state an answer.

One line a member: the number of its node, counted from 0 in the order of the instance. Members stand in the order of
the classes, and of their numbers within a class. For a converted file these are its own rows and columns.
"""

from __future__ import annotations

from pathlib import Path

from allocator.errors import InputError, Problem
from allocator.instance.entities import Instance
from allocator.plan.entities import Plan
from allocator.plan.whole import write_whole

__all__ = ["write_assignment"]


def write_assignment(plan: Plan, instance: Instance, path: Path) -> None:
    """Write where every member stands.

    Raises
    ------
    InputError
        The file cannot be written, a member has no node, or plan and instance do not belong together.
    """
    first_of: dict[str, int] = {}
    total = 0
    for workload in instance.workloads:
        first_of[workload.name] = total
        total += workload.count
    nodes: list[int | None] = [None] * total
    for placement in plan.placements:
        for offset in range(placement.count):
            node = placement.node_of(offset)
            count = instance.workload_by_name[placement.workload].count if placement.workload in first_of else 0
            if node not in instance.node_index or placement.first + offset >= count:
                message = f"{placement.workload}[{placement.first + offset}] on {node} is not of this instance"
                raise InputError(plan.instance_name, [Problem("placements", None, message)])
            nodes[first_of[placement.workload] + placement.first + offset] = instance.node_index[node]
    missing = sum(node is None for node in nodes)
    if missing:
        message = f"{missing} of {total} members have no node; an assignment file needs one for each"
        raise InputError(plan.instance_name, [Problem("placements", None, message)])
    write_whole(path, "".join(f"{node}\n" for node in nodes).encode())
