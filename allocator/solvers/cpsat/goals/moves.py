"""Goal ``moves`` (equation 24)."""

from __future__ import annotations

from allocator.instance.entities import MoveCosts
from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import largest
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Process, service and machine costs of the members that leave the node they run on now."""
    compiled = symbols.compiled
    costs = compiled.instance.moves or MoveCosts()
    paths = [node.path for node in compiled.instance.nodes]
    value = Linear()
    by_group: dict[str, Linear] = {}
    for block in compiled.blocks:
        if block.current_node < 0:
            continue
        workload = compiled.instance.workloads[block.workload]
        moved = symbols.moved(block.index)
        value.add_scaled(moved, costs.process * workload.move_cost)
        by_group.setdefault(workload.group, Linear()).add_scaled(moved)
        for _, node, variable in symbols.of_block[block.index]:
            if node != block.current_node:
                cost = costs.machine_cost.get((paths[block.current_node], paths[node]), 0)
                value.add(variable, costs.machine * cost)
    if by_group and costs.service:
        value.add_scaled(largest(symbols.builder, list(by_group.values()), "the goal moves"), costs.service)
    return value
