"""Domains that are alike in one order: of the plans that differ by exchanging them, one is kept.

Two siblings of the tree are alike when they have the same capacities and links and, in order, alike children, and the
same members may stand on their nodes; no rule and no goal of the model may tell them apart. Rows: members in one >=
members in the next. Exchanging whole subtrees leaves every sum as it is, so every plan can be put in this order, from
the top of the tree down; exchanging whole teams afterwards (``team_order``) keeps it, since totals stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from allocator.instance.entities import Domain
from allocator.model.families import Family, GoalId
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.rows import Rows
from allocator.solvers.support import used_families

__all__ = ["in_sibling_order", "order_siblings"]

Counts = Mapping[tuple[int, int, int], int]
Chains = list[tuple[int, ...]]

FAMILIES = {
    Family.ASSIGNMENT,
    Family.ELIGIBILITY,
    Family.SHARES,
    Family.CAPACITY,
    Family.FABRIC,
    Family.RATES,
    Family.SLO,
    Family.LINK_LOAD,
}
GOALS = {GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.PLACED}


def order_siblings(form: Formulation, matrix: Matrix, run: HighsRun) -> None:
    """Add the rows; once. A start has to be put in order by ``in_sibling_order``."""
    if "sibling order" in form.cache:
        return
    chains = form.cache["sibling order"] = _chains(form)
    rows = Rows()
    for chain in chains:
        inside = [
            [matrix.columns[id(v)] for block in form.compiled.blocks for v in form.count_in(block.index, d).variables]
            for d in chain
        ]
        for first, second in pairwise(inside):
            rows.add([*((column, 1.0) for column in second), *((column, -1.0) for column in first)], 0.0)
    rows.add_to(run)


def in_sibling_order(form: Formulation, counts: Counts) -> Counts:
    """An equally good plan that satisfies the rows of ``order_siblings``."""
    chains: Chains = form.cache.get("sibling order", [])
    if not chains:
        return counts
    compiled = form.compiled
    members = [0] * compiled.num_nodes
    for (_, _, node), count in counts.items():
        members[node] += count
    stands = list(range(compiled.num_nodes))  # where what stood on a node goes
    for chain in sorted(chains):  # ancestors first, in preorder; below them by where their members stand by then
        spans = [range(int(compiled.first_node[d]), int(compiled.end_node[d])) for d in chain]
        order = sorted(spans, key=lambda span: -sum(members[node] for node in span))
        pairs = [pair for both in zip(order, spans, strict=True) for pair in zip(*both, strict=True)]
        moved = dict(pairs)
        stands = [moved.get(node, node) for node in stands]
        before = list(members)
        for old, new in moved.items():
            members[new] = before[old]
    return {(block, option, stands[node]): count for (block, option, node), count in counts.items()}


def _chains(form: Formulation) -> Chains:
    """Alike siblings, two or more, in preorder."""
    compiled = form.compiled
    instance, model = compiled.instance, compiled.model
    if (
        not used_families(instance, model) <= FAMILIES
        or not {goal.id for level in model.levels for goal in level.goals} <= GOALS
        or instance.current is not None
        or compiled.overfull.any()
        or any(limit is not None for limit in compiled.power_limit)
    ):
        return []
    signatures: dict[int, Any] = {}
    for domain in reversed(instance.domains):
        signatures[domain.index] = _signature(form, domain, signatures)
    chains: Chains = []
    for domain in instance.domains:
        alike: dict[Any, list[int]] = {}
        for child in domain.children:
            alike.setdefault(signatures[child], []).append(child)
        chains += [tuple(chain) for chain in alike.values() if len(chain) > 1]
    return chains


def _signature(form: Formulation, domain: Domain, known: Mapping[int, Any]) -> Any:
    """Everything about a domain that a plan under these families and goals can notice."""
    spots: tuple[Any, ...] = ()
    if domain.is_node:
        spots = tuple((entry.block, entry.option, entry.variable.upper) for entry in form.on_node[domain.first_node])
    return (
        domain.kind,
        tuple(form.compiled.limit[domain.index].tolist()),
        tuple(form.compiled.capacity[domain.index].tolist()),
        tuple(form.compiled.pool[domain.index].tolist()),
        domain.uplink,
        domain.internal,
        spots,
        tuple(known[child] for child in domain.children),
    )
