"""Goals as terms over the columns of a share program (equations 16, 17, 21, 22, 23, 26). Knows no order of levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId, sense_of
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.goals import goal_value
from allocator.solvers.shares.placement_program import PlacementProgram
from allocator.solvers.shares.program import base_unit, unit_of

__all__ = ["fixed_value", "level_terms"]


def fixed_value(compiled: Compiled, plain: Assignment, level: Level) -> Fraction:
    """Part of the level's value that shares do not change, and the floors' part of those that they do."""
    single = len(level.goals) == 1
    total = Fraction(0)
    for goal in level.goals:
        sign = 1 if single or sense_of(goal.id) == "min" else -1
        if goal.id is GoalId.POWER or goal.id not in _TERMS:
            total += sign * goal.weight * goal_value(compiled, plain, goal)
    return total


def level_terms(made: PlacementProgram, level: Level) -> dict[int, float]:
    """Level as terms over the program's columns, without its constant; adds the columns and rows it needs."""
    single = len(level.goals) == 1
    terms: dict[int, float] = {}
    for goal in level.goals:
        sign = 1 if single or sense_of(goal.id) == "min" else -1
        if goal.id in _TERMS:
            for column, coef in _TERMS[goal.id](made, goal).items():
                terms[column] = terms.get(column, 0.0) + sign * float(goal.weight) * coef
    return {column: coef for column, coef in terms.items() if coef}


def _throughput(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    workloads = made.compiled.instance.workloads
    return {
        column: float(workloads[made.compiled.blocks[block].workload].weight)
        for (block, _, _), column in made.rate.items()
    }


def _fairness(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    least = made.program.column(1.0)
    by_class: dict[int, dict[int, float]] = {}
    for (block, _, _), column in made.rate.items():
        by_class.setdefault(made.compiled.blocks[block].workload, {})[column] = -1.0
    for workload in made.compiled.instance.workloads:
        offered = workload.rate * workload.count
        if offered > 0:
            done = {c: v / float(offered) for c, v in by_class.get(workload.index, {}).items()}
            made.program.at_most({**done, least: 1.0}, 0.0)
    return {least: 1.0}


def _extra_in(made: PlacementProgram, domain: int, r: int) -> dict[int, float]:
    low, high = int(made.compiled.first_node[domain]), int(made.compiled.end_node[domain])
    return {c: 1.0 for ((_, _, node), res), c in made.extra.items() if res == r and low <= node < high}


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
                used = {c: v * scale for c, v in _extra_in(made, domain.index, r).items()}
                made.program.at_most({**used, highest: -1.0}, -made.floor_use[domain.index][r] / capacity)
    return {highest: 1.0}


def _overload(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    compiled = made.compiled
    terms: dict[int, float] = {}
    for domain in compiled.instance.domains:
        for name, safety in domain.safety.items():
            r = compiled.resources.index(name)
            unit = unit_of(compiled, r)
            above = made.program.column()
            used = _extra_in(made, domain.index, r)
            made.program.at_most({**used, above: -1.0}, float(Fraction(safety - made.floor_use[domain.index][r], unit)))
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
                constant += factor * (domain.capacity.get(name, 0) - made.floor_use[domain.index][r])
                for column in _extra_in(made, domain.index, r):
                    row[column] = row.get(column, 0.0) - float(factor * unit_of(compiled, r))
            scale = float(max(abs(base_unit(compiled, r2) * unit_of(compiled, r2)), Fraction(1)))
            made.program.at_most({c: v / scale if c != short else v for c, v in row.items()}, float(-constant) / scale)
            terms[short] = float(triple.weight) * scale
    return terms


def _power(made: PlacementProgram, goal: Goal) -> dict[int, float]:  # noqa: ARG001 - one signature
    compiled = made.compiled
    terms: dict[int, float] = {}
    for ((_, _, node), r), column in made.extra.items():
        power = compiled.instance.nodes[node].power
        if power is not None and int(compiled.compute_resource[node]) == r:
            capacity = int(compiled.capacity[compiled.node_domain[node], r])
            terms[column] = float((power.busy - power.idle) / capacity * unit_of(compiled, r))
    return terms


_TERMS: Mapping[GoalId, Callable[[PlacementProgram, Goal], dict[int, float]]] = MappingProxyType(
    {
        GoalId.THROUGHPUT: _throughput,
        GoalId.FAIRNESS: _fairness,
        GoalId.PEAK: _peak,
        GoalId.OVERLOAD: _overload,
        GoalId.BALANCE: _balance,
        GoalId.POWER: _power,
    }
)
