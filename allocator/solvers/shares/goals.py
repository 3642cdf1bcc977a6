"""Goals as terms over the columns of a share program (equations 16, 17, 21 to 23, 26, 27). Knows no order of levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.delays import path_delays
from allocator.solvers.evaluation.goals import Evaluation
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.shares.cohorts import Cohort, spread_out
from allocator.solvers.shares.dependence import constant_part, share_goals, sign_of
from allocator.solvers.shares.placement_program import PlacementProgram
from allocator.solvers.shares.program import base_unit, unit_of
from allocator.solvers.shares.queue_columns import QueueColumn

__all__ = ["LevelTerms", "level_terms"]

FIRST_TANGENTS = 8


@dataclass
class LevelTerms:
    """A level over the program's columns: terms, and the part that shares do not change.

    ``constant`` includes what the goals come to at the least shares, as far as the terms count from there.
    """

    terms: dict[int, float] = field(default_factory=dict)
    constant: Fraction = Fraction(0)


def level_terms(made: PlacementProgram, level: Level) -> LevelTerms:
    """State a level; adds the columns and rows it needs."""
    plain = Assignment(dict(made.cohorts.counts), spread_out(made.cohorts, made.cohorts.least))
    found = LevelTerms({}, constant_part(made.compiled, plain, level))
    evaluation = Evaluation(made.compiled, plain)
    for goal in share_goals(made.compiled, level):
        sign = sign_of(level, goal)
        for column, coef in _TERMS[goal.id](made, goal).items():
            found.terms[column] = found.terms.get(column, 0.0) + sign * float(goal.weight) * coef
        if goal.id is GoalId.POWER:
            found.constant += sign * goal.weight * evaluation.value(goal)
        elif goal.id is GoalId.P99 and not goal.worst:
            found.constant += sign * goal.weight * _delays(made)
    found.terms = {column: coef for column, coef in found.terms.items() if coef}
    return found


def _throughput(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    workloads, cohorts = made.compiled.instance.workloads, made.cohorts.cohorts
    terms: dict[int, float] = {}
    for index, (column, tasks) in made.rate.items():
        terms[column] = terms.get(column, 0.0) + float(workloads[cohorts[index].workload].weight) * tasks
    return terms


def _fairness(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    least = made.program.column(1.0)
    by_class: dict[int, dict[int, float]] = {}
    for index, (column, tasks) in made.rate.items():
        mine = by_class.setdefault(made.cohorts.cohorts[index].workload, {})
        mine[column] = mine.get(column, 0.0) - tasks
    for workload in made.compiled.instance.workloads:
        offered = workload.rate * workload.count
        if offered > 0:
            done = {c: v / float(offered) for c, v in by_class.get(workload.index, {}).items()}
            made.program.at_most({**done, least: 1.0}, 0.0)
    return {least: 1.0}


def _p99(made: PlacementProgram, goal: Goal) -> dict[int, float]:
    """Columns of the queues; of the worst, one column above all of them."""
    queues = queue_columns(made)
    if not goal.worst:
        return {queue.column: queue.scale for _, queue in queues}
    worst = made.program.column()
    size = max((queue.scale / queue.members for _, queue in queues), default=1.0)
    for cohort, queue in queues:
        server = cohort.server
        delay = float(server.weight * cohort.delay) if server is not None else 0.0
        made.program.at_most({queue.column: queue.scale / queue.members / size, worst: -1.0}, -delay / size)
    return {worst: size}


def queue_columns(made: PlacementProgram) -> list[tuple[Cohort, QueueColumn]]:
    """A column for each critical cohort, with its first tangents."""
    found = []
    for index, cohort in enumerate(made.cohorts.cohorts):
        server = cohort.server
        if server is None:
            continue
        entry = made.entry_of.get((index, server.resource))
        share = made.extra.get(entry) if entry is not None else None
        unit = unit_of(made.compiled, server.resource)
        queue = QueueColumn(
            made.program.column(),
            entry if share is not None else None,
            share,
            float(unit),
            float(cohort.count),
            float(server.weight * LN_100 * server.work / server.unit),
            float(server.rate * server.work / server.unit),
            float(server.parallel / server.unit),
            float(made.least_of(index, server.resource)),
        )
        most = made.program.upper[share] if share is not None else 0.0
        grid = list(queue.grid(most, FIRST_TANGENTS))
        queue.scale = math.sqrt(queue.wait(grid[0]) * queue.wait(most)) or 1.0
        made.program.at_most({queue.column: -1.0}, -queue.wait(most) / queue.scale)
        for extra in grid:
            row = queue.tangent(extra)
            if row is not None:
                queue.noted(len(made.program.rows), row[0])
                made.program.at_most(*row)
        made.queues.append(queue)
        found.append((cohort, queue))
    return found


def _delays(made: PlacementProgram) -> Fraction:
    """Weighted path delays of all critical members."""
    delays = path_delays(made.compiled, made.cohorts.counts)
    total: dict[Fraction, Fraction] = {}
    for cohort in made.cohorts.cohorts:
        for spot in cohort.spots if cohort.server is not None else ():
            delay = delays.get(spot[0], Fraction(0))
            if delay and cohort.server is not None:
                total[delay] = total.get(delay, Fraction(0)) + cohort.server.weight * made.cohorts.counts[spot]
    return sum((delay * weight for delay, weight in total.items()), Fraction(0))


def _peak(made: PlacementProgram, goal: Goal) -> dict[int, float]:
    compiled = made.compiled
    resources = compiled.instance.resources
    names = goal.resources or tuple(name for name in resources if name != "power")
    domains = compiled.instance.domains if goal.at_level is None else compiled.instance.domains_of(goal.at_level)
    highest = made.program.column()
    for domain in domains:
        for name in names:
            capacity = domain.capacity.get(name, 0)
            if capacity > 0:
                r = compiled.resources.index(name)
                scale = unit_of(compiled, r) / capacity
                used = {c: v * scale for c, v in made.extra_in(domain.index, r).items()}
                made.program.at_most({**used, highest: -1.0}, -made.least_use[domain.index][r] / capacity)
    return {highest: 1.0}


def _overload(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    compiled = made.compiled
    terms: dict[int, float] = {}
    for domain in compiled.instance.domains:
        for name, safety in domain.safety.items():
            r = compiled.resources.index(name)
            unit = unit_of(compiled, r)
            above = made.program.column()
            used = made.extra_in(domain.index, r)
            made.program.at_most({**used, above: -1.0}, float(Fraction(safety - made.least_use[domain.index][r], unit)))
            weight = compiled.instance.resources[name].overload
            terms[above] = float(weight * base_unit(compiled, r) * unit)
    return terms


def _balance(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    compiled = made.compiled
    terms: dict[int, float] = {}
    for triple in compiled.instance.balance:
        r1, r2 = compiled.resources.index(triple.first), compiled.resources.index(triple.second)
        for domain in compiled.instance.domains_of(triple.level):
            short = made.program.column()
            row = {short: -1.0}
            constant = Fraction(0)
            for r, name, wanted in ((r1, triple.first, triple.target), (r2, triple.second, Fraction(-1))):
                factor = wanted * base_unit(compiled, r)
                constant += factor * (domain.capacity.get(name, 0) - made.least_use[domain.index][r])
                for column in made.extra_in(domain.index, r):
                    row[column] = row.get(column, 0.0) - float(factor * unit_of(compiled, r))
            scale = float(max(abs(base_unit(compiled, r2) * unit_of(compiled, r2)), Fraction(1)))
            made.program.at_most({c: v / scale if c != short else v for c, v in row.items()}, float(-constant) / scale)
            terms[short] = float(triple.weight) * scale
    return terms


def _power(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    compiled = made.compiled
    terms: dict[int, float] = {}
    for entry, column in made.extra.items():
        node, r = int(made.cohorts.node[entry]), int(made.cohorts.resource[entry])
        power = compiled.instance.nodes[node].power
        if power is not None and int(compiled.compute_resource[node]) == r:
            capacity = int(compiled.capacity[compiled.node_domain[node], r])
            terms[column] = float((power.busy - power.idle) / capacity * unit_of(compiled, r))
    return terms


_TERMS: Mapping[GoalId, Callable[[PlacementProgram, Goal], dict[int, float]]] = MappingProxyType(
    {
        GoalId.THROUGHPUT: _throughput,
        GoalId.FAIRNESS: _fairness,
        GoalId.P99: _p99,
        GoalId.PEAK: _peak,
        GoalId.OVERLOAD: _overload,
        GoalId.BALANCE: _balance,
        GoalId.POWER: _power,
    }
)
