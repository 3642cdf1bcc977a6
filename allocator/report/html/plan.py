"""A plan as a page, or as a part of one: built from a result and its instance. Needs no solver.

The words and small tables are those of the text summary; maps, shares and the table of all domains are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.result import Result, Status
from allocator.report.charts.topology import legend
from allocator.report.format import count, level_name, level_value, percent, price, seconds
from allocator.report.html.curves import curve_pictures
from allocator.report.html.environment import render
from allocator.report.html.maps import domain_name, domain_table, topology_maps
from allocator.report.html.shares import mix, shares_table
from allocator.report.html.table import Cell, Column, Table, from_sheet, plain
from allocator.report.html.view import Part, Picture, PlanView
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
    watts,
)
from allocator.report.summary.rates import priced_goal
from allocator.report.summary.section import Section
from allocator.report.summary.verdict import verdict

__all__ = ["plan_page", "plan_view"]

MOST_VIOLATIONS = 50
DRAWN_TOLERANCE = Fraction(1, 100)  # of the pieces in the drawings of curves

Builder = Callable[[Result, Instance], Section | None]

_BEFORE: tuple[Builder, ...] = (infeasible.section, goals.section, classes.section, shortfall.section, unplaced.section)
_AFTER: tuple[Builder, ...] = (
    utilization.section,
    links.section,
    messages.section,
    watts.section,
    moves.section,
    before.section,
    placement.section,
    teams.section,
    end_to_end.section,
    limits.headroom,
    certificate.warnings,
    certificate.section,
)


def plan_page(result: Result, instance: Instance) -> str:
    """One self-contained HTML page about a result: what was decided, how good it is, where everything runs.

    Parameters
    ----------
    result : of ``allocator.solve`` for this instance.
    """
    broken = () if result.evaluation is None else result.evaluation.violations
    wrong = [f"{item.family}: {domain_name(item.where)}: {item.message}" for item in broken[:MOST_VIOLATIONS]]
    if len(broken) > MOST_VIOLATIONS:
        wrong.append(f"… and {len(broken) - MOST_VIOLATIONS:,} more")
    return render(
        "plan.html",
        f"{instance.name}: plan",
        name=instance.name,
        model=result.model,
        verdict=[_capital(verdict(result))],
        wrong=wrong,
        view=plan_view(result, instance, "plan"),
    )


def plan_view(result: Result, instance: Instance, key: str, *, small: bool = False) -> PlanView:
    """What a page shows of a result.

    Parameters
    ----------
    key : beginning of the ids inside, unique on its page.
    small : one plan of many on the page: fewer and smaller maps, fewer rows.
    """
    before = _parts(_BEFORE, result, instance, key)
    after = _parts(_AFTER, result, instance, key)
    found = _bottlenecks(result, instance, key)
    if found is not None:
        after = (found, *after)
    facts = _facts(result, instance)
    if result.plan is None or result.evaluation is None:
        return PlanView(key, facts, before, after=after)
    domains = f"{key}-domains"
    maps, words = topology_maps(instance, result.evaluation, domains, titles=not small, most=3 if small else 6)
    key_of_maps = _legend(maps)
    if not small:
        maps = (*maps, *curve_pictures(instance, result.plan, result.evaluation, DRAWN_TOLERANCE, domains))
    tables = [
        domain_table(instance, result.plan, result.evaluation, domains, *((60,) if small else ())),
        shares_table(instance, result.plan, f"{key}-shares"),
    ]
    return PlanView(
        key,
        facts,
        before,
        maps,
        words,
        key_of_maps,
        _cell_word(instance),
        mix(instance, result.plan, f"{key}-shares"),
        tuple(table for table in tables if table.rows),
        after,
    )


def _legend(maps: tuple[Picture, ...]) -> str:
    return legend() if maps else ""


def _cell_word(instance: Instance) -> str:
    levels = {node.level for node in instance.nodes}
    return levels.pop() if len(levels) == 1 else "node"


def _parts(builders: Sequence[Builder], result: Result, instance: Instance, key: str) -> tuple[Part, ...]:
    return tuple(
        _part(section, f"{key}-{builder.__module__.rsplit('.', 1)[-1]}-{builder.__name__}")
        for builder in builders
        if (section := builder(result, instance)) is not None
    )


def _part(section: Section, key: str) -> Part:
    """A section of the text summary as a part of the page."""
    sheet = section.sheet
    table = None
    if sheet is not None:
        columns = [(column.title, column.right) for column in sheet.columns]
        table = from_sheet(key, section.title, columns, sheet.rows, sheet.more)
    sentences = tuple(sentence.removeprefix("- ") for sentence in section.sentences)
    return Part(section.title, sentences, table, section.notes)


def _facts(result: Result, instance: Instance) -> tuple[tuple[str, str, str], ...]:
    """The few numbers to see first."""
    facts = [("Status", _status(result), "")]
    if result.evaluation is not None:
        total = sum(outcome.count for outcome in result.evaluation.classes)
        placed = sum(outcome.placed for outcome in result.evaluation.classes)
        facts.append(("Placed", f"{placed:,}", f"of {count(total, 'member')}, {count(len(instance.nodes), 'node')}"))
    for outcome in result.levels[:4]:
        name = level_name(outcome.level)
        if outcome.value is None or name == "placed":
            continue
        note = f"gap {percent(outcome.gap, 2)}" if outcome.gap is not None else "no bound is known"
        facts.append((name, level_value(outcome.level, outcome.value), "proven" if outcome.gap == 0 else note))
    if "total" in result.seconds:
        facts.append(("Time", seconds(round(result.seconds["total"], 3)), f"method {result.method}"))
    return tuple(facts)


def _status(result: Result) -> str:
    names = {
        Status.OPTIMAL: "optimal",
        Status.FEASIBLE: "feasible",
        Status.INFEASIBLE: "no plan exists",
        Status.UNKNOWN: "no plan found",
    }
    return names[result.status]


def _bottlenecks(result: Result, instance: Instance, key: str) -> Part | None:
    """Every bottleneck that the result names, with the worth of one more unit."""
    found = [item for item in result.bottlenecks if item.price or item.utilization >= limits.NEAR]
    if not found:
        return (
            Part("Bottlenecks and prices", (f"Nothing is used beyond {percent(limits.NEAR)}.",))
            if result.plan
            else None
        )
    priced = any(item.price is not None for item in result.bottlenecks)
    rows: list[tuple[Cell, ...]] = []
    for item in found:
        unit = instance.resources[item.resource].unit if item.resource in instance.resources else ""
        unit = "bit/s" if item.resource == "bandwidth" else unit
        worth = Cell("-") if item.price is None else Cell(price(item.price, unit, priced_goal(result)), item.price)
        used = Cell(percent(item.utilization), item.utilization)
        row = plain(domain_name(item.domain)), plain(item.resource), used
        rows.append((*row, worth) if priced else row)
    columns: tuple[Column, ...] = (
        Column("domain", "domain"),
        Column("resource", "resource", choice=True),
        Column("utilization", "used", right=True),
    )
    if priced:
        columns = (*columns, Column("price", "worth of one more", right=True))
    table = Table(f"{key}-bottlenecks", "Bottlenecks and prices", columns, tuple(rows[:100]), max(0, len(rows) - 100))
    words = "The worth of one more is what one more unit of it adds to the first goal that can use it."
    sentences = (words,) if any(item.price for item in found) else ()
    return Part("Bottlenecks and prices", sentences, table)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
