"""Family ``move_limit`` (equation 10)."""

from __future__ import annotations

from allocator.model.families import Family
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """At most so many members, or bytes, leave the node they run on now."""
    compiled = symbols.compiled
    limits = compiled.instance.moves
    if limits is None or not symbols.holds(Family.MOVE_LIMIT):
        return
    memory = compiled.resources.index("memory") if "memory" in compiled.resources else -1
    members, amount = Linear(), Linear()
    for block in compiled.blocks:
        if block.current_node < 0:
            continue
        moved = symbols.moved(block.index)
        members.add_scaled(moved)
        if memory >= 0:
            kind = compiled.node_kind[block.current_node]
            amount.add_scaled(moved, int(compiled.floor[block.current_option, kind, memory]))
    if limits.limit_members is not None:
        symbols.builder.add(members, "the number of moves", upper=limits.limit_members)
    if limits.limit_bytes is not None:
        symbols.builder.add(amount, "the memory of moved members", upper=limits.limit_bytes)
