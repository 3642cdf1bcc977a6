"""Equation (9): ``conflict``, ``spread`` and ``dependency`` of groups over the zones of a level."""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["conflict", "dependency", "spread"]


def conflict(situation: Situation) -> Iterator[Violation]:
    """Zones of a level that hold too many members of a group."""
    for rule in situation.instance.conflicts:
        for zone, count in _held(situation, rule.group, rule.level).items():
            if count > rule.at_most:
                message = f"{count} members of {rule.group}: at most {rule.at_most} in one {rule.level}"
                yield Violation(Family.CONFLICT, situation.instance.zones_of(rule.level)[zone].name, message)


def spread(situation: Situation) -> Iterator[Violation]:
    """Groups that cover too few zones of a level. Members outside of every zone of the level do not count."""
    for rule in situation.instance.spreads:
        held = _held(situation, rule.group, rule.level)
        zones = situation.zones(rule.level)
        nodes = situation.group_nodes.get(rule.group, {})
        placed = sum(count for node, count in nodes.items() if zones[node])
        needed = min(rule.at_least, placed)
        if len(held) < needed:
            message = f"covers {len(held)} domains of level {rule.level}: must be at least {needed}"
            yield Violation(Family.SPREAD, rule.group, message)


def dependency(situation: Situation) -> Iterator[Violation]:
    """Zones of a level that hold one group without the other it depends on."""
    known: dict[tuple[str, str], dict[int, int]] = {}  # a group takes part in many rules
    for rule in situation.instance.dependencies:
        for group in (rule.on, rule.group):
            if (group, rule.level) not in known:
                known[group, rule.level] = _held(situation, group, rule.level)
        needed = known[rule.on, rule.level]
        for zone in known[rule.group, rule.level]:
            if zone not in needed:
                message = f"holds members of {rule.group} and none of {rule.on}"
                yield Violation(Family.DEPENDENCY, situation.instance.zones_of(rule.level)[zone].name, message)


def _held(situation: Situation, group: str, level: str) -> dict[int, int]:
    """Zones of a level with members of a group, ascending, and how many."""
    counts: dict[int, int] = {}
    zones = situation.zones(level)
    for node, count in situation.group_nodes.get(group, {}).items():
        for zone in zones[node]:
            counts[zone] = counts.get(zone, 0) + count
    return dict(sorted(counts.items()))
