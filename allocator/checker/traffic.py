"""Load of every uplink and direction, offered and granted, and what stays inside a domain (equation 7).

Owns the rates and granted fractions that pair counts (``tallies``) are weighed with. Knows no capacities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from allocator.checker.flows import Flows, Key
from allocator.checker.standing import NOWHERE, Standing
from allocator.checker.sums import common_denominator, exact_sum
from allocator.checker.tallies import Tally, between_groups, domain_counts, one_pair, within_group, within_team
from allocator.instance.entities import Instance

__all__ = ["Traffic", "traffic_of"]

Chains = tuple[tuple[int, ...], ...]
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Loads in bit/s by domain index, and the granted fractions that bind the members' rates (equation 6).

    Attributes
    ----------
    offered_up, granted_up : towards the root on the domain's uplink; ``_down``: the other way.
    inside : granted traffic whose lowest common domain is exactly this one.
    class_theta : smallest fraction of the entries of a class; missing: none binds.
    thetas, member_theta : fractions, and for each class the number in them of each member's smallest one; 0: none
        binds. A class that is missing has no member that anything binds.
    """

    offered_up: Mapping[int, Fraction]
    offered_down: Mapping[int, Fraction]
    granted_up: Mapping[int, Fraction]
    granted_down: Mapping[int, Fraction]
    inside: Mapping[int, Fraction]
    class_theta: Mapping[int, Fraction]
    thetas: Sequence[Fraction]
    member_theta: Mapping[int, Sequence[int]]

    def theta(self, workload: int, number: int = 0) -> Fraction:
        """Fraction that binds the rate of a member whose own is ``thetas[number]``; 1 when it has no traffic."""
        return min(self.class_theta.get(workload, ONE), self.thetas[number])


class _Collector:
    """Adds up tallies of flows of one rate and one granted fraction."""

    def __init__(self, instance: Instance) -> None:
        self._counts = [workload.count for workload in instance.workloads]
        self._tallies: dict[tuple[Fraction, int], Tally] = {}
        self._numbers = {ONE: 0}
        self.thetas = [ONE]
        self.class_theta: dict[int, Fraction] = {}
        self.member_theta: dict[int, list[int]] = {}

    def number(self, theta: Fraction) -> int:
        """Number of a fraction, new or known."""
        found = self._numbers.setdefault(theta, len(self.thetas))
        if found == len(self.thetas):
            self.thetas.append(theta)
        return found

    def tally(self, rate: Fraction, number: int) -> Tally:
        """Tally of flows of that rate granted the fraction of that number."""
        key = (rate, number)
        found = self._tallies.get(key)
        if found is None:
            found = self._tallies[key] = Tally()
        return found

    def bind(self, workload: int, first: int, count: int, number: int) -> None:
        """Bind members [first, first + count) of a class."""
        if not number:
            return
        if workload not in self.member_theta:
            self.member_theta[workload] = [0] * self._counts[workload]
        bound = self.member_theta[workload]
        for member in range(first, first + count):
            known = bound[member]
            if known != number and self.thetas[number] < self.thetas[known]:
                bound[member] = number

    def bind_class(self, workload: int, theta: Fraction) -> None:
        """Bind every member of a class."""
        self.class_theta[workload] = min(theta, self.class_theta.get(workload, theta))

    def finish(self, chains: Chains) -> Traffic:
        """Loads of all tallies."""
        for tally in self._tallies.values():
            for (source, target), count in tally.pairs.items():
                one_pair(tally, chains[source], chains[target], count)
        tallies = list(self._tallies.values())
        rates = [rate for rate, _ in self._tallies]
        granted = [rate * self.thetas[number] for rate, number in self._tallies]
        up, down, inside = ([getattr(tally, name) for tally in tallies] for name in ("up", "down", "inside"))
        return Traffic(
            offered_up=_weighed(up, rates),
            offered_down=_weighed(down, rates),
            granted_up=_weighed(up, granted),
            granted_down=_weighed(down, granted),
            inside=_weighed(inside, granted),
            class_theta=self.class_theta,
            thetas=self.thetas,
            member_theta=self.member_theta,
        )


def _weighed(tallies: Sequence[Mapping[int, int]], weights: Sequence[Fraction]) -> dict[int, Fraction]:
    """Sum over tallies of count times weight, by domain."""
    scale = common_denominator(weights)
    if scale is None:
        terms: dict[int, list[tuple[Fraction, int]]] = {}
        for counts, weight in zip(tallies, weights, strict=True):
            for domain, count in counts.items():
                terms.setdefault(domain, []).append((weight, count))
        return {domain: exact_sum(of) for domain, of in terms.items()}
    totals: dict[int, int] = {}
    for counts, weight in zip(tallies, weights, strict=True):
        whole = weight.numerator * (scale // weight.denominator)
        for domain, count in counts.items():
            totals[domain] = totals.get(domain, 0) + whole * count
    return {domain: Fraction(total, scale) for domain, total in totals.items() if total}


def traffic_of(
    instance: Instance, standing: Standing, flows: Flows, grants: Mapping[Key, Fraction], chains: Chains
) -> Traffic:
    """Loads of all flows between placed members."""
    collector = _Collector(instance)
    parents = [domain.parent for domain in instance.domains]
    nodes_of, none = standing.nodes_of, collector.number(Fraction(0))
    for team in flows.teams:
        if team.size < 2 or not team.rate:
            continue
        number = collector.number(grants[team.key]) if team.key in grants else none
        for workload, first, count in team.parts:
            collector.bind(workload, first, count, number)
        within_team(collector.tally(team.rate, number), team.nodes(nodes_of), chains, parents)
    for pair, rate in flows.pairs.items():
        if not rate:
            continue
        number = collector.number(grants.get(flows.pair_key(pair), Fraction(0))) if grants else none
        a, i, b, j = pair
        collector.bind(a, i, 1, number)
        collector.bind(b, j, 1, number)
        ends = nodes_of[a][i], nodes_of[b][j]
        if NOWHERE not in ends:
            pairs = collector.tally(rate, number).pairs
            pairs[ends] = pairs.get(ends, 0) + 1
    per_class = _class_counts(instance, standing, chains) if flows.groups else []
    for group in flows.groups:
        same = group.source == group.target
        if not group.rate or instance.workloads[group.target].count <= same:
            continue
        theta = grants.get(group.key, Fraction(0))
        collector.bind_class(group.source, theta)
        collector.bind_class(group.target, theta)
        tally = collector.tally(group.rate, collector.number(theta))
        sources, targets = per_class[group.source], per_class[group.target]
        if same:
            within_group(tally, sources, sources.get(0, 0), parents)  # the root, domain 0, holds everybody
        else:
            between_groups(tally, sources, targets, parents)
    return collector.finish(chains)


def _class_counts(instance: Instance, standing: Standing, chains: Chains) -> list[dict[int, int]]:
    """Members of each class in each domain."""
    nodes: list[Counter[int]] = [Counter() for _ in instance.workloads]
    for batch in standing.batches:
        nodes[batch.workload][batch.node] += batch.count
    return [domain_counts(counts, chains) for counts in nodes]
