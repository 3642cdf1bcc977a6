"""Pairs of members by the domains they cross: all-to-all teams and class-to-class entries by members per domain.

Owns the counting, never pair by pair but where single pairs are stated. Knows no rates and no capacities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from allocator.checker.standing import NOWHERE

__all__ = ["Tally", "between_groups", "domain_counts", "one_pair", "within_group", "within_team"]

Chains = tuple[tuple[int, ...], ...]
Parents = Sequence[int | None]


@dataclass(slots=True)
class Tally:
    """Pair counts per domain and direction; ``inside`` counts pairs whose lowest common domain is that domain."""

    up: dict[int, int] = field(default_factory=dict)
    down: dict[int, int] = field(default_factory=dict)
    inside: dict[int, int] = field(default_factory=dict)
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)  # single pairs, by their nodes


def domain_counts(nodes: Mapping[int, int], chains: Chains) -> dict[int, int]:
    """Members in each domain, from members on each node."""
    counts: dict[int, int] = {}
    for node, count in nodes.items():
        for domain in chains[node]:
            counts[domain] = counts.get(domain, 0) + count
    return counts


def within_team(tally: Tally, nodes: list[int], chains: Chains, parents: Parents) -> None:
    """All ordered pairs of the members on these nodes."""
    at = Counter(nodes)
    unplaced = at.pop(NOWHERE, 0)
    if len(at) == 1:
        ((node, count),) = at.items()
        _count(tally.inside, chains[node][0], count * (count - 1))
        return
    within_group(tally, domain_counts(at, chains), len(nodes) - unplaced, parents)


def _count(counts: dict[int, int], domain: int, more: int) -> None:
    counts[domain] = counts.get(domain, 0) + more


def within_group(tally: Tally, counts: Mapping[int, int], total: int, parents: Parents) -> None:
    """All ordered pairs of one group of ``total`` members."""
    for domain, count in counts.items():
        crossing = count * (total - count)
        if crossing:
            _count(tally.up, domain, crossing)
            _count(tally.down, domain, crossing)
        _stay(tally, domain, parents[domain], count * (count - 1))


def between_groups(tally: Tally, sources: Mapping[int, int], targets: Mapping[int, int], parents: Parents) -> None:
    """All pairs from one group to another, disjoint one."""
    all_sources, all_targets = sources.get(0, 0), targets.get(0, 0)
    for domain in dict.fromkeys((*sources, *targets)):
        a, b = sources.get(domain, 0), targets.get(domain, 0)
        _count(tally.up, domain, a * (all_targets - b))
        _count(tally.down, domain, b * (all_sources - a))
        _stay(tally, domain, parents[domain], a * b)


def _stay(tally: Tally, domain: int, parent: int | None, together: int) -> None:
    """Count pairs that stay in a domain; in its parent they are no longer the ones that meet exactly there."""
    if together:
        _count(tally.inside, domain, together)
        if parent is not None:
            _count(tally.inside, parent, -together)


def one_pair(tally: Tally, source: tuple[int, ...], target: tuple[int, ...], count: int) -> None:
    """So many pairs between the same nodes, by the chains of the two."""
    common = set(target)
    lowest = next(domain for domain in source if domain in common)
    _count(tally.inside, lowest, count)
    for domain in _below(source, lowest):
        _count(tally.up, domain, count)
    for domain in _below(target, lowest):
        _count(tally.down, domain, count)


def _below(chain: tuple[int, ...], stop: int) -> Iterator[int]:
    for domain in chain:
        if domain == stop:
            return
        yield domain
