"""Where the tasks per second go that are offered and not completed, by class and cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.entities import PlacedGroup, Plan
from allocator.plan.result import Result
from allocator.report.format import number
from allocator.report.offers import most_by_shares
from allocator.report.summary.rates import tells_rates
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["missing_tasks", "section"]

_COLUMNS = (Column("class"), Column("tasks/s short", right=True), Column("held by"))
_TRAFFIC = "bandwidth: links grant less than is offered"
_ROUNDING = Fraction(1, 10**6)
"""Part of a class's offer below which what is missing is the rounding of shares to whole units."""


def section(result: Result, instance: Instance) -> Section | None:
    """A row for each class and cause, the largest first; None where rates are not told or nothing is missing."""
    if result.plan is None or not tells_rates(result, instance) or "rates" in result.ignored:
        return None
    missing = missing_tasks(result, instance).items()
    rows = [((name, why), lost) for (name, why), lost in missing if lost > _ROUNDING * _offer(instance, name)]
    rows.sort(key=lambda item: -item[1])
    if not rows:
        return None
    shown, more = cut(rows)
    cells = tuple((name, number(lost), why) for (name, why), lost in shown)
    return Section("Offered and not completed", sheet=Sheet(_COLUMNS, cells, more))


def _offer(instance: Instance, name: str) -> Fraction:
    workload = instance.workload_by_name[name]
    return workload.rate * workload.count


def missing_tasks(result: Result, instance: Instance) -> Mapping[tuple[str, str], Fraction]:
    """Tasks/s by (class, cause) that are missing between offer and rate; they sum to just that, class by class."""
    assert result.plan is not None
    assert result.evaluation is not None
    by_shares = _by_shares(result.plan, instance)
    found: dict[tuple[str, str], Fraction] = {}
    for outcome in result.evaluation.classes:
        if not outcome.offered or outcome.rate is None:
            continue
        name = outcome.workload
        each = instance.workload_by_name[name].rate
        causes = {**by_shares.get(name, {}), "not placed": each * (outcome.count - outcome.placed)}
        causes[_TRAFFIC] = outcome.offered - outcome.rate - sum(causes.values(), Fraction(0))
        found.update({(name, why): lost for why, lost in causes.items() if lost > 0})
    return found


def _by_shares(plan: Plan, instance: Instance) -> Mapping[str, Mapping[str, Fraction]]:
    """Tasks/s that placed members cannot complete with their shares, by class and cause."""
    members: dict[tuple[str, str, str], Counter[tuple[tuple[str, int], ...]]] = {}
    for group in plan.placements:
        shares = tuple(group.shares.items())
        for kind, count in _kinds(group, instance).items():
            members.setdefault((group.workload, group.mode, kind), Counter())[shares] += count
    found: dict[str, dict[str, Fraction]] = {}
    for (name, mode_name, kind), counts in members.items():
        workload = instance.workload_by_name[name]
        if not workload.rate:
            continue
        demand = next(mode for mode in workload.modes if mode.name == mode_name).demand(kind)
        for shares, count in counts.items():
            most, why = most_by_shares(instance, workload, demand, dict(shares))
            if why is not None:
                causes = found.setdefault(name, {})
                causes[why] = causes.get(why, Fraction(0)) + (workload.rate - most) * count
    return found


def _kinds(group: PlacedGroup, instance: Instance) -> Counter[str]:
    """Members of the group by kind of node."""
    times = group.count if len(group.nodes) == 1 else 1
    kinds: Counter[str] = Counter()
    for path, number_there in Counter(group.nodes).items():
        kinds[str(instance.domain_by_path[path].kind)] += number_there * times
    return kinds
