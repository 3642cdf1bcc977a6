"""Path delay of every member (equation 13): the longest way that anything it exchanges with others takes.

Owns the search for the slowest pair, by deepest ends per domain, never pair by pair. Knows no rates and no capacities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from allocator.checker.flows import Flows
from allocator.checker.standing import NOWHERE, Standing
from allocator.instance.entities import Instance

__all__ = ["Delays", "delays_of", "slowest"]

Chains = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Delays:
    """One way, in 1/``scale`` s: by class (entries of whole classes), by class and member (teams and pairs)."""

    scale: int
    of_class: list[int]
    of_member: list[list[int]]

    def of(self, workload: int, member: int) -> Fraction:
        """Longest delay of a member's flows, s."""
        return Fraction(max(self.of_class[workload], self.of_member[workload][member]), self.scale)

    def units(self, workload: int) -> list[int]:
        """The same for every member of a class, in 1/``scale`` s."""
        least, own = self.of_class[workload], self.of_member[workload]
        return [max(least, delay) for delay in own] if least else own


def delays_of(instance: Instance, standing: Standing, flows: Flows, chains: Chains) -> Delays:
    """Delays of all placed members. A flow of rate 0 or with an end unplaced takes no time."""
    stated = {domain.index: domain.uplink.latency for domain in instance.domains if domain.uplink is not None}
    scale = lcm(*(latency.denominator for latency in stated.values()))
    latency = {domain: int(each * scale) for domain, each in stated.items() if each}
    delays = Delays(scale, [0] * len(instance.workloads), [[0] * workload.count for workload in instance.workloads])
    if not latency:
        return delays
    nodes_of = standing.nodes_of
    for team in flows.teams:
        nodes = set(team.nodes(nodes_of))
        nodes.discard(NOWHERE)
        if team.rate and len(nodes) > 1:
            delay = slowest(nodes, nodes, chains, latency)
            for workload, first, count in team.parts:
                _raise(delays.of_member[workload], range(first, first + count), delay)
    known: dict[tuple[int, int], int] = {}
    for (a, i, b, j), rate in flows.pairs.items():
        ends = source, target = nodes_of[a][i], nodes_of[b][j]
        if source == target or not rate or NOWHERE in ends:
            continue
        if ends not in known:
            known[ends] = slowest((source,), (target,), chains, latency)
        _raise(delays.of_member[a], (i,), known[ends])
        _raise(delays.of_member[b], (j,), known[ends])
    at: list[set[int]] = [set() for _ in instance.workloads]
    for batch in standing.batches if flows.groups else ():
        at[batch.workload].add(batch.node)
    for group in flows.groups:
        if group.rate:
            delay = slowest(at[group.source], at[group.target], chains, latency)
            _raise(delays.of_class, (group.source, group.target), delay)
    return delays


def slowest(sources: Iterable[int], targets: Iterable[int], chains: Chains, latency: Mapping[int, int]) -> int:
    """Largest summed latency of the uplinks crossed between a source and a target node; 0 without either.

    Domains are numbered in preorder, so that going down the numbers meets every domain before its parent. The ends
    below one child of a domain are joined with those below the children met before.
    """
    parents: dict[int, int] = {}
    depth: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for side, nodes in zip(depth, (sources, targets), strict=True):
        for node in nodes:
            chain = chains[node]
            side[chain[0]] = 0
            parents.update(pairwise(chain))
    longest = 0
    for domain in sorted(parents, reverse=True):
        parent, step = parents[domain], latency.get(domain, 0)
        here = [None if domain not in side else side[domain] + step for side in depth]
        for mine, other in ((0, 1), (1, 0)):
            reached = here[mine]
            if reached is not None and parent in depth[other]:
                longest = max(longest, reached + depth[other][parent])
        for side, reached in zip(depth, here, strict=True):
            if reached is not None:
                side[parent] = max(reached, side.get(parent, reached))
    return longest


def _raise(delays: list[int], which: Iterable[int], delay: int) -> None:
    for index in which:
        delays[index] = max(delays[index], delay)
