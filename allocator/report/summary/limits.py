"""What limits the plan: bottlenecks with their price, and how many more copies of the mix fit."""

from __future__ import annotations

from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.result import Result
from allocator.report.format import number, percent, price
from allocator.report.summary.rates import priced_goal
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["bottlenecks", "headroom"]

NEAR = Fraction(4, 5)
"""Use of a resource from which on it counts as near its limit."""

_COLUMNS = (Column("domain"), Column("resource"), Column("used", right=True))
_WORTH = Column("worth of one more", right=True)


def bottlenecks(result: Result, instance: Instance) -> Section | None:
    """Resources near their limit or with a price, the most valuable first as the result orders them.

    Prices are left out where none is known: they come from the division of shares, which only a rate goal asks for.
    """
    if not result.bottlenecks:
        return None
    found = [item for item in result.bottlenecks if item.price or item.utilization >= NEAR]
    if not found:
        return Section("Bottlenecks", (f"Nothing is used beyond {percent(NEAR)}.",))
    shown, more = cut(found, 5)
    priced = any(item.price is not None for item in result.bottlenecks)
    rows: list[tuple[str, ...]] = []
    for item in shown:
        unit = instance.resources[item.resource].unit if item.resource in instance.resources else ""
        if item.resource == "bandwidth":
            unit = "bit/s"
        row = item.domain or "all", item.resource, percent(item.utilization)
        worth = "-" if item.price is None else price(item.price, unit, priced_goal(result))
        rows.append((*row, worth) if priced else row)
    columns = (*_COLUMNS, _WORTH) if priced else _COLUMNS
    return Section("Bottlenecks", sheet=Sheet(columns, tuple(rows), more))


def headroom(result: Result, _instance: Instance) -> Section | None:
    """How many more copies of this mix fit, and whether that is proven or found."""
    if result.headroom is None:
        return None
    room = result.headroom
    copies = number(room.copies)
    noun = "copy" if room.copies == 1 else "copies"
    if room.kind == "bound" and room.copies == 0:
        sentence = "Not one more copy of this mix can fit (proven"
    elif room.kind == "bound":
        sentence = f"At most {copies} more {noun} of this mix can fit (bound: no plan can hold more"
    else:
        sentence = f"At least {copies} more {noun} of this mix fit (found: a plan for them is known"
    sentence += f"; {room.resource} runs out first)." if room.resource else ")."
    return Section("Headroom", (sentence,))
