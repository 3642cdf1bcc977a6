"""A plan as a plain list of node numbers, the way the classical formats state an answer.

A number for each member: that of its node, counted from 0 in the order of the instance. Members stand in the order of
the classes, and of their numbers within a class. For a converted file these are its own rows and columns.
"""

from __future__ import annotations

from pathlib import Path

from allocator.errors import InputError, Problem
from allocator.instance.entities import Instance
from allocator.plan.entities import Plan
from allocator.plan.whole import write_whole

__all__ = ["write_assignment", "write_assignment_row"]


def write_assignment(plan: Plan, instance: Instance, path: Path) -> None:
    """Write where every member stands, one line a member.

    Raises
    ------
    InputError
        The file cannot be written, a member has no node, or plan and instance do not belong together.
    """
    write_whole(path, "".join(f"{node}\n" for node in _nodes(plan, instance)).encode())


def write_assignment_row(plan: Plan, instance: Instance, path: Path) -> None:
    """Write where every member stands, all in one line; raises as ``write_assignment`` does."""
    write_whole(path, (" ".join(map(str, _nodes(plan, instance))) + "\n").encode())


def _nodes(plan: Plan, instance: Instance) -> list[int]:
    """Number of each member's node."""
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
    stated = [node for node in nodes if node is not None]
    if len(stated) < total:
        message = f"{total - len(stated)} of {total} members have no node; an assignment file needs one for each"
        raise InputError(plan.instance_name, [Problem("placements", None, message)])
    return stated
