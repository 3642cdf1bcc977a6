"""Families ``conflict``, ``spread`` and ``dependency`` (equation 9)."""

from __future__ import annotations

from collections.abc import Sequence

from allocator.instance.entities import Spread
from allocator.model.families import Family
from allocator.solvers.cpsat.linear import Linear, total
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """State the group families the model keeps."""
    instance = symbols.compiled.instance
    if symbols.holds(Family.CONFLICT):
        for conflict in instance.conflicts:
            for domain in instance.domains_of(conflict.level):
                members = symbols.group_count(conflict.group, domain.index)
                symbols.builder.add(members, f"the size of group {conflict.group}", upper=conflict.at_most)
    if symbols.holds(Family.SPREAD):
        for spread in instance.spreads:
            _add_spread(symbols, spread)
    if symbols.holds(Family.DEPENDENCY):
        for rule in instance.dependencies:
            for domain in instance.domains_of(rule.level):
                _add_dependency(symbols, rule.group, rule.on, domain.index)


def _add_spread(symbols: Symbols, spread: Spread) -> None:
    """Covered domains >= min(at_least, placed): at least one of the two must be reached."""
    builder, instance = symbols.builder, symbols.compiled.instance
    where = f"the size of group {spread.group}"
    covered = Linear()
    for domain in instance.domains_of(spread.level):
        present = symbols.group_presence(spread.group, domain.index)
        if present is not None:
            covered.add(present, 1)
    # members outside every domain of the level do not count as placed
    placed = total(symbols.group_count(spread.group, d.index) for d in symbols.compiled.outermost(spread.level))

    def enough(values: Sequence[int]) -> int:
        return 1 if covered.value(values) >= spread.at_least else 0

    full = builder.integer(0, 1, where, enough)
    builder.add(covered, where, lower=spread.at_least, only_if=full)
    # not full: every placed member is in a covered domain of its own
    most = max(0, int(builder.bounds(placed)[1]))
    builder.add(covered.plus(placed, -1).add(full, most), where, lower=0)


def _add_dependency(symbols: Symbols, group: str, on: str, domain: int) -> None:
    members = symbols.group_count(group, domain)
    if group == on or not members.terms:
        return
    most = int(symbols.builder.bounds(members)[1])
    present = symbols.group_presence(on, domain)
    row = members if present is None else members.plus(Linear().add(present, most), -1)
    symbols.builder.add(row, f"the size of group {group}", upper=0)
