"""Valid bounds of goals from totals alone: no solver, linear in members times nodes. Exact rationals.

Every bound relaxes all constraints but those it names. A level's bound is the weighted sum of its goals' bounds.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal, Level
from allocator.model.families import Family, GoalId, sense_of
from allocator.solvers.bounds.balance import balance_bound
from allocator.solvers.bounds.overload import overload_bound

__all__ = ["goal_bound", "level_bound"]


def level_bound(compiled: Compiled, level: Level) -> Fraction:
    """Bound of the level over all plans (earlier levels are not used)."""
    if len(level.goals) == 1:
        return goal_bound(compiled, level.goals[0]) * level.goals[0].weight
    return sum(
        (goal.weight * goal_bound(compiled, goal) * (-1 if sense_of(goal.id) == "max" else 1) for goal in level.goals),
        Fraction(0),
    )


def goal_bound(compiled: Compiled, goal: Goal) -> Fraction:
    """Lower bound of a minimised goal, upper bound of a maximised one."""
    return _BOUNDS[goal.id](compiled, goal)


def _everyone(compiled: Compiled) -> bool:
    return not compiled.model.may_leave_out and Family.ASSIGNMENT not in compiled.model.ignore


def _placeable(compiled: Compiled, workload: int) -> bool:
    return bool(compiled.eligible[list(compiled.options_of(workload))].any())


def _least_floors(compiled: Compiled) -> npt.NDArray[np.int64]:
    """int64[W, R]: least floor of one member over the options and kinds it may use; 0 where it may use none."""
    num_options, num_kinds, num_resources = compiled.floor.shape
    open_kind = np.zeros((num_options, num_kinds), dtype=np.bool_)
    for kind in range(num_kinds):
        open_kind[:, kind] = compiled.eligible[:, compiled.node_kind == kind].any(axis=1)
    never = np.iinfo(np.int64).max
    least = np.where(open_kind[:, :, None], compiled.floor, never).min(axis=1, initial=never)  # int64[O, R]
    best = np.full((len(compiled.instance.workloads), num_resources), never, dtype=np.int64)
    np.minimum.at(best, compiled.option_workload, least)
    return np.where(best == never, 0, best)


def _needs(compiled: Compiled) -> list[int]:
    """Sum of everybody's least floors, by resource; exact."""
    counts = [workload.count for workload in compiled.instance.workloads]
    return [sum(map(operator.mul, counts, column)) for column in _least_floors(compiled).T.tolist()]


def _total_limit(compiled: Compiled, r: int) -> int | None:
    """Total that all nodes together may use of a resource; None: unlimited.

    A subtree's is the less of its own limit and the sum of its children's.
    """
    if compiled.resources[r] == "power":
        return None
    total: list[int | None] = [None] * compiled.num_domains
    children: list[list[int]] = [[] for _ in range(compiled.num_domains)]
    for domain in range(1, compiled.num_domains):
        children[int(compiled.parent[domain])].append(domain)
    for domain in range(compiled.num_domains - 1, -1, -1):
        below: int | None = None
        parts = [total[child] for child in children[domain]]
        if parts and all(part is not None for part in parts):
            below = sum(part for part in parts if part is not None)
        pool = int(compiled.pool_limit[domain, r])
        if pool >= 0:
            nodes = compiled.node_domain[compiled.first_node[domain] : compiled.end_node[domain]]
            below = pool + int(np.maximum(0, compiled.capacity[nodes, r]).sum())
        own = int(compiled.limit[domain, r])
        stated = [amount for amount in (below, own if own >= 0 else None) if amount is not None]
        total[domain] = min(stated) if stated else None
    return total[0]


