"""Members one by one: the items of a search, and how they become counts again. Knows blocks, not kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled

__all__ = ["Items", "counts_of", "items_of", "positions_of"]

Int = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Items:
    """``block`` : int64[M]; ``first`` : int64[B + 1], items of a block. ``gangs``: items of each gang, whole ones."""

    block: Int
    first: Int
    gangs: tuple[Int, ...]
    gang_levels: tuple[str, ...]


def items_of(compiled: Compiled) -> Items:
    """Every member that can stand; members that fill no whole gang are left out."""
    sizes = np.array([block.count for block in compiled.blocks], dtype=np.int64)
    for unit in compiled.gangs:
        total = sum(int(sizes[b]) for b in unit.blocks)
        surplus = total - unit.size * unit.replicas
        for b in reversed(unit.blocks):
            taken = min(surplus, int(sizes[b]))
            sizes[b] -= taken
            surplus -= taken
        if unit.replicas == 1 and total < unit.size:
            for b in unit.blocks:
                sizes[b] = 0
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    gangs: list[Int] = []
    levels: list[str] = []
    for unit in compiled.gangs:
        members = np.concatenate([np.arange(first[b], first[b + 1]) for b in unit.blocks] or [np.zeros(0, np.int64)])
        for replica in range(len(members) // unit.size):
            gangs.append(members[replica * unit.size : (replica + 1) * unit.size].astype(np.int64))
            levels.append(unit.level)
    return Items(np.repeat(np.arange(len(sizes), dtype=np.int64), sizes), first, tuple(gangs), tuple(levels))


def counts_of(items: Items, where: Int, option: Int, num_nodes: int) -> dict[tuple[int, int, int], int]:
    """Counts by (block, option, node) of the items that stand."""
    stands = where >= 0
    if not stands.any():
        return {}
    options = int(option.max()) + 1
    keys = (items.block[stands] * options + option[stands]) * num_nodes + where[stands]
    found, numbers = np.unique(keys, return_counts=True)
    blocks, rest = np.divmod(found, options * num_nodes)
    opts, nodes = np.divmod(rest, num_nodes)
    return {
        (int(b), int(o), int(n)): int(c)
        for b, o, n, c in zip(blocks.tolist(), opts.tolist(), nodes.tolist(), numbers.tolist(), strict=True)
    }


def positions_of(compiled: Compiled, items: Items, counts: Mapping[tuple[int, int, int], int]) -> tuple[Int, Int]:
    """Node (-1: none) and option of every item under an assignment; gangs get distinct nodes of one domain."""
    where = np.full(len(items.block), -1, dtype=np.int64)
    option = np.zeros(len(items.block), dtype=np.int64)
    for b, block in enumerate(compiled.blocks):
        option[items.first[b] : items.first[b + 1]] = compiled.first_option[block.workload]
    filled = items.first[:-1].copy()
    spots: dict[int, list[tuple[int, int, int]]] = {}
    for (b, o, node), number in sorted(counts.items()):
        spots.setdefault(b, []).append((o, node, number))
        stop = min(int(filled[b]) + number, int(items.first[b + 1]))
        where[filled[b] : stop] = node
        option[filled[b] : stop] = o
        filled[b] = stop
    for unit in compiled.gangs:
        if unit.replicas == 1 and len(unit.blocks) > 1:
            continue
        own = unit.blocks[0]
        seats: list[tuple[int, int]] = []
        for domain in compiled.outermost(unit.level):
            for o in compiled.options_of(unit.workload):
                inside = [
                    (o, node)
                    for p, node, number in spots.get(own, ())
                    if p == o and domain.first_node <= node < domain.end_node
                    for _ in range(number)
                ]
                replicas = len(inside) // unit.size
                for replica in range(replicas):
                    seats.extend(inside[replica::replicas])
        start = int(items.first[own])
        for offset, (o, node) in enumerate(seats[: int(items.first[own + 1]) - start]):
            where[start + offset], option[start + offset] = node, o
    return where, option
