"""Quick answers to questions: no by sums that do not fit, yes by filling nodes in turn; unknown otherwise.

Owns no proof of its own for "no" (``bounds.room`` sums, eligibility counts) and checks every "yes" by exact use.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.bounds.room import aggregates, usable_nodes
from allocator.solvers.evaluation.use import overdrawn

__all__ = ["quick_answer"]

Int64 = npt.NDArray[np.int64]
ENDLESS = np.iinfo(np.int64).max


def quick_answer(compiled: Compiled, stop: Callable[[], bool]) -> bool | None:
    """Whether the question has a plan, where counting or filling tells before ``stop`` says to end."""
    counts = [w.count if w.value else 0 for w in compiled.instance.workloads]
    if any(count and not usable_nodes(compiled, w).any() for w, count in enumerate(counts)):
        return False
    if any(total.short > 0 for total in aggregates(compiled, counts)):
        return False
    return True if _plain(compiled) and _filled(compiled, counts, stop) else None


def _plain(compiled: Compiled) -> bool:
    """Whether nothing but eligibility and capacities restricts where members stand."""
    instance = compiled.instance
    ruled = instance.conflicts or instance.spreads or instance.dependencies or instance.reserves or instance.teams
    return not (
        ruled
        or instance.current
        or compiled.gangs
        or (compiled.pool_limit >= 0).any()
        or any(node.power is not None for node in instance.nodes)  # its draw counts beside the shares
    )


def _filled(compiled: Compiled, counts: list[int], stop: Callable[[], bool]) -> bool:
    """Fill the roomiest nodes first, class by class, the largest members first."""
    free = np.where(compiled.limit >= 0, compiled.limit, ENDLESS)
    size = np.where(free.max(axis=0, initial=0) > 0, free.max(axis=0, initial=0), 1).astype(np.float64)
    weight = [
        float((compiled.floor[compiled.first_option[w]].max(axis=0) / size).max(initial=0.0)) if count else 0.0
        for w, count in enumerate(counts)
    ]
    generations = _generations(compiled)
    placed: dict[tuple[int, int, int], int] = {}
    block_of = {block.workload: block.index for block in compiled.blocks}
    for w in sorted(range(len(counts)), key=lambda index: -weight[index]):
        left = counts[w]
        if left and stop():
            return False
        for option in compiled.options_of(w) if left else ():
            fits = _fits(compiled, free, option, generations)
            for node in np.argsort(-fits, kind="stable").tolist():
                if not left or fits[node] <= 0:
                    break
                left -= (taken := min(left, _take(compiled, free, option, node, left)))
                if taken:
                    placed[block_of[w], option, node] = taken
        if left:
            return False
    return not overdrawn(compiled, placed, {})


def _generations(compiled: Compiled) -> list[Int64]:
    """Domains by their depth below the root, the root left out."""
    depth = [0] * compiled.num_domains
    for domain in range(1, compiled.num_domains):  # preorder: parents come first
        depth[domain] = depth[int(compiled.parent[domain])] + 1
    depths = np.array(depth, dtype=np.int64)
    return [np.nonzero(depths == level)[0] for level in range(1, max(depth) + 1)]


def _fits(compiled: Compiled, free: Int64, option: int, generations: list[Int64]) -> Int64:
    """int64[N]: members of an option that each node, alone, has room for now."""
    above = free.copy()
    for domains in generations:
        above[domains] = np.minimum(above[domains], above[compiled.parent[domains]])
    floors = compiled.floor[option][compiled.node_kind]
    room = above[compiled.node_domain]
    number = np.where(floors > 0, room // np.maximum(floors, 1), ENDLESS).min(axis=1, initial=ENDLESS)
    return np.where(compiled.eligible[option], number, 0).astype(np.int64)


def _take(compiled: Compiled, free: Int64, option: int, node: int, wanted: int) -> int:
    """Place as many of the wanted members as still fit; returns how many."""
    floors = compiled.floor[option, compiled.node_kind[node]]
    asked = np.nonzero(floors > 0)[0]
    chain = []
    domain = int(compiled.node_domain[node])
    while domain >= 0:
        chain.append(domain)
        domain = int(compiled.parent[domain])
    where = np.ix_(np.array(chain, dtype=np.int64), asked)
    rows = free[where]
    most = int((rows // floors[asked]).min(initial=wanted))
    if most > 0:
        limited = rows < ENDLESS
        free[where] = np.where(limited, rows - most * floors[asked], rows)
    return max(0, most)
