"""The hottest uplinks: what flows offer to them, what they carry."""

from __future__ import annotations

from allocator.instance.entities import Instance
from allocator.plan.evaluation import LinkUse
from allocator.plan.result import Result
from allocator.report.format import amount, percent
from allocator.report.loads import load_of
from allocator.report.summary.rates import rewards_rates
from allocator.report.summary.section import Column, Section, Sheet

__all__ = ["section"]

SHOWN = 5
_COLUMNS = (
    Column("uplink of"),
    Column("direction"),
    Column("offered", right=True),
    Column("capacity", right=True),
    Column("load", right=True),
)
_GRANTED = Column("granted", right=True)


def section(result: Result, _instance: Instance) -> Section | None:
    """The uplinks with the highest offered load over capacity; None when nothing crosses a link.

    What is granted is shown only where a goal rewards it: without one every grant is 0 (equation 7).
    """
    if result.evaluation is None:
        return None
    used = [link for link in result.evaluation.links if link.offered > 0]
    if not used:
        return None
    used.sort(key=lambda link: (-load_of(link), -link.offered, link.domain, link.direction))
    rated = rewards_rates(result)
    rows = tuple(_row(link, rated) for link in used[:SHOWN])
    columns = (*_COLUMNS, _GRANTED) if rated else _COLUMNS
    notes = [f"... and {len(used) - SHOWN:,} more links with traffic"] if len(used) > SHOWN else []
    return Section("Hottest uplinks", sheet=Sheet(columns, rows), notes=tuple(notes))


def _row(link: LinkUse, rated: bool) -> tuple[str, ...]:
    cells = (
        link.domain,
        link.direction,
        amount(link.offered, "bit/s"),
        "unlimited" if link.capacity is None else amount(link.capacity, "bit/s"),
        percent(load_of(link)) if link.capacity else "-",
    )
    return (*cells, amount(link.granted, "bit/s")) if rated else cells
