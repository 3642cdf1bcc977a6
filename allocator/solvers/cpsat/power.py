"""The draw of nodes (equation 12); its cap stands among the capacities, its sum among the goals."""

from __future__ import annotations

from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["draw"]


def draw(symbols: Symbols, node: int) -> Linear:
    """Watts of a node: idle + (busy - idle) U_hr / C_hr when it is in use, else 0."""
    compiled = symbols.compiled
    domain = int(compiled.node_domain[node])
    stated = compiled.instance.domains[domain].power
    watts = Linear()
    in_use = symbols.in_use(node) if stated is not None else None
    if stated is None or in_use is None:
        return watts
    watts.add(in_use, stated.idle)
    resource = int(compiled.compute_resource[node])
    if resource >= 0:
        capacity = int(compiled.capacity[domain, resource])
        watts.add_scaled(symbols.node_use(node, resource), (stated.busy - stated.idle) / capacity)
    return watts
