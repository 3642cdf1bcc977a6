"""Classes: members placed, tasks per second against what is offered, response times against targets."""

from __future__ import annotations

from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.evaluation import ClassOutcome
from allocator.plan.result import Result
from allocator.report.format import number, percent, seconds
from allocator.report.summary.rates import tells_rates
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]


def section(result: Result, instance: Instance) -> Section | None:
    """A row a class, those that miss most first; None without a plan or without classes.

    Rates are left out where traffic limits them and no goal rewards them: every grant is then 0 (equation 7), and
    0 tasks/s would say nothing about the plan. P99 is that of the slowest member, where the class has one.
    """
    if result.evaluation is None or not result.evaluation.classes:
        return None
    outcomes = result.evaluation.classes
    rated = tells_rates(result, instance)
    ordered = sorted(outcomes, key=lambda outcome: _missing(outcome, rated), reverse=True)
    shown, more = cut(ordered)
    columns = [Column("class"), Column("placed", right=True), Column("of", right=True)]
    if rated:
        columns += [Column("tasks/s", right=True), Column("offered", right=True), Column("served", right=True)]
    timed = any(outcome.p99 is not None or outcome.target is not None for outcome in outcomes)
    if timed:
        columns += [Column("P99", right=True), Column("target", right=True)]
    rows = [(*_row(outcome, rated), *(_times(outcome) if timed else ())) for outcome in shown]
    if len(outcomes) > 1:
        rows.append((*_row(_total(outcomes), rated), *(("", "") if timed else ())))
    return Section("Classes", sheet=Sheet(tuple(columns), tuple(rows)), notes=_left_out(more))


def _left_out(more: int) -> tuple[str, ...]:
    return (f"... and {more:,} more, served at least as well as those shown",) if more else ()


def _missing(outcome: ClassOutcome, rated: bool) -> Fraction:
    """Share of the class that is unplaced, plus the share of its work that is not served."""
    unplaced = Fraction(outcome.count - outcome.placed, outcome.count) if outcome.count else Fraction(0)
    if not rated or not outcome.offered or outcome.rate is None:
        return unplaced
    return unplaced + 1 - outcome.rate / outcome.offered


def _row(outcome: ClassOutcome, rated: bool) -> tuple[str, ...]:
    cells = [outcome.workload, f"{outcome.placed:,}", f"{outcome.count:,}"]
    if rated and outcome.offered and outcome.rate is not None:
        cells += [number(outcome.rate), number(outcome.offered), percent(outcome.rate / outcome.offered)]
    elif rated:
        cells += ["-", "-", "-"]
    return tuple(cells)


def _times(outcome: ClassOutcome) -> tuple[str, str]:
    """P99 and target; a member placed without a P99 has a queue that grows without end."""
    stated = "-" if outcome.target is None else seconds(outcome.target)
    return "-" if outcome.p99 is None else seconds(outcome.p99), stated


def _total(outcomes: tuple[ClassOutcome, ...]) -> ClassOutcome:
    return ClassOutcome(
        workload="all",
        count=sum(outcome.count for outcome in outcomes),
        placed=sum(outcome.placed for outcome in outcomes),
        rate=sum((outcome.rate for outcome in outcomes if outcome.rate is not None), Fraction(0)),
        offered=sum((outcome.offered for outcome in outcomes if outcome.offered is not None), Fraction(0)),
        moved=None,
    )
