"""Watts drawn in every domain (equation 12), exact."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.use import Counts, Shares, node_use

__all__ = ["domain_watts", "node_watts", "watts_of_use"]


def node_watts(compiled: Compiled, node: int, use: list[int]) -> Fraction:
    """Draw of a node in use. ``use``: amounts by resource."""
    power = compiled.instance.nodes[node].power
    if power is None:
        return Fraction(0)
    r = int(compiled.compute_resource[node])
    if r < 0:
        return power.idle
    capacity = int(compiled.capacity[compiled.node_domain[node], r])
    return power.idle + (power.busy - power.idle) * Fraction(use[r], capacity)


def domain_watts(compiled: Compiled, counts: Counts, shares: Shares, *, transient: bool = False) -> list[Fraction]:
    """Draw of the nodes in use and the members' own power shares, by domain.

    With ``transient``, plus the power that members which leave still hold (equation 8).
    """
    use = node_use(compiled, counts, shares)
    held = node_use(compiled, counts, shares, transient=transient)
    in_use = {node for (_, _, node), count in counts.items() if count}
    return watts_of_use(compiled, in_use, use, held)


def watts_of_use(
    compiled: Compiled, in_use: Collection[int], use: list[list[int]], held: list[list[int]]
) -> list[Fraction]:
    """Draw by domain of the use U[N][R] of nodes; ``held``: with what members that leave still hold."""
    p = compiled.resources.index("power") if "power" in compiled.resources else -1
    unit = Fraction(10) ** compiled.instance.resources["power"].exponent if p >= 0 else Fraction(1)
    total = [Fraction(0)] * compiled.num_domains
    for node in range(compiled.num_nodes):
        watts = node_watts(compiled, node, use[node]) if node in in_use else Fraction(0)
        watts += held[node][p] * unit if p >= 0 else 0
        total[int(compiled.node_domain[node])] = watts
    for domain in range(compiled.num_domains - 1, 0, -1):  # preorder: children come after their parent
        if total[domain]:
            total[int(compiled.parent[domain])] += total[domain]
    return total
