"""Shares by class: what one member asks for and gets, what the class holds of all there is."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from allocator.instance.entities import Instance, Resource
from allocator.plan.entities import Plan
from allocator.plan.numbers import base_units
from allocator.report.charts.bars import Bar, Part, stacked
from allocator.report.charts.svg import element
from allocator.report.format import amount, percent
from allocator.report.html.table import Cell, Column, Table, plain
from allocator.report.html.view import Picture

__all__ = ["capacities", "mix", "shares_table"]

MOST_ROWS = 400
COLOURS = 7
REST = 7
OTHERS = "all others"


@dataclass(slots=True)
class _Held:
    """What members of a class in a mode hold of a resource, amounts: bounds of one member's share, and the sum."""

    members: int = 0
    asked_low: int | None = None
    asked_high: int = 0
    low: int | None = None
    high: int = 0
    total: int = 0


def capacities(instance: Instance) -> dict[str, int]:
    """Amount of each resource at the topmost domains that state one."""
    found: dict[str, int] = {}
    for name in instance.resources:
        total, skip_to = 0, 0
        for domain in instance.domains:
            if domain.index >= skip_to and name in domain.capacity:
                total += domain.capacity[name]
                skip_to = domain.end_domain
        if total:
            found[name] = total
    return found


def _held(instance: Instance, plan: Plan) -> dict[tuple[str, str, str], _Held]:
    found: defaultdict[tuple[str, str, str], _Held] = defaultdict(_Held)
    modes = {(workload.name, mode.name): mode for workload in instance.workloads for mode in workload.modes}
    for group in plan.placements:
        mode = modes.get((group.workload, group.mode))
        kinds = {node.kind for path in set(group.nodes) if (node := instance.domain_by_path.get(path)) is not None}
        for name, share in group.shares.items():
            if name not in instance.resources:
                continue
            held = found[group.workload, group.mode, name]
            held.members += group.count
            held.low = share if held.low is None else min(held.low, share)
            held.high = max(held.high, share)
            held.total += share * group.count
            for kind in kinds if mode is not None else ():
                asked = mode.demand(kind or "").requests.get(name, 0) if mode is not None else 0
                held.asked_low = asked if held.asked_low is None else min(held.asked_low, asked)
                held.asked_high = max(held.asked_high, asked)
    return dict(found)


def shares_table(instance: Instance, plan: Plan, key: str) -> Table:
    """A row a class, mode and resource."""
    columns = (
        Column("class", "class"),
        Column("mode", "mode", choice=True),
        Column("resource", "resource", choice=True),
        Column("members", "members", right=True),
        Column("asked", "one asks for", right=True),
        Column("given", "one gets", right=True),
        Column("total", "in all", right=True),
        Column("part", "of all there is", right=True),
    )
    whole = capacities(instance)
    rows = []
    for (workload, mode, name), held in _held(instance, plan).items():
        resource = instance.resources[name]

        def shown(low: int | None, high: int, unit: str = resource.unit, exponent: int = resource.exponent) -> Cell:
            top = base_units(high, exponent)
            text = amount(top, unit)
            if low is not None and low != high:
                text = f"{amount(base_units(low, exponent), unit)} to {text}"
            return Cell(text, top)

        part = Fraction(held.total, whole[name]) if name in whole else None
        rows.append(
            (
                plain(workload),
                plain(mode),
                plain(name),
                Cell(f"{held.members:,}", held.members),
                shown(held.asked_low, held.asked_high),
                shown(held.low, held.high),
                shown(None, held.total),
                Cell(percent(part), part),
            )
        )
    return Table(key, "Shares by class", columns, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS))


def mix(instance: Instance, plan: Plan, table_key: str) -> Picture | None:
    """A bar a resource: which class holds how much of all there is. None where no capacity is stated or none held."""
    whole = capacities(instance)
    held: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (workload, _, name), entry in _held(instance, plan).items():
        if name in whole and entry.total:
            held[name][workload] = held[name].get(workload, 0) + entry.total
    if not held:
        return None
    weight: defaultdict[str, Fraction] = defaultdict(Fraction)
    for name, classes in held.items():
        for workload, total in classes.items():
            weight[workload] = max(weight[workload], Fraction(total, whole[name]))
    ranked = sorted(weight, key=lambda workload: (-weight[workload], workload))
    colour = {workload: f"s{index}" for index, workload in enumerate(ranked[:COLOURS])}
    bars = []
    for name, classes in held.items():
        parts = [(workload, classes[workload]) for workload in colour if workload in classes]
        rest = sum(total for workload, total in classes.items() if workload not in colour)
        if rest:
            parts.append((OTHERS, rest))
        bars.append(_bar(instance.resources[name], whole[name], parts, colour))
    fullest = max(held, key=lambda name: Fraction(sum(held[name].values()), whole[name]))
    description = (
        f"{len(held)} resources over {len(ranked)} classes. Most used: {fullest}, "
        f"{percent(Fraction(sum(held[fullest].values()), whole[fullest]))} of all there is."
    )
    key = [(_swatch(colour[workload]), workload) for workload in ranked[:COLOURS]]
    if len(ranked) > COLOURS:
        key.append((_swatch(f"s{REST}"), f"{len(ranked) - COLOURS:,} others"))
    drawing = stacked(bars, title="Shares of the classes, by resource", description=description)
    return Picture("All there is, by class", drawing, description, tuple(key), elsewhere=table_key)


def _bar(resource: Resource, whole: int, held: list[tuple[str, int]], colour: dict[str, str]) -> Bar:
    parts = []
    for workload, total in held:
        share = Fraction(total, whole)
        shown = amount(base_units(total, resource.exponent), resource.unit)
        said = f"{workload}: {percent(share)} of {resource.name} ({shown})"
        parts.append(Part(float(share), colour.get(workload, f"s{REST}"), said))
    used = Fraction(sum(total for _, total in held), whole)
    fact = f"{percent(used)} of {amount(base_units(whole, resource.exponent), resource.unit)}"
    return Bar(resource.name, fact, tuple(parts))


def _swatch(shade: str) -> str:
    inner = element("rect", x=0, y=0, width=30, height=11, class_=f"part {shade}")
    return f'<svg viewBox="0 0 32 12" aria-hidden="true">{inner}</svg>'
