"""Path delay of every member (equation 13): the longest way that anything it exchanges with others takes.

Owns the search for the slowest pair, by deepest ends per domain, never pair by pair. Knows no rates and no capacities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import TypeVar

from allocator.checker.flows import Flows
from allocator.checker.link_delay import NANO, delay_at_limit
from allocator.checker.standing import NOWHERE, Standing
from allocator.instance.entities import Instance

__all__ = ["Delays", "delays_of", "slowest"]

Chains = tuple[tuple[int, ...], ...]
N = TypeVar("N", int, Fraction)
ZERO = Fraction(0)


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


def delays_of(
    instance: Instance, standing: Standing, flows: Flows, chains: Chains, link_load: Fraction | None = None
) -> Delays:
    """Delays of all placed members. A flow of rate 0 or with an end unplaced takes no time.

    Parameters
    ----------
    link_load : messages count as they do at this part of every bandwidth; None: they do not count.
    """
    steps = _Steps(instance, link_load if flows.carries_messages else None)
    delays = Delays(steps.scale, [0] * len(instance.workloads), [[0] * each.count for each in instance.workloads])
    if not steps.any:
        return delays
    nodes_of = standing.nodes_of
    for team in flows.teams:
        nodes = set(team.nodes(nodes_of))
        nodes.discard(NOWHERE)
        if team.rate and len(nodes) > 1:
            delay = slowest(nodes, nodes, chains, steps.of(team.message), zero=0)
            for workload, first, count in team.parts:
                _raise(delays.of_member[workload], range(first, first + count), delay)
    known: dict[tuple[int, int, Fraction], int] = {}
    for pair, rate in flows.pairs.items():
        a, i, b, j = pair
        ends = source, target = nodes_of[a][i], nodes_of[b][j]
        if source == target or not rate or NOWHERE in ends:
            continue
        key = source, target, flows.messages.get(pair, ZERO)
        if key not in known:
            known[key] = slowest((source,), (target,), chains, steps.of(key[2]), zero=0)
        _raise(delays.of_member[a], (i,), known[key])
        _raise(delays.of_member[b], (j,), known[key])
    at: list[set[int]] = [set() for _ in instance.workloads]
    for batch in standing.batches if flows.groups else ():
        at[batch.workload].add(batch.node)
    for group in flows.groups:
        if group.rate:
            delay = slowest(at[group.source], at[group.target], chains, steps.of(group.message), zero=0)
            _raise(delays.of_class, (group.source, group.target), delay)
    return delays


class _Steps:
    """Whole units of 1/``scale`` s that it takes to cross each uplink, by the size of the message."""

    def __init__(self, instance: Instance, link_load: Fraction | None) -> None:
        uplinks = {domain.index: domain.uplink for domain in instance.domains if domain.uplink is not None}
        self._link_load = link_load
        self._latency = {index: uplink.latency for index, uplink in uplinks.items() if uplink.latency}
        self._bandwidth = {index: uplink.bandwidth for index, uplink in uplinks.items() if uplink.bandwidth}
        nano = NANO if link_load is not None else 1
        self.scale = lcm(nano, *(latency.denominator for latency in self._latency.values()))
        self.any = bool(self._latency) or link_load is not None
        self._known: dict[Fraction, dict[int, int]] = {}

    def of(self, message: Fraction) -> dict[int, int]:
        """By domain; uplinks that take no time are left out."""
        if self._link_load is None:
            message = ZERO
        if message not in self._known:
            taken = dict(self._latency)
            for index, bandwidth in self._bandwidth.items() if message else ():
                assert self._link_load is not None
                taken[index] = taken.get(index, ZERO) + delay_at_limit(message, bandwidth, self._link_load)
            self._known[message] = {index: int(each * self.scale) for index, each in taken.items()}
        return self._known[message]


def slowest(
    sources: Iterable[int],
    targets: Iterable[int],
    chains: Chains,
    up: Mapping[int, N],
    down: Mapping[int, N] | None = None,
    *,
    zero: N,
) -> N:
    """Largest sum of what it takes to cross the uplinks between a source and a target node; ``zero`` without either.

    Parameters
    ----------
    up, down : by domain: of a source's uplinks, and of a target's; without ``down`` both ways take the same.

    Domains are numbered in preorder, so that going down the numbers meets every domain before its parent. The ends
    below one child of a domain are joined with those below the children met before.
    """
    parents: dict[int, int] = {}
    depth: tuple[dict[int, N], dict[int, N]] = ({}, {})
    for side, nodes in zip(depth, (sources, targets), strict=True):
        for node in nodes:
            chain = chains[node]
            side[chain[0]] = zero
            parents.update(pairwise(chain))
    longest = zero
    for domain in sorted(parents, reverse=True):
        parent = parents[domain]
        steps = up.get(domain, zero), (up if down is None else down).get(domain, zero)
        here = [None if domain not in side else side[domain] + step for side, step in zip(depth, steps, strict=True)]
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
