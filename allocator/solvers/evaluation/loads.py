"""How often flows cross uplinks, or meet inside a domain, under an assignment in counts. Exact integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.use import Counts

__all__ = ["FlowCrossings", "FlowKey", "flow_crossings", "flow_keys"]

FlowKey = tuple[str, int]


@dataclass(frozen=True)
class FlowCrossings:
    """Ordered member pairs of one flow: ``up[d]``, ``down[d]`` over the uplink of d, ``met[d]`` lowest common domain d.

    ``pairs[h, k]``: on nodes h and k. Multiply by ``rate`` for bit/s.
    """

    key: FlowKey
    rate: Fraction
    up: dict[int, int]
    down: dict[int, int]
    met: dict[int, int]
    pairs: dict[tuple[int, int], int]


def flow_keys(compiled: Compiled) -> Iterator[tuple[FlowKey, Fraction, list[int], list[int]]]:
    """Key, rate per ordered pair, source blocks and target blocks of every flow."""
    for team in compiled.teams:
        yield ("team", team.index), team.rate, list(team.blocks), list(team.blocks)
    for index, pair in enumerate(compiled.pairs):
        yield ("pair", index), pair.rate, [pair.source], [pair.target]
    by_class: dict[int, list[int]] = {}
    for block in compiled.blocks:
        by_class.setdefault(block.workload, []).append(block.index)
    for index, group in enumerate(compiled.groups):
        yield ("group", index), group.rate, by_class.get(group.source, []), by_class.get(group.target, [])


def flow_crossings(compiled: Compiled, counts: Counts) -> list[FlowCrossings]:
    """Crossings of every flow."""
    on_node: dict[int, dict[int, int]] = {}
    for (block, _, node), count in counts.items():
        spots = on_node.setdefault(block, {})
        spots[node] = spots.get(node, 0) + count
    paths = [_path(compiled, node) for node in range(compiled.num_nodes)]
    return [
        _crossings(paths, key, rate, _sum(on_node, sources), _sum(on_node, targets), same=sources == targets)
        for key, rate, sources, targets in flow_keys(compiled)
    ]


def _path(compiled: Compiled, node: int) -> list[int]:
    path = [int(compiled.node_domain[node])]
    while compiled.parent[path[-1]] >= 0:
        path.append(int(compiled.parent[path[-1]]))
    return path


def _sum(on_node: dict[int, dict[int, int]], blocks: list[int]) -> dict[int, int]:
    total: dict[int, int] = {}
    for block in blocks:
        for node, count in on_node.get(block, {}).items():
            total[node] = total.get(node, 0) + count
    return total


def _crossings(
    paths: list[list[int]],
    key: FlowKey,
    rate: Fraction,
    senders: dict[int, int],
    receivers: dict[int, int],
    *,
    same: bool,
) -> FlowCrossings:
    up: dict[int, int] = {}
    down: dict[int, int] = {}
    met: dict[int, int] = {}
    pairs: dict[tuple[int, int], int] = {}
    for h, count in senders.items():
        for k, other in receivers.items():
            number = count * (other - 1) if same and h == k else count * other
            if not number:
                continue
            pairs[h, k] = number
            here, there = paths[h], paths[k]
            common = set(here) & set(there)
            for domain in here:
                if domain in common:
                    met[domain] = met.get(domain, 0) + number
                    break
                up[domain] = up.get(domain, 0) + number
            for domain in there:
                if domain in common:
                    break
                down[domain] = down.get(domain, 0) + number
    return FlowCrossings(key, rate, up, down, met, pairs)
