"""Members without a node, with the reason and what is short."""

from __future__ import annotations

from collections import Counter

from allocator.instance.entities import Instance
from allocator.plan.numbers import base_units
from allocator.plan.result import Result
from allocator.report.format import amount
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]


def section(result: Result, instance: Instance) -> Section | None:
    """A row a class and reason, the most members first; None when everybody is placed."""
    if result.plan is None or not result.plan.unplaced:
        return None
    counts: Counter[tuple[str, str, tuple[tuple[str, int], ...]]] = Counter()
    for group in result.plan.unplaced:
        counts[group.workload, group.reason, tuple(sorted(group.short.items()))] += group.count
    shown, more = cut(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    rows = []
    for (workload, reason, short), members in shown:
        missing = ", ".join(f"{_short(instance, name, value)} of {name}" for name, value in short)
        said = not missing or "short" in reason
        rows.append((workload, f"{members:,}", reason if said else f"{reason} (short: {missing})"))
    columns = (Column("class"), Column("members", right=True), Column("reason"))
    return Section("Not placed", sheet=Sheet(columns, tuple(rows), more))


def _short(instance: Instance, name: str, value: int) -> str:
    resource = instance.resources[name]
    return amount(base_units(value, resource.exponent), resource.unit)
