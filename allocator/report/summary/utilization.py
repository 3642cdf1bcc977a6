"""Utilisation by level and resource: mean, the fullest domain and where it is."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.evaluation import Use
from allocator.plan.result import Result
from allocator.report.format import amount, percent
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]

SHOWN = 12
_COLUMNS = (
    Column("level"),
    Column("resource"),
    Column("used", right=True),
    Column("of", right=True),
    Column("mean", right=True),
    Column("max", right=True),
    Column("fullest"),
)


def section(result: Result, instance: Instance) -> Section | None:
    """A row a level and resource, from the root down; None where no capacity is stated."""
    if result.evaluation is None or not result.evaluation.uses:
        return None
    groups: defaultdict[tuple[str, str], list[Use]] = defaultdict(list)
    for use in result.evaluation.uses:
        groups[use.level, use.resource].append(use)
    depth: dict[str, int] = {}
    for domain in instance.domains:
        if domain.level not in depth:
            depth[domain.level] = len(instance.ancestors(domain))
    ordered = sorted(groups.items(), key=lambda item: (depth.get(item[0][0], 0), item[0][0], -_mean(item[1])))
    shown, more = cut(ordered, SHOWN)
    rows = tuple(_row(instance, level, resource, uses) for (level, resource), uses in shown)
    return Section("Utilisation", sheet=Sheet(_COLUMNS, rows, more))


def _mean(uses: list[Use]) -> Fraction:
    """All that is used over all that there is."""
    capacity = sum((use.capacity for use in uses), Fraction(0))
    return sum((use.used for use in uses), Fraction(0)) / capacity if capacity else Fraction(0)


def _row(instance: Instance, level: str, resource: str, uses: list[Use]) -> tuple[str, ...]:
    unit = instance.resources[resource].unit if resource in instance.resources else ""
    used = sum((use.used for use in uses), Fraction(0))
    capacity = sum((use.capacity for use in uses), Fraction(0))
    fullest = max(uses, key=lambda use: use.utilization or Fraction(0))
    highest = fullest.utilization
    return (
        level or "all",
        resource,
        amount(used, unit),
        amount(capacity, unit),
        percent(_mean(uses)) if capacity else "-",
        percent(highest),
        fullest.domain if highest else "-",
    )
