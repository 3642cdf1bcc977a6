"""Families ``capacity`` and ``pool`` (equations 4, 5) with ``transient``; the draw of nodes counts in capacities."""

from __future__ import annotations

import numpy as np

from allocator.solvers.cpsat import power, transient
from allocator.solvers.cpsat.derived import positive_part
from allocator.solvers.cpsat.linear import Linear, Number, total
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """U_dr <= C_dr wherever a limit holds; pools instead of the limits of the nodes below them."""
    compiled = symbols.compiled
    for domain, resource in zip(*np.nonzero(compiled.limit >= 0), strict=True):
        symbols.budget.check()
        name = compiled.resources[resource]
        used = total(_counted(symbols, node, int(resource)) for node in symbols.nodes_of(int(domain)))
        if name == "power":
            watts_of_nodes = total(power.draw(symbols, node) for node in symbols.nodes_of(int(domain)))
            used = used.plus(watts_of_nodes, 1 / symbols.base(int(resource)))
        upper: Number = int(compiled.limit[domain, resource])
        watts = compiled.power_limit[domain]
        if name == "power" and watts is not None:
            upper = watts / symbols.base(int(resource))  # the draw at an overfull start need not be whole
        symbols.builder.add(used, f"the use of {name}", upper=upper)
    for domain, resource in zip(*np.nonzero(compiled.pool_limit >= 0), strict=True):
        symbols.budget.check()
        _add_pool(symbols, int(domain), int(resource))


def _counted(symbols: Symbols, node: int, resource: int) -> Linear:
    """Use of a node by shares that counts against capacities at or above it, amounts."""
    used = symbols.node_use(node, resource)
    left = transient.left_behind(symbols, node, resource)
    return used if left is None else used.plus(left)


def _add_pool(symbols: Symbols, domain: int, resource: int) -> None:
    """Sum of max(0, U_hr - C_hr) over the nodes of the pool's domain <= P_dr."""
    compiled = symbols.compiled
    where = f"the pool of {compiled.resources[resource]}"
    drawn = Linear()
    for node in symbols.nodes_of(domain):
        own = max(0, int(compiled.capacity[compiled.node_domain[node], resource]))
        over = _counted(symbols, node, resource).plus(-own)
        drawn.add_scaled(positive_part(symbols.builder, over, where))
    symbols.builder.add(drawn, where, upper=int(compiled.pool_limit[domain, resource]))
