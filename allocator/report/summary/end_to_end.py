"""End to end: P99 of requests that pass the members of a team, one after the other or all at once."""

from __future__ import annotations

from fractions import Fraction

from allocator.checker.end_to_end import EndToEnd, teams_end_to_end
from allocator.instance.entities import Instance
from allocator.plan.result import Result
from allocator.report.format import seconds
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]


def section(result: Result, instance: Instance) -> Section | None:
    """A row an entry of teams whose members have response times: its slowest team; None without any."""
    if result.plan is None or not instance.teams:
        return None
    found = teams_end_to_end(instance, result.plan)
    if not found:
        return None
    shown, more = cut(sorted(found.items(), key=_slowest_first))
    rows = tuple((name, f"{ends.stages:,}", _time(ends.in_a_row), _time(ends.branches)) for name, ends in shown)
    columns = (
        Column("team"),
        Column("members with P99", right=True),
        Column("one after the other", right=True),
        Column("all at once", right=True),
    )
    notes = ["99 of 100 requests stay within, whatever the times of the members have to do with each other."]
    if any(ends.crossings for ends in found.values()):
        notes.append("Messages between them are counted at the load of the links that they cross.")
    if any(ends.in_a_row is None for ends in found.values()):
        notes.append("No bound: a message crosses a link that is offered more than 99 % of its bandwidth.")
    return Section("End to end", sheet=Sheet(columns, rows, more), notes=tuple(notes))


def _slowest_first(entry: tuple[str, EndToEnd]) -> tuple[bool, Fraction]:
    time = entry[1].in_a_row
    return time is not None, -time if time is not None else Fraction(0)


def _time(value: Fraction | None) -> str:
    return "no bound" if value is None else seconds(value)
