"""What crosses loaded links: messages of every flow, their slowest way at the load there is, and the busiest of them.

Owns the flows as sets of nodes and their ways at the true load (equation 13). Knows no response times and no targets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.checker.flows import Flows
from allocator.checker.latency import slowest
from allocator.checker.link_delay import Spare, delay_of
from allocator.checker.standing import NOWHERE, Standing
from allocator.instance.entities import Instance

__all__ = ["Joined", "Ways", "joined_flows", "largest_messages"]

Chains = tuple[tuple[int, ...], ...]
Side = Mapping[int, Fraction | None]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Joined:
    """A flow with a rate between placed members: nodes of its ends, bits of a message, whose it is.

    ``members``: (class, first, count) of teams and pairs; ``classes``: of entries of whole classes.
    """

    sources: Collection[int]
    targets: Collection[int]
    message: Fraction
    members: tuple[tuple[int, int, int], ...] = ()
    classes: tuple[int, ...] = ()


def joined_flows(standing: Standing, flows: Flows) -> Iterator[Joined]:
    """Every flow that joins two placed members."""
    nodes_of = standing.nodes_of
    for team in flows.teams:
        nodes = set(team.nodes(nodes_of)) - {NOWHERE}
        if team.rate and nodes:
            yield Joined(nodes, nodes, team.message, members=team.parts)
    for pair, rate in flows.pairs.items():
        a, i, b, j = pair
        source, target = nodes_of[a][i], nodes_of[b][j]
        if rate and NOWHERE not in (source, target):
            ends = (a, i, 1), (b, j, 1)
            yield Joined((source,), (target,), flows.messages.get(pair, ZERO), members=ends)
    at: dict[int, set[int]] = {}
    for batch in standing.batches if flows.groups else ():
        at.setdefault(batch.workload, set()).add(batch.node)
    for group in flows.groups:
        sources, targets = at.get(group.source, set()), at.get(group.target, set())
        if group.rate and sources and targets:
            yield Joined(sources, targets, group.message, classes=(group.source, group.target))


def largest_messages(
    standing: Standing, flows: Flows, chains: Chains
) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """Bits of the largest message that crosses each uplink upwards and downwards, by domain."""
    found: tuple[dict[int, Fraction], dict[int, Fraction]] = ({}, {})
    for flow in joined_flows(standing, flows):
        if flow.message:
            inside = [_inside(ends, chains) for ends in (flow.sources, flow.targets)]
            sizes = len(flow.sources), len(flow.targets)
            for side, (mine, other) in zip(found, ((0, 1), (1, 0)), strict=True):
                for domain in inside[mine]:
                    if inside[other].get(domain, 0) < sizes[other]:
                        side[domain] = max(flow.message, side.get(domain, ZERO))
    return found


def _inside(nodes: Collection[int], chains: Chains) -> dict[int, int]:
    """How many of the nodes each domain holds."""
    counts: dict[int, int] = {}
    for node in nodes:
        for domain in chains[node]:
            counts[domain] = counts.get(domain, 0) + 1
    return counts


class Ways:
    """Slowest ways of members at the loads of a plan."""

    def __init__(self, instance: Instance, standing: Standing, flows: Flows, chains: Chains, spare: Spare) -> None:
        self._chains = chains
        self._spare = spare
        self._latency = {d.index: d.uplink.latency for d in instance.domains if d.uplink is not None}
        self._flows = list(joined_flows(standing, flows))
        self._of_class: dict[int, list[int]] = {}
        self._of_member: dict[tuple[int, int], list[int]] = {}
        for number, flow in enumerate(self._flows):
            for workload in dict.fromkeys(flow.classes):
                self._of_class.setdefault(workload, []).append(number)
            for workload, first, count in flow.members:
                for member in range(first, first + count):
                    self._of_member.setdefault((workload, member), []).append(number)
        self._steps: dict[tuple[Fraction, Fraction], tuple[dict[int, Fraction], dict[int, Fraction]]] = {}
        self._known: dict[tuple[int, Fraction], Fraction] = {}
        self._counted: dict[int, int | None] = {}

    def crossings(self, workload: int, member: int) -> int | None:
        """Most links on which a message of the member may wait, on one way; None: one has no bound on its delay."""
        most = 0
        for number in self._own(workload, member):
            if number not in self._counted:
                self._counted[number] = self._count(self._flows[number])
            counted = self._counted[number]
            if counted is None:
                return None
            most = max(most, counted)
        return most

    def delay(self, workload: int, member: int, longer: Fraction = ONE) -> Fraction:
        """Seconds of its slowest way, delays of messages times ``longer``; all of them must have a bound."""
        found = ZERO
        for number in self._own(workload, member):
            key = number, longer
            if key not in self._known:
                flow = self._flows[number]
                up, down = self._taken(flow.message, longer)
                self._known[key] = slowest(flow.sources, flow.targets, self._chains, up, down, zero=ZERO)
            found = max(found, self._known[key])
        return found

    def _own(self, workload: int, member: int) -> Iterator[int]:
        yield from self._of_class.get(workload, ())
        yield from self._of_member.get((workload, member), ())

    def _count(self, flow: Joined) -> int | None:
        if not flow.message:
            return 0
        sides = self._spare.up, self._spare.down
        endless = [{domain: int(spare is None) for domain, spare in side.items()} for side in sides]
        if slowest(flow.sources, flow.targets, self._chains, *endless, zero=0):
            return None
        bounded = [dict.fromkeys(side, 1) for side in sides]
        return slowest(flow.sources, flow.targets, self._chains, *bounded, zero=0)

    def _taken(self, message: Fraction, longer: Fraction) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Seconds to cross each uplink upwards and downwards, by domain."""
        key = message, longer
        if key not in self._steps:
            up, down = (self._side(side, message * longer) for side in (self._spare.up, self._spare.down))
            self._steps[key] = up, down
        return self._steps[key]

    def _side(self, side: Side, message: Fraction) -> dict[int, Fraction]:
        taken = {domain: latency for domain, latency in self._latency.items() if latency}
        for domain in side if message else ():
            taken[domain] = taken.get(domain, ZERO) + (delay_of(message, side, domain) or ZERO)
        return taken
