"""End to end: P99 of requests that pass the members of a team, one after the other or all at once."""

from __future__ import annotations

from allocator.checker.end_to_end import teams_end_to_end
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
    shown, more = cut(sorted(found.items(), key=lambda entry: -entry[1].in_a_row))
    rows = tuple((name, f"{ends.stages:,}", seconds(ends.in_a_row), seconds(ends.branches)) for name, ends in shown)
    columns = (
        Column("team"),
        Column("members", right=True),
        Column("one after the other", right=True),
        Column("all at once", right=True),
    )
    note = "99 of 100 requests stay within, whatever the times of the members have to do with each other."
    return Section("End to end", sheet=Sheet(columns, rows, more), notes=(note,))
