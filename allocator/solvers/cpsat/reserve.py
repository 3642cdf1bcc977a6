"""Family ``reserve`` (equation 11): free capacity outside a domain covers what stands in it, by kind and resource."""

from __future__ import annotations

from allocator.model.families import Family
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """Sum over nodes of kind k outside d of (C_hr - F_hr) >= sum over nodes of kind k in d of F_hr."""
    compiled = symbols.compiled
    if not symbols.holds(Family.RESERVE):
        return
    for reserve in compiled.instance.reserves:
        node_rows = compiled.capacity[compiled.node_domain]
        names = reserve.resources or [
            name for r, name in enumerate(compiled.resources) if compiled.num_nodes and (node_rows[:, r] >= 0).any()
        ]
        for domain in compiled.instance.domains_of(reserve.level):
            symbols.budget.check()
            for name in names:
                for kind in range(len(compiled.kinds)):
                    _add_row(symbols, domain.index, compiled.resources.index(name), kind)


def _add_row(symbols: Symbols, domain: int, resource: int, kind: int) -> None:
    compiled = symbols.compiled
    inside = symbols.nodes_of(domain)
    spare = Linear()
    for node in range(compiled.num_nodes):
        if compiled.node_kind[node] != kind:
            continue
        if node in inside:
            spare.add_scaled(symbols.node_floors(node, resource), -1)
            continue
        capacity = int(compiled.capacity[compiled.node_domain[node], resource])
        if capacity >= 0:
            spare.constant += capacity
            spare.add_scaled(symbols.node_floors(node, resource), -1)
    symbols.builder.add(spare, f"the reserve of {compiled.resources[resource]}", lower=0)
