"""Load of every uplink and direction, offered and granted, and what stays inside a domain (equation 7).

Owns the counting: all-to-all teams and class-to-class entries by members per domain, never pair by pair. Knows no
capacities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from allocator.checker.flows import Flows, Key
from allocator.checker.standing import NOWHERE, Standing
from allocator.instance.entities import Instance

__all__ = ["Traffic", "domain_counts", "traffic_of"]

Chains = tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class _Tally:
    """Pair counts per domain and direction; ``inside`` counts pairs whose lowest common domain is that domain."""

    up: Counter[int] = field(default_factory=Counter)
    down: Counter[int] = field(default_factory=Counter)
    inside: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Loads in bit/s by domain index, and the granted fractions that bind the members' rates (equation 6).

    Attributes
    ----------
    offered_up, granted_up : towards the root on the domain's uplink; ``_down``: the other way.
    inside : granted traffic whose lowest common domain is exactly this one.
    class_theta, member_theta : smallest fraction of the flows of a class, of a member; missing: none binds.
    """

    offered_up: Mapping[int, Fraction]
    offered_down: Mapping[int, Fraction]
    granted_up: Mapping[int, Fraction]
    granted_down: Mapping[int, Fraction]
    inside: Mapping[int, Fraction]
    class_theta: Mapping[int, Fraction]
    member_theta: Mapping[tuple[int, int], Fraction]

    def theta(self, workload: int, member: int) -> Fraction:
        """Fraction that binds the rate of a member; 1 when it has no traffic."""
        return min(self.class_theta.get(workload, Fraction(1)), self.member_theta.get((workload, member), Fraction(1)))


class _Collector:
    """Adds up tallies of flows of one rate and one granted fraction."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[Fraction, Fraction], _Tally] = {}
        self.class_theta: dict[int, Fraction] = {}
        self.member_theta: dict[tuple[int, int], Fraction] = {}

    def tally(self, rate: Fraction, theta: Fraction) -> _Tally:
        return self._tallies.setdefault((rate, theta), _Tally())

    def bind_members(self, members: Iterable[tuple[int, int]], theta: Fraction) -> None:
        for member in members:
            self.member_theta[member] = min(theta, self.member_theta.get(member, theta))

    def bind_class(self, workload: int, theta: Fraction) -> None:
        self.class_theta[workload] = min(theta, self.class_theta.get(workload, theta))

    def finish(self) -> Traffic:
        offered_up: dict[int, Fraction] = {}
        offered_down: dict[int, Fraction] = {}
        granted_up: dict[int, Fraction] = {}
        granted_down: dict[int, Fraction] = {}
        inside: dict[int, Fraction] = {}
        for (rate, theta), tally in self._tallies.items():
            _weigh(offered_up, tally.up, rate)
            _weigh(offered_down, tally.down, rate)
            _weigh(granted_up, tally.up, rate * theta)
            _weigh(granted_down, tally.down, rate * theta)
            _weigh(inside, tally.inside, rate * theta)
        return Traffic(offered_up, offered_down, granted_up, granted_down, inside, self.class_theta, self.member_theta)


def _weigh(total: dict[int, Fraction], counts: Counter[int], rate: Fraction) -> None:
    for domain, count in counts.items():
        if count:
            total[domain] = total.get(domain, Fraction(0)) + rate * count


def domain_counts(nodes: Mapping[int, int], chains: Chains) -> Counter[int]:
    """Members in each domain, from members on each node."""
    counts: Counter[int] = Counter()
    for node, count in nodes.items():
        for domain in chains[node]:
            counts[domain] += count
    return counts


def traffic_of(
    instance: Instance, standing: Standing, flows: Flows, grants: Mapping[Key, Fraction], chains: Chains
) -> Traffic:
    """Loads of all flows between placed members."""
    collector = _Collector()
    parents = [domain.parent for domain in instance.domains]
    for team in flows.teams:
        if len(team.members) < 2 or not team.rate:
            continue
        theta = grants.get(team.key, Fraction(0))
        collector.bind_members(team.members, theta)
        placed = [member for member in team.members if standing.node_of(*member) != NOWHERE]
        counts = domain_counts(Counter(standing.node_of(*member) for member in placed), chains)
        _within_group(collector.tally(team.rate, theta), counts, len(placed), parents)
    for pair in flows.pairs:
        if not pair.rate:
            continue
        theta = grants.get(pair.key, Fraction(0))
        collector.bind_members((pair.source, pair.target), theta)
        source, target = standing.node_of(*pair.source), standing.node_of(*pair.target)
        if NOWHERE not in (source, target):
            _one_pair(collector.tally(pair.rate, theta), chains[source], chains[target])
    per_class = _class_counts(instance, standing, chains) if flows.groups else []
    for group in flows.groups:
        same = group.source == group.target
        if not group.rate or instance.workloads[group.target].count <= same:
            continue
        theta = grants.get(group.key, Fraction(0))
        collector.bind_class(group.source, theta)
        collector.bind_class(group.target, theta)
        tally = collector.tally(group.rate, theta)
        sources, targets = per_class[group.source], per_class[group.target]
        if same:
            _within_group(tally, sources, sources[0], parents)  # the root, domain 0, holds everybody
        else:
            _between_groups(tally, sources, targets, parents)
    return collector.finish()


def _within_group(tally: _Tally, counts: Counter[int], total: int, parents: list[int | None]) -> None:
    """All ordered pairs of one group of ``total`` members."""
    for domain, count in counts.items():
        crossing = count * (total - count)
        tally.up[domain] += crossing
        tally.down[domain] += crossing
        together = count * (count - 1)
        tally.inside[domain] += together
        parent = parents[domain]
        if parent is not None:
            tally.inside[parent] -= together


def _between_groups(tally: _Tally, sources: Counter[int], targets: Counter[int], parents: list[int | None]) -> None:
    """All pairs from one group to another, disjoint one."""
    for domain in dict.fromkeys((*sources, *targets)):
        a, b = sources[domain], targets[domain]
        tally.up[domain] += a * (targets[0] - b)
        tally.down[domain] += b * (sources[0] - a)
        tally.inside[domain] += a * b
        parent = parents[domain]
        if parent is not None:
            tally.inside[parent] -= a * b


def _one_pair(tally: _Tally, source: tuple[int, ...], target: tuple[int, ...]) -> None:
    """One pair, by the chains of its two nodes."""
    common = set(target)
    lowest = next(domain for domain in source if domain in common)
    tally.inside[lowest] += 1
    for domain in _below(source, lowest):
        tally.up[domain] += 1
    for domain in _below(target, lowest):
        tally.down[domain] += 1


def _below(chain: tuple[int, ...], stop: int) -> Iterator[int]:
    for domain in chain:
        if domain == stop:
            return
        yield domain


def _class_counts(instance: Instance, standing: Standing, chains: Chains) -> list[Counter[int]]:
    """Members of each class in each domain."""
    nodes: list[Counter[int]] = [Counter() for _ in instance.workloads]
    for batch in standing.batches:
        nodes[batch.workload][batch.node] += batch.count
    return [domain_counts(counts, chains) for counts in nodes]
