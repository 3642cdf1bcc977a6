"""Equation (9): ``conflict``, ``spread`` and ``dependency`` of groups over the domains of a level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.instance.entities import Domain
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["conflict", "dependency", "spread"]


def conflict(situation: Situation) -> Iterator[Violation]:
    """Domains of a level that hold too many members of a group."""
    for rule in situation.instance.conflicts:
        for domain, count in _held(situation, rule.group, rule.level):
            if count > rule.at_most:
                message = f"{count} members of {rule.group}: at most {rule.at_most} in one {rule.level}"
                yield Violation(Family.CONFLICT, domain.path, message)


def spread(situation: Situation) -> Iterator[Violation]:
    """Groups that cover too few domains of a level. Members outside of every domain of the level do not count."""
    for rule in situation.instance.spreads:
        held = _held(situation, rule.group, rule.level)
        holders = situation.holders(rule.level)
        nodes = situation.group_nodes.get(rule.group, {})
        placed = sum(count for node, count in nodes.items() if holders[node])
        needed = min(rule.at_least, placed)
        if len(held) < needed:
            message = f"covers {len(held)} domains of level {rule.level}: must be at least {needed}"
            yield Violation(Family.SPREAD, rule.group, message)


def dependency(situation: Situation) -> Iterator[Violation]:
    """Domains of a level that hold one group without the other it depends on."""
    for rule in situation.instance.dependencies:
        needed = {domain.index for domain, _ in _held(situation, rule.on, rule.level)}
        for domain, _ in _held(situation, rule.group, rule.level):
            if domain.index not in needed:
                message = f"holds members of {rule.group} and none of {rule.on}"
                yield Violation(Family.DEPENDENCY, domain.path, message)


def _held(situation: Situation, group: str, level: str) -> list[tuple[Domain, int]]:
    """Domains of a level with members of a group, and how many."""
    counts: Counter[int] = Counter()
    holders = situation.holders(level)
    for node, count in situation.group_nodes.get(group, {}).items():
        for domain in holders[node]:
            counts[domain] += count
    return [(situation.instance.domains[index], counts[index]) for index in sorted(counts)]
