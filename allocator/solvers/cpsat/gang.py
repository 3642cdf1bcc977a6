"""Family ``gang`` (equation 9): r[d, o] gangs in domain d in one mode; wrap-around dealing makes the counts exact."""

from __future__ import annotations

from collections.abc import Sequence

from allocator.compiled.entities import GangUnit
from allocator.solvers.cpsat.builder import Definition
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """Per unit, domain and option: sum of n = size * r, and on each node n <= r; nothing outside the level."""
    for unit in symbols.compiled.gangs:
        symbols.budget.check()
        _add_unit(symbols, unit)


def _add_unit(symbols: Symbols, unit: GangUnit) -> None:
    builder, where = symbols.builder, "the size of a gang"
    domains = [domain.index for domain in symbols.compiled.outermost(unit.level)]
    gangs = Linear()
    for option in symbols.compiled.options_of(unit.workload):
        per_node: dict[int, Linear] = {}
        for block in unit.blocks:
            for o, node, variable in symbols.of_block[block]:
                if o == option:
                    per_node.setdefault(node, Linear()).add(variable, 1)
        for domain in domains:
            inside = {node: per_node.pop(node) for node in symbols.nodes_of(domain) if node in per_node}
            members = Linear()
            for count in inside.values():
                members.add_scaled(count)
            replicas = builder.integer(0, unit.replicas, where, _divided(members, unit.size))
            gangs.add(replicas, 1)
            builder.add(members.plus(Linear().add(replicas, unit.size), -1), where, lower=0, upper=0)
            for count in inside.values():
                builder.add(count.plus(Linear().add(replicas, 1), -1), where, upper=0)
        for count in per_node.values():
            builder.add(count, where, upper=0)
    builder.add(gangs, where, upper=unit.replicas)


def _divided(members: Linear, size: int) -> Definition:
    def define(values: Sequence[int]) -> int:
        return int(members.value(values)) // size

    return define
