"""Goals as expressions over the relaxation, each at most (minimised) or at least (maximised) the goal of every plan.

Owns one function a goal; a goal without one is not bounded here. Sums over domains alike use that the goals are convex
(Jensen's inequality), so that nothing is lost where a plan may treat them alike. Equation numbers: models/README.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from allocator.model.entities import Goal
from allocator.model.families import GoalId
from allocator.solvers.bounds.program import Expression, Number
from allocator.solvers.bounds.relaxation.model import Relaxation
from allocator.solvers.bounds.relaxation.rates import throughput_of, worst_served
from allocator.solvers.bounds.relaxation.response import percentiles

__all__ = ["expression_of"]


def expression_of(relaxation: Relaxation, goal: Goal) -> Expression | None:
    """The goal over the relaxation, in the goal's own sense; None where there is none. Adds columns and rows."""
    found = _EXPRESSIONS.get(goal.id)
    return None if found is None or goal.worst else found(relaxation, goal)


def _placed(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    workloads = relaxation.compiled.instance.workloads
    return Expression(
        {
            x: workloads[relaxation.parts[cell.part].workload].value
            for x, cell in zip(relaxation.x, relaxation.cells, strict=True)
        }
    )


def _throughput(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    return throughput_of(relaxation)


def _fairness(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    return worst_served(relaxation)


def _p99(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    return percentiles(relaxation)


def _cost(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    cost = relaxation.compiled.cost
    if cost is None:
        return Expression({})
    return Expression(
        {
            x: cost[relaxation.parts[cell.part].workload, relaxation.orbits.nodes[cell.group]]
            for x, cell in zip(relaxation.x, relaxation.cells, strict=True)
        }
    )


def _nodes(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    nodes = relaxation.compiled.instance.nodes
    return Expression(
        {
            relaxation.in_use(group): nodes[int(relaxation.orbits.nodes[group])].weight
            for group in range(relaxation.orbits.num_groups)
        }
    )


def _power(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    terms: dict[int, Number] = {}
    for group in range(relaxation.orbits.num_groups):
        for column, amount in relaxation.watts(group).items():
            terms[column] = terms.get(column, 0) + amount
    return Expression(terms)


def _peak(relaxation: Relaxation, goal: Goal) -> Expression:
    """The mean utilisation of domains alike is no higher than the highest."""
    compiled = relaxation.compiled
    names = goal.resources or tuple(name for name in compiled.resources if name != "power")
    level = None
    if goal.at_level is not None:
        level = {domain.index for domain in compiled.instance.domains_of(goal.at_level)}
    highest = relaxation.program.column(0, None)
    for orbit in relaxation.orbits.domains:
        if level is not None and orbit.domain not in level:
            continue
        for name in names:
            r = compiled.resources.index(name)
            capacity = int(compiled.capacity[orbit.domain, r])
            if capacity > 0:
                terms = relaxation.use(orbit.groups, r)
                relaxation.program.row({**terms, highest: -capacity * orbit.size}, None, 0)
    return Expression({highest: 1})


def _overload(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    compiled = relaxation.compiled
    total: dict[int, Number] = {}
    for orbit in relaxation.orbits.domains:
        for r, name in enumerate(compiled.resources):
            safety = int(compiled.safety[orbit.domain, r])
            price = compiled.instance.resources[name].overload * relaxation.units[r]
            if safety < 0 or not price:
                continue
            beyond = relaxation.program.column(0, None)
            relaxation.program.row({**relaxation.use(orbit.groups, r), beyond: -1}, None, safety * orbit.size)
            total[beyond] = price
    return Expression(total)


def _balance(relaxation: Relaxation, goal: Goal) -> Expression:  # noqa: ARG001 - one signature
    compiled = relaxation.compiled
    total: dict[int, Number] = {}
    for triple in compiled.instance.balance:
        level = {domain.index for domain in compiled.instance.domains_of(triple.level)}
        first, second = compiled.resources.index(triple.first), compiled.resources.index(triple.second)
        units = relaxation.units[first], relaxation.units[second]
        for orbit in relaxation.orbits.domains:
            if orbit.domain not in level or not triple.weight:
                continue
            lacking = relaxation.program.column(0, None)
            terms: dict[int, Number] = {lacking: 1}
            for column, amount in relaxation.use(orbit.groups, first).items():
                terms[column] = triple.target * amount * units[0]
            for column, amount in relaxation.use(orbit.groups, second).items():
                terms[column] = terms.get(column, 0) - amount * units[1]
            free = [
                max(0, int(compiled.capacity[orbit.domain, r])) * unit * orbit.size
                for r, unit in zip((first, second), units, strict=True)
            ]
            relaxation.program.row(terms, triple.target * Fraction(free[0]) - free[1], None)
            total[lacking] = triple.weight
    return Expression(total)


_EXPRESSIONS: dict[GoalId, Callable[[Relaxation, Goal], Expression]] = {
    GoalId.PLACED: _placed,
    GoalId.THROUGHPUT: _throughput,
    GoalId.FAIRNESS: _fairness,
    GoalId.P99: _p99,
    GoalId.COST: _cost,
    GoalId.NODES: _nodes,
    GoalId.POWER: _power,
    GoalId.PEAK: _peak,
    GoalId.OVERLOAD: _overload,
    GoalId.BALANCE: _balance,
}
