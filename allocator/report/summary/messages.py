"""Messages on loaded links: what the largest one takes to cross each, the slowest first."""

from __future__ import annotations

from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.evaluation import LinkUse
from allocator.plan.result import Result
from allocator.report.format import amount, percent, seconds
from allocator.report.summary.section import Column, Section, Sheet

__all__ = ["section"]

SHOWN = 5
BITS = 8
_COLUMNS = (
    Column("uplink of"),
    Column("direction"),
    Column("load", right=True),
    Column("message", right=True),
    Column("99 of 100 within", right=True),
)


def section(result: Result, _instance: Instance) -> Section | None:
    """The links that messages of a stated size cross; None without any."""
    if result.evaluation is None:
        return None
    crossed = [link for link in result.evaluation.links if link.message is not None and link.capacity is not None]
    if not crossed:
        return None
    crossed.sort(key=_slowest_first)
    rows = tuple(_row(link) for link in crossed[:SHOWN])
    notes = [f"... and {len(crossed) - SHOWN:,} more links with messages"] if len(crossed) > SHOWN else []
    endless = sum(1 for link in crossed if link.delay is None)
    if endless:
        notes.append(
            f"No bound on {endless:,} of {len(crossed):,} link directions: offered more than 99 % of the bandwidth."
        )
    return Section("Messages on links", sheet=Sheet(_COLUMNS, rows), notes=tuple(notes))


def _slowest_first(link: LinkUse) -> tuple[bool, Fraction, str, str]:
    return link.delay is not None, -(link.delay or Fraction(0)), link.domain, link.direction


def _row(link: LinkUse) -> tuple[str, ...]:
    return (
        link.domain,
        link.direction,
        percent(link.offered / link.capacity) if link.capacity else "-",
        "-" if link.message is None else amount(link.message / BITS, "B"),
        "no bound" if link.delay is None else seconds(link.delay),
    )