def _placed(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    """Fractional knapsack per resource: most value within the total limit (Dantzig 1957); the least over resources."""
    items = [
        (workload.value, workload.count, workload.index)
        for workload in compiled.instance.workloads
        if workload.count and _placeable(compiled, workload.index)
    ]
    best = sum((value * count for value, count, _ in items if value > 0), Fraction(0))
    floors = _least_floors(compiled).tolist()
    for r in range(len(compiled.resources)):
        room = _total_limit(compiled, r)
        if room is None:
            continue
        needs = [(value, count, floors[w][r]) for value, count, w in items if value > 0]
        total = sum((value * count for value, count, need in needs if need == 0), Fraction(0))
        left = Fraction(room)
        for value, count, need in sorted((n for n in needs if n[2]), key=lambda n: n[0] / n[2], reverse=True):
            taken = min(Fraction(count), left / need)
            total += value * taken
            left -= taken * need
        best = min(best, total)
    return best


def _throughput(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return sum(
        (w.weight * w.rate * w.count for w in compiled.instance.workloads if _placeable(compiled, w.index)),
        Fraction(0),
    )


def _one(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return Fraction(1)


def _nothing(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return Fraction(0)


def _cost(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    """Every member at its cheapest node."""
    total = Fraction(0)
    if compiled.cost is None:
        return total
    for workload in compiled.instance.workloads:
        nodes = np.nonzero(compiled.eligible[list(compiled.options_of(workload.index))].any(axis=0))[0]
        if len(nodes) == 0:
            continue
        cheapest: Fraction = min(compiled.cost[workload.index, nodes])
        total += workload.count * (cheapest if _everyone(compiled) else min(cheapest, Fraction(0)))
    return total


def _nodes(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    """Least weight of nodes whose limits together cover the floors, per resource, fractionally."""
    best = Fraction(0)
    if not _everyone(compiled):
        return best
    weights = [node.weight for node in compiled.instance.nodes]
    whole = all(weight.denominator == 1 for weight in weights)
    needs = _needs(compiled)
    for r in range(len(compiled.resources)):
        need = needs[r]
        limits = compiled.limit[compiled.node_domain, r]
        if not need or (limits < 0).any():
            continue
        left, total = Fraction(need), Fraction(0)
        usable = [
            (weight / int(limit), weight, int(limit)) for weight, limit in zip(weights, limits, strict=True) if limit
        ]
        for _, weight, limit in sorted(usable):
            taken = min(Fraction(1), left / limit)
            total += weight * taken
            left -= taken * limit
            if left <= 0:
                break
        best = max(best, total)
    return Fraction(math.ceil(best)) if whole else best


def _peak(compiled: Compiled, goal: Goal) -> Fraction:
    """All floors over all stated capacity, per resource, where every node states one."""
    if not _everyone(compiled):
        return Fraction(0)
    best = Fraction(0)
    needs = _needs(compiled)
    for r, name in enumerate(compiled.resources):
        if name not in (goal.resources or tuple(n for n in compiled.resources if n != "power")):
            continue
        domains = compiled.node_domain
        if goal.at_level is not None:
            domains = np.array([d.index for d in compiled.instance.domains_of(goal.at_level)], dtype=np.int64)
        covered = np.zeros(compiled.num_nodes, dtype=np.bool_)  # levels may nest: count nodes once
        for d in domains:
            covered[compiled.first_node[d] : compiled.end_node[d]] = True
        capacity = compiled.capacity[domains, r]
        # where nothing is stated but something may be used (a pool, an overfull start), utilisation does not see it
        unseen = (capacity <= 0) & (compiled.limit[domains, r] != 0)
        if not covered.all() or (capacity < 0).any() or unseen.any() or not capacity.sum():
            continue
        need = needs[r]
        best = max(best, Fraction(int(need), int(capacity.sum())))
    return best


def _overload(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return overload_bound(compiled)


def _balance(compiled: Compiled, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return balance_bound(compiled)


_BOUNDS: dict[GoalId, Callable[[Compiled, Goal], Fraction]] = {
    GoalId.PLACED: _placed,
    GoalId.THROUGHPUT: _throughput,
    GoalId.FAIRNESS: _one,
    GoalId.TRAFFIC: _nothing,
    GoalId.COST: _cost,
    GoalId.CONGESTION: _nothing,
    GoalId.PEAK: _peak,
    GoalId.OVERLOAD: _overload,
    GoalId.BALANCE: _balance,
    GoalId.MOVES: _nothing,
    GoalId.NODES: _nodes,
    GoalId.POWER: _nothing,
}
