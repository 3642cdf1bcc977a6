"""Path delay of every member (equation 13): the longest way that anything it exchanges with others takes.

Owns the search for the slowest pair, by deepest ends per domain, never pair by pair. Knows no rates and no capacities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from allocator.checker.flows import Flows
from allocator.checker.standing import NOWHERE, Standing
from allocator.instance.entities import Instance

__all__ = ["Delays", "delays_of", "slowest"]

ZERO = Fraction(0)
Chains = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds one way, by class (entries of whole classes) and by member (teams and pairs); missing: 0."""

    of_class: dict[int, Fraction] = field(default_factory=dict)
    of_member: dict[tuple[int, int], Fraction] = field(default_factory=dict)

    def of(self, workload: int, member: int) -> Fraction:
        """Longest delay of a member's flows."""
        return max(self.of_class.get(workload, ZERO), self.of_member.get((workload, member), ZERO))


def delays_of(instance: Instance, standing: Standing, flows: Flows, chains: Chains) -> Delays:
    """Delays of all placed members. A flow of rate 0 or with an end unplaced takes no time."""
    latency = {
        domain.index: domain.uplink.latency
        for domain in instance.domains
        if domain.uplink is not None and domain.uplink.latency
    }
    delays = Delays()
    if not latency:
        return delays
    for team in flows.teams:
        if team.rate and len(team.members) > 1:
            nodes = {standing.node_of(*member) for member in team.members} - {NOWHERE}
            _raise_members(delays, team.members, slowest(nodes, nodes, chains, latency))
    for pair in flows.pairs:
        ends = [standing.node_of(*pair.source), standing.node_of(*pair.target)]
        if pair.rate and NOWHERE not in ends:
            delay = slowest(ends[:1], ends[1:], chains, latency)
            _raise_members(delays, (pair.source, pair.target), delay)
    nodes_of: list[set[int]] = [set() for _ in instance.workloads]
    for batch in standing.batches if flows.groups else ():
        nodes_of[batch.workload].add(batch.node)
    for group in flows.groups:
        if group.rate:
            delay = slowest(nodes_of[group.source], nodes_of[group.target], chains, latency)
            for workload in (group.source, group.target):
                delays.of_class[workload] = max(delay, delays.of_class.get(workload, ZERO))
    return delays


def slowest(
    sources: Iterable[int], targets: Iterable[int], chains: Chains, latency: Mapping[int, Fraction]
) -> Fraction:
    """Largest summed latency of the uplinks crossed between a source and a target node; 0 without either.

    Domains are numbered in preorder, so that going down the numbers meets every domain before its parent. The ends
    below one child of a domain are joined with those below the children met before.
    """
    parents: dict[int, int] = {}
    depth: tuple[dict[int, Fraction], dict[int, Fraction]] = ({}, {})
    for side, nodes in zip(depth, (sources, targets), strict=True):
        for node in nodes:
            chain = chains[node]
            side[chain[0]] = ZERO
            parents.update(pairwise(chain))
    longest = ZERO
    for domain in sorted(parents, reverse=True):
        parent, step = parents[domain], latency.get(domain, ZERO)
        here = [None if domain not in side else side[domain] + step for side in depth]
        for mine, other in ((0, 1), (1, 0)):
            reached = here[mine]
            if reached is not None and parent in depth[other]:
                longest = max(longest, reached + depth[other][parent])
        for side, reached in zip(depth, here, strict=True):
            if reached is not None:
                side[parent] = max(reached, side.get(parent, reached))
    return longest


def _raise_members(delays: Delays, members: Iterable[tuple[int, int]], delay: Fraction) -> None:
    for member in members:
        delays.of_member[member] = max(delay, delays.of_member.get(member, ZERO))
