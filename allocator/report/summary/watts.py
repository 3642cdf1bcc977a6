"""Watts: what the nodes in use draw (equation 12 of the model), and the domains with a cap."""

from __future__ import annotations

from fractions import Fraction

from allocator.instance.entities import Instance, Role
from allocator.plan.evaluation import Evaluation
from allocator.plan.numbers import base_units
from allocator.plan.result import Result
from allocator.report.format import amount, percent
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]

POWER = "power"
_COLUMNS = (Column("domain"), Column("draws", right=True), Column("cap", right=True), Column("of cap", right=True))


def section(result: Result, instance: Instance) -> Section | None:
    """Total draw and the domains nearest to their cap; None where nothing draws or caps power."""
    if result.plan is None or result.evaluation is None:
        return None
    capped = [use for use in result.evaluation.uses if use.resource == POWER]
    if not capped and not any(node.power for node in instance.nodes):
        return None
    in_use = {node for _, _, _, node in result.plan.members()}
    total = _draw(instance, result.evaluation, in_use)
    for group in result.plan.placements:
        if POWER in group.shares:
            total += base_units(group.shares[POWER] * group.count, instance.resources[POWER].exponent)
    sentence = f"{amount(total, 'W')} drawn by {len(in_use):,} of {len(instance.nodes):,} nodes in use."
    capped.sort(key=lambda use: (-(use.utilization or Fraction(0)), use.domain))
    shown, more = cut(capped, 5)
    rows = tuple(
        (use.domain or "all", amount(use.used, "W"), amount(use.capacity, "W"), percent(use.utilization))
        for use in shown
    )
    return Section("Power", (sentence,), Sheet(_COLUMNS, rows, more) if rows else None)


def _draw(instance: Instance, evaluation: Evaluation, in_use: set[str]) -> Fraction:
    used = {(use.domain, use.resource): use.utilization for use in evaluation.uses}
    compute = [name for name, resource in instance.resources.items() if resource.role is Role.COMPUTE]
    total = Fraction(0)
    for node in instance.nodes:
        if node.power is None or node.path not in in_use:
            continue
        driver = next((name for name in compute if node.capacity.get(name, 0) > 0), None)
        load = used.get((node.path, driver)) if driver else None
        total += node.power.idle + (node.power.busy - node.power.idle) * (load or Fraction(0))
    return total
