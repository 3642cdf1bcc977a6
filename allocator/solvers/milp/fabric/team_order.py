"""Identical teams in one order: of the plans that differ by exchanging whole teams, one is kept.

Two teams are identical when they have one rate, one size of messages and the same blocks (class, count, current node
and mode, and where they may stand), and no block has flows of its own: then exchanging them changes neither feasibility
nor any goal. Rows: members of team t in d >= members of team t + 1 in d, d the first branch of the topology. Exchanges
leave the use of every domain as it is, so every plan can be put in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from allocator.compiled.entities import TeamTraffic
from allocator.solvers.milp.fabric.sibling_order import in_sibling_order, order_siblings
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.rows import Rows

__all__ = ["in_team_order", "order_teams"]

Counts = Mapping[tuple[int, int, int], int]


def order_teams(form: Formulation, matrix: Matrix, run: HighsRun) -> None:
    """Add the rows, those of ``sibling_order`` as well; once. A start has to be put in order by ``in_team_order``."""
    order_siblings(form, matrix, run)
    if "team order" in form.cache:
        return
    chains = form.cache["team order"] = _chains(form)
    domain = _first_branch(form)
    rows = Rows()
    for chain in chains:
        inside = [
            [matrix.columns[id(v)] for block in blocks for v in form.count_in(block, domain).variables]
            for blocks in chain
        ]
        for first, second in pairwise(inside):
            rows.add([*((column, 1.0) for column in second), *((column, -1.0) for column in first)], 0.0)
    rows.add_to(run)


def in_team_order(form: Formulation, counts: Counts) -> Counts:
    """An equally good plan that satisfies the rows of ``order_teams``."""
    counts = in_sibling_order(form, counts)
    chains: list[list[tuple[int, ...]]] = form.cache.get("team order", [])
    if not chains:
        return counts
    domain = _first_branch(form)
    low, high = int(form.compiled.first_node[domain]), int(form.compiled.end_node[domain])
    of_block: dict[int, dict[tuple[int, int], int]] = {}
    for (block, option, node), count in counts.items():
        of_block.setdefault(block, {})[option, node] = count

    def inside(blocks: tuple[int, ...]) -> int:
        return sum(count for b in blocks for (_, node), count in of_block.get(b, {}).items() if low <= node < high)

    stands = {block: block for block in of_block}
    for chain in chains:
        for target, source in zip(chain, sorted(chain, key=inside, reverse=True), strict=True):
            stands.update(zip(source, target, strict=True))
    return {
        (stands[block], option, node): count
        for block, spots in of_block.items()
        for (option, node), count in spots.items()
    }


def _chains(form: Formulation) -> list[list[tuple[int, ...]]]:
    """Blocks of the teams of each set of two or more identical teams, aligned."""
    tied = {block for pair in form.compiled.pairs for block in (pair.source, pair.target)}
    alike: dict[Any, list[tuple[int, ...]]] = {}
    for team in form.compiled.teams:
        if not tied.intersection(team.blocks):
            signature, blocks = _signature(form, team)
            alike.setdefault(signature, []).append(blocks)
    return [chain for chain in alike.values() if len(chain) > 1]


def _signature(form: Formulation, team: TeamTraffic) -> tuple[Any, tuple[int, ...]]:
    described = []
    for index in team.blocks:
        block = form.compiled.blocks[index]
        spots = tuple((entry.option, entry.node) for entry in form.of_block[index])
        described.append(((block.workload, block.current_node, block.current_option, block.count, spots), index))
    described.sort()
    return (team.rate, team.message, tuple(facts for facts, _ in described)), tuple(index for _, index in described)


def _first_branch(form: Formulation) -> int:
    """The first child of the highest domain that has several."""
    domain = form.compiled.instance.domains[0]
    while len(domain.children) == 1:
        domain = form.compiled.instance.domains[domain.children[0]]
    return domain.children[0] if domain.children else domain.index
