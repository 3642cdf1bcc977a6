"""The readable summary of a result: what was decided, how good it is, what limits it, in 80 columns.

``summarize`` gives plain text. Every section is a module that turns a result and its instance into a ``Section`` or
None where there is nothing to say; none of them knows the others or the command line.
"""

from __future__ import annotations

from collections.abc import Callable

from allocator.instance.entities import Instance
from allocator.plan.result import Result
from allocator.report.summary import (
    before,
    certificate,
    classes,
    end_to_end,
    goals,
    infeasible,
    limits,
    links,
    messages,
    moves,
    placement,
    shortfall,
    teams,
    unplaced,
    utilization,
    verdict,
    watts,
)
from allocator.report.summary.section import Section, render

__all__ = ["SECTIONS", "summarize"]

SECTIONS: tuple[Callable[[Result, Instance], Section | None], ...] = (
    verdict.section,
    infeasible.section,
    goals.section,
    classes.section,
    shortfall.section,
    unplaced.section,
    utilization.section,
    links.section,
    messages.section,
    watts.section,
    moves.section,
    before.section,
    placement.section,
    teams.section,
    end_to_end.section,
    limits.bottlenecks,
    limits.headroom,
    certificate.warnings,
    certificate.section,
)


def summarize(result: Result, instance: Instance, *, width: int = 80, color: bool = False) -> str:
    """Summary of a result as text.

    Parameters
    ----------
    result : of ``allocator.solve.solve`` for this instance.
    width : columns to fill.
    color : whether to use terminal escapes.
    """
    sections = [found for build in SECTIONS if (found := build(result, instance)) is not None]
    return render(sections, width=width, color=color)
