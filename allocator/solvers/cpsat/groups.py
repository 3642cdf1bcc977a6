"""Families ``conflict``, ``spread`` and ``dependency`` (equation 9)."""

from __future__ import annotations

from collections.abc import Sequence

from allocator.instance.entities import Spread
from allocator.instance.zones import Zone
from allocator.model.families import Family
from allocator.solvers.cpsat.linear import Linear, total
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """State the group families the model keeps."""
    instance = symbols.compiled.instance
    if symbols.holds(Family.CONFLICT):
        for conflict in instance.conflicts:
            for zone in instance.zones_of(conflict.level):
                members = symbols.group_count(conflict.group, zone)
                symbols.builder.add(members, f"the size of group {conflict.group}", upper=conflict.at_most)
    if symbols.holds(Family.SPREAD):
        for spread in instance.spreads:
            _add_spread(symbols, spread)
    if symbols.holds(Family.DEPENDENCY):
        for rule in instance.dependencies:
            for zone in instance.zones_of(rule.level):
                _add_dependency(symbols, rule.group, rule.on, zone)


def _add_spread(symbols: Symbols, spread: Spread) -> None:
    """Covered zones >= min(at_least, placed): at least one of the two must be reached."""
    builder, instance = symbols.builder, symbols.compiled.instance
    where = f"the size of group {spread.group}"
    covered = Linear()
    outermost: list[Zone] = []  # those that lie in no other one
    for zone in instance.zones_of(spread.level):
        if not outermost or zone.nodes[0] not in outermost[-1].nodes:
            outermost.append(zone)
        present = symbols.group_presence(spread.group, zone)
        if present is not None:
            covered.add(present, 1)
    # members outside every zone of the level do not count as placed
    placed = total(symbols.group_count(spread.group, zone) for zone in outermost)

    def enough(values: Sequence[int]) -> int:
        return 1 if covered.value(values) >= spread.at_least else 0

    full = builder.integer(0, 1, where, enough)
    builder.add(covered, where, lower=spread.at_least, only_if=full)
    # not full: every placed member is in a covered zone of its own
    most = max(0, int(builder.bounds(placed)[1]))
    builder.add(covered.plus(placed, -1).add(full, most), where, lower=0)


def _add_dependency(symbols: Symbols, group: str, on: str, zone: Zone) -> None:
    members = symbols.group_count(group, zone)
    if group == on or not members.terms:
        return
    most = int(symbols.builder.bounds(members)[1])
    present = symbols.group_presence(on, zone)
    row = members if present is None else members.plus(Linear().add(present, most), -1)
    symbols.builder.add(row, f"the size of group {group}", upper=0)
