"""Families ``assignment`` and ``eligibility`` (equations 1, 2): counts of members, teams whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from allocator.solvers.cpsat.builder import Definition
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols, most_members

__all__ = ["add_counts", "add_rows"]


def add_counts(symbols: Symbols) -> None:
    """Make n[b, o, h] where it may be positive."""
    compiled = symbols.compiled
    symbols.on_node = [[] for _ in range(compiled.num_nodes)]
    symbols.of_block = [[] for _ in compiled.blocks]
    for block in compiled.blocks:
        for option in compiled.options_of(block.workload):
            symbols.budget.check()
            for node in range(compiled.num_nodes):
                most = most_members(compiled, block.index, option, node)
                if most > 0:
                    variable = symbols.builder.integer(0, most, "the size of a class")
                    symbols.n[block.index, option, node] = variable
                    symbols.on_node[node].append((block.index, option, variable))
                    symbols.of_block[block.index].append((option, node, variable))


def add_rows(symbols: Symbols) -> None:
    """Every member is placed, or may be left out; a team as a whole."""
    compiled, builder = symbols.compiled, symbols.builder
    may_leave_out = compiled.model.may_leave_out
    for block in compiled.blocks:
        least = 0 if may_leave_out else block.count
        builder.add(symbols.placed(block.index), "the size of a class", lower=least, upper=block.count)
    if not may_leave_out:
        return
    for team in compiled.teams:
        symbols.budget.check()
        if not team.blocks:
            continue
        first = team.blocks[0]
        whole = builder.integer(0, 1, "a team", _placed(symbols.placed(first)))
        for index in team.blocks:
            row = symbols.placed(index).plus(Linear().add(whole, compiled.blocks[index].count), -1)
            builder.add(row, "the size of a team", lower=0, upper=0)


def _placed(count: Linear) -> Definition:
    def define(values: Sequence[int]) -> int:
        return 1 if count.value(values) > 0 else 0

    return define
