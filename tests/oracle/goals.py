"""Goal values of whole arrays of placements, shares at their least, exactly: integers over one denominator a goal.

Owns equations (15) to (26) as the oracle reads them, apart from those that depend on shares and granted rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId, sense_of
from tests.oracle.placements import Usage, draw, loads
from tests.oracle.tiny import Tiny, scaled

__all__ = ["MOVED_BY_SHARES", "RATE_GOALS", "Values", "goal_values", "level_values"]

RATE_GOALS = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS, GoalId.P99})
MOVED_BY_SHARES = frozenset({GoalId.PEAK, GoalId.OVERLOAD, GoalId.BALANCE, GoalId.POWER})
PSI = [
    (Fraction(0), Fraction(1)),
    (Fraction(1, 3), Fraction(3)),
    (Fraction(2, 3), Fraction(10)),
    (Fraction(9, 10), Fraction(70)),
    (Fraction(1), Fraction(500)),
    (Fraction(11, 10), Fraction(5000)),
]
WIDE = 2**40


@dataclass(frozen=True)
class Values:
    """One value a placement: ``numbers[p] / denominator``."""

    numbers: np.ndarray
    denominator: int

    def exact(self, placement: int) -> Fraction:
        """Value of one placement."""
        return Fraction(int(self.numbers[placement]), self.denominator)


def combination(terms: list[tuple[Fraction, np.ndarray]], size: int) -> Values:
    """Sum of coefficient times integer array; Python integers where int64 could overflow."""
    numbers, denominator = scaled(coefficient for coefficient, _ in terms)
    reach = sum(
        abs(number) * int(np.abs(array).max(initial=0)) for number, (_, array) in zip(numbers, terms, strict=True)
    )
    dtype: type = np.int64 if reach < 2**62 else object
    total = np.zeros(size, dtype=dtype)
    for number, (_, array) in zip(numbers, terms, strict=True):
        if number:
            total = total + array.astype(dtype) * number
    return Values(total, denominator)


def goal_values(usage: Usage, goal: Goal) -> Values:
    """Values of one goal, shares at their least (rate goals are not of this module)."""
    return _EVALUATORS[goal.id](usage, goal)


def level_values(level: Level, goals: dict[GoalId, Values], size: int) -> Values:
    """Values of a level from those of its goals: a single goal as it is, a sum with maximised goals negated."""
    alone = len(level.goals) == 1
    signs = [1 if alone or sense_of(goal.id) == "min" else -1 for goal in level.goals]
    terms = [
        (sign * goal.weight / goals[goal.id].denominator, goals[goal.id].numbers)
        for sign, goal in zip(signs, level.goals, strict=True)
    ]
    return combination(terms, size)


def _placed(usage: Usage, _: Goal) -> Values:
    terms = [(member.workload.value, usage.placed[:, c]) for c, member in enumerate(usage.tiny.members)]
    return combination(terms, len(usage.rows))


def _traffic(usage: Usage, _: Goal) -> Values:
    tiny = usage.tiny
    flat = [tiny.distance(a, b) for a in range(len(tiny.nodes)) for b in range(len(tiny.nodes))]
    numbers, denominator = scaled(flat)
    table = np.zeros((len(tiny.nodes) + 1, len(tiny.nodes) + 1), dtype=np.int64)  # the last row, column: unplaced
    table[:-1, :-1] = np.array(numbers, dtype=np.int64).reshape(len(tiny.nodes), -1)
    terms = [
        (rate / denominator, table[usage.node[:, i], usage.node[:, j]]) for (i, j), rate in tiny.pair_rates().items()
    ]
    return combination(terms, len(usage.rows))


def _cost(usage: Usage, _: Goal) -> Values:
    tiny = usage.tiny
    exact = []
    for option in tiny.options:
        if option.node < 0:
            exact.append(Fraction(0))
            continue
        node, cost = tiny.nodes[option.node], tiny.instance.workloads[option.workload].cost
        keys = [key for key in (node.path, str(node.kind), "default") if key in cost]
        exact.append(cost[keys[0]] if keys else Fraction(0))
    numbers, denominator = scaled(exact)
    table = np.array(numbers, dtype=object if max(numbers) > WIDE else np.int64)
    return Values(table[usage.rows].sum(axis=1), denominator)


def _congestion(usage: Usage, _: Goal) -> Values:
    """Psi is convex, so it is the highest of its lines: C psi(L / C) = max_k (slope_k L + offset_k C)."""
    lines = []
    offset = Fraction(0)
    for number, (start, slope) in enumerate(PSI):
        offset += start * ((PSI[number - 1][1] if number else slope) - slope)
        lines.append((slope, offset))
    up, down, denominator = loads(usage)
    terms = []
    for domain in usage.tiny.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        numbers, common = scaled([Fraction(1, denominator)] + [offset * domain.uplink.bandwidth for _, offset in lines])
        one, *offsets = (int(number) for number in numbers)
        dtype: type = np.int64 if max(map(abs, numbers)) < WIDE else object
        for load in (up[:, domain.index].astype(dtype), down[:, domain.index].astype(dtype)):
            pieces = [load * one * int(slope) + offset for (slope, _), offset in zip(lines, offsets, strict=True)]
            terms.append((Fraction(1, common), np.maximum.reduce(pieces)))
    return combination(terms, len(usage.rows))


def watched(tiny: Tiny, goal: Goal) -> list[tuple[int, int, int]]:
    """(domain, resource, capacity) that the goal ``peak`` looks at (equation 21)."""
    names = goal.resources or tuple(name for name in tiny.resources if name != "power")
    where = range(len(tiny.instance.domains)) if goal.at_level is None else tiny.level(goal.at_level)
    return [
        (d, tiny.resources.index(name), tiny.instance.domains[d].capacity[name])
        for d in where
        for name in names
        if tiny.instance.domains[d].capacity.get(name, 0) > 0
    ]


def _peak(usage: Usage, goal: Goal) -> Values:
    targets = watched(usage.tiny, goal)
    if not targets:
        return Values(np.zeros(len(usage.rows), dtype=np.int64), 1)
    numbers, denominator = scaled(Fraction(1, capacity) for _, _, capacity in targets)
    reach = max(numbers) * int(usage.use.max(initial=0))
    dtype: type = np.int64 if reach < 2**62 else object
    ratios = [usage.use[:, d, r].astype(dtype) * n for (d, r, _), n in zip(targets, numbers, strict=True)]
    return Values(np.maximum.reduce(ratios), denominator)


def _overload(usage: Usage, _: Goal) -> Values:
    tiny = usage.tiny
    terms = []
    for domain in tiny.instance.domains:
        for name, safety in domain.safety.items():
            r = tiny.resources.index(name)
            weight = tiny.instance.resources[name].overload * tiny.unit[r]
            terms.append((weight, np.maximum(0, usage.use[:, domain.index, r] - safety)))
    return combination(terms, len(usage.rows))


def _balance(usage: Usage, _: Goal) -> Values:
    tiny = usage.tiny
    terms = []
    for triple in tiny.instance.balance:
        first, second = tiny.resources.index(triple.first), tiny.resources.index(triple.second)
        (a, b), denominator = scaled([triple.target * tiny.unit[first], tiny.unit[second]])
        for d in tiny.level(triple.level):
            capacity = tiny.instance.domains[d].capacity
            free1 = capacity.get(triple.first, 0) - usage.use[:, d, first]
            free2 = capacity.get(triple.second, 0) - usage.use[:, d, second]
            reach = max(abs(a) * int(np.abs(free1).max(initial=0)), abs(b) * int(np.abs(free2).max(initial=0)))
            dtype: type = np.int64 if reach < 2**61 else object
            free1, free2 = free1.astype(dtype), free2.astype(dtype)
            terms.append((triple.weight / denominator, np.maximum(0, a * free1 - b * free2)))
    return combination(terms, len(usage.rows))


def _moves(usage: Usage, _: Goal) -> Values:
    tiny = usage.tiny
    moves = tiny.instance.moves
    process = Fraction(1) if moves is None else moves.process
    left = usage.left()
    terms = [(process * m.workload.move_cost, left[:, c]) for c, m in enumerate(tiny.members)]
    if moves is not None:
        groups = sorted({member.workload.group for member in tiny.members})
        counts = [left[:, tiny.group(group)].sum(axis=1) for group in groups]
        terms.append((moves.service, np.maximum.reduce(counts)))
        for c, member in enumerate(tiny.members):
            if member.old is None:
                continue
            start = tiny.nodes[member.old[1]].path
            for n, node in enumerate(tiny.nodes):
                cost = moves.machine_cost.get((start, node.path), Fraction(0))
                terms.append((moves.machine * cost, left[:, c] & (usage.node[:, c] == n)))
    return combination(terms, len(usage.rows))


def _nodes(usage: Usage, _: Goal) -> Values:
    terms = [(node.weight, usage.node_members[:, n] > 0) for n, node in enumerate(usage.tiny.nodes)]
    return combination(terms, len(usage.rows))


def _power(usage: Usage, _: Goal) -> Values:
    watts, denominator = draw(usage)
    return Values(watts.sum(axis=1), denominator)


_EVALUATORS = {
    GoalId.PLACED: _placed,
    GoalId.TRAFFIC: _traffic,
    GoalId.COST: _cost,
    GoalId.CONGESTION: _congestion,
    GoalId.PEAK: _peak,
    GoalId.OVERLOAD: _overload,
    GoalId.BALANCE: _balance,
    GoalId.MOVES: _moves,
    GoalId.NODES: _nodes,
    GoalId.POWER: _power,
}
