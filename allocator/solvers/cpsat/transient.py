"""Family ``transient`` (equation 8): what a member that leaves still holds on its old node."""

from __future__ import annotations

from allocator.model.families import Family
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["left_behind"]


def left_behind(symbols: Symbols, node: int, resource: int) -> Linear | None:
    """Old floors of the members that ran on the node and no longer do, amounts; None where there is nothing."""
    compiled = symbols.compiled
    entity = compiled.instance.resources[compiled.resources[resource]]
    if not entity.transient or not symbols.holds(Family.TRANSIENT):
        return None
    left = Linear()
    for block in compiled.blocks:
        if block.current_node == node:
            floor = int(compiled.floor[block.current_option, compiled.node_kind[node], resource])
            left.add_scaled(symbols.moved(block.index), floor)
    return left
