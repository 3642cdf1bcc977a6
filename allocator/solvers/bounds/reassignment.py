"""Lagrangian bound of a level of overload, balance and moves: prices of resources at nodes, raised step by step.

Owns the prices and their exact evaluation. Symbols: members i with floors d_ir that differ neither by node nor by mode;
nodes n of capacity C_nr, safety S_nr and use U_nr; prices y_nr in [0, w_r] of use beyond the safety, c_nr >= 0 of use
beyond the capacity, t_nr >= 0 of coming to a node where a resource is held during the change (U0_nr runs there now),
g_kn in [0, w_k] of the balance A (C_1 - U_1) - B (C_2 - U_2) of triple k, u_an >= 0 of members of a conflict a. Then

    sum_i min_n (sum_r a_nr d_ir + [n is not i's node] (sum_r t_nr d_ir + move cost) + u_an)
    - sum y S - sum c C - sum t (C - U0) + sum g (A C_1 - B C_2) - sum u at_most

with a = y + c, less g A for the first and plus g B for the second resource of a triple, and n over the nodes that i can
still reach, is at most the value of every plan (weak duality). The prices are found in floating point (ascent by
averaged gradients, Kingma and Ba 2015) and rounded; the bound is computed from them in integers. What the largest group
of moved members costs is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.instance.entities import MoveCosts
from allocator.model.entities import Level
from allocator.model.families import Family, GoalId
from allocator.solvers.bounds.balance import greatest_uses
from allocator.solvers.bounds.overload import fits_beside, slack_beside
from allocator.solvers.budget import Budget

__all__ = ["reassignment_bound"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

GOALS = frozenset({GoalId.OVERLOAD, GoalId.BALANCE, GoalId.MOVES})
MOST_PAIRS = 2_500_000  # of blocks and nodes
STEPS = 500  # fewer where the work of one is large
WORK = 40_000_000  # blocks times nodes of all steps together, some seconds
STEP = 0.15  # of a price of 1, at first
PATIENCE = 60  # steps without a better bound
EVALUATED = 3  # sets of prices that are evaluated exactly
FINEST = 2**30
ROOM = 2**61
ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Triple:
    """A balance: ``first * (C_1 - U_1) - second * (C_2 - U_2)`` in amounts, at most ``weight`` a unit of it."""

    resources: tuple[int, int]
    first: int
    second: int
    weight: Fraction


@dataclass(frozen=True)
class _Problem:
    """``weight``: Fraction by resource. ``demand``: int64[B, R]; ``count``, ``now``: int64[B]; ``reach``: bool[B, N].

    ``moving``: int64[B, N] in 1 / ``unit``, rounded down; ``rule``: int64[B], index into ``at_most`` or -1.
    ``safety``, ``capacity``, ``slack``: int64[N, R], endless where there is none.
    """

    weight: tuple[Fraction, ...]
    triples: tuple[_Triple, ...]
    demand: Int64
    count: Int64
    now: Int64
    reach: npt.NDArray[np.bool_]
    moving: Int64
    unit: int
    rule: Int64
    at_most: Int64
    safety: Int64
    capacity: Int64
    slack: Int64
    stated: Int64  # capacities as stated, 0 where none


Prices = list[Float]  # y, c, t: [N, R]; u: [A, N]; g: [K, N]


def reassignment_bound(compiled: Compiled, level: Level, budget: Budget) -> Fraction | None:
    """Lower bound of a level of these goals alone over all plans that place everybody; None where it says nothing.

    Parameters
    ----------
    budget : the ascent ends with it, after its steps, or when nothing is gained.
    """
    try:
        problem = _problem(compiled, level)
        if problem is None or budget.exhausted:
            return None
        best = [_exact(problem, prices) for prices in _ascend(problem, budget)]
    except OverflowError:  # numbers beyond 64 bits
        return None
    known = [bound for bound in best if bound is not None]
    return max(known, default=None)


# ---------------------------------------------------------------- what is asked


def _problem(compiled: Compiled, level: Level) -> _Problem | None:
    instance, model = compiled.instance, compiled.model
    weights = {goal.id: goal.weight for goal in level.goals}
    num_blocks, num_nodes = len(compiled.blocks), compiled.num_nodes
    plain = (compiled.floor == compiled.floor[:, :1]).all() and compiled.num_options == len(instance.workloads)
    if (
        not set(weights) <= GOALS
        or model.may_leave_out
        or Family.ASSIGNMENT in model.ignore
        or not plain
        or not 0 < num_blocks * num_nodes <= MOST_PAIRS
        or None in greatest_uses(compiled)
    ):
        return None
    workload = np.array([block.workload for block in compiled.blocks], dtype=np.int64)
    now = np.array([block.current_node for block in compiled.blocks], dtype=np.int64)
    demand = compiled.floor[workload, 0]
    slack = slack_beside(compiled)
    reach = compiled.eligible[workload]
    for r in range(slack.shape[1]):
        if (slack[:, r] < ENDLESS).any():
            reach &= fits_beside(demand[:, r][:, None], slack[:, r], now)
    if not reach.any(axis=1).all():
        return None
    moving, unit = _moving(compiled, weights.get(GoalId.MOVES, Fraction(0)), workload, now)
    rule, at_most = _conflicts(compiled, workload)
    limit, safety = compiled.limit[compiled.node_domain], compiled.safety[compiled.node_domain]
    own = slack_beside(compiled, nodes_alone=True)
    overload = weights.get(GoalId.OVERLOAD, Fraction(0))
    resources = [instance.resources[name] for name in compiled.resources]
    return _Problem(
        weight=tuple(overload * each.overload * Fraction(10) ** each.exponent for each in resources),
        triples=_triples(compiled, weights.get(GoalId.BALANCE, Fraction(0))),
        demand=demand,
        count=np.array([block.count for block in compiled.blocks], dtype=np.int64),
        now=now,
        reach=reach,
        moving=moving,
        unit=unit,
        rule=rule,
        at_most=at_most,
        safety=np.where(safety >= 0, safety, ENDLESS),
        capacity=np.where(limit >= 0, limit, ENDLESS),
        slack=own,
        stated=np.maximum(0, compiled.capacity[compiled.node_domain]),
    )


def _moving(compiled: Compiled, weight: Fraction, workload: Int64, now: Int64) -> tuple[Int64, int]:
    """Cost of a member's move to each node, in whole parts of a unit, and how many parts that are."""
    instance = compiled.instance
    costs = instance.moves or MoveCosts()
    paths = [node.path for node in instance.nodes]
    process = [weight * costs.process * each.move_cost for each in instance.workloads]
    rows: dict[int, list[Fraction]] = {}
    for node in sorted(set(now.tolist()) - {-1}):
        machine = weight * costs.machine
        rows[node] = [machine * costs.machine_cost.get((paths[node], path), Fraction(0)) for path in paths]
    unit = math.lcm(
        *{each.denominator for each in process}, *{each.denominator for row in rows.values() for each in row}
    )
    unit = unit if unit <= FINEST else 1
    found = np.zeros((len(workload), len(paths)), dtype=np.int64)
    whole = {node: np.array([int(each * unit) for each in row], dtype=np.int64) for node, row in rows.items()}
    for block, (w, node) in enumerate(zip(workload.tolist(), now.tolist(), strict=True)):
        if node >= 0:
            found[block] = whole[node] + int(process[w] * unit)
            found[block, node] = 0
    return found, unit


def _conflicts(compiled: Compiled, workload: Int64) -> tuple[Int64, Int64]:
    """Rule of each block among those on single nodes, and the limits of these rules."""
    limits: dict[str, int] = {}
    if Family.CONFLICT not in compiled.model.ignore:
        for rule in compiled.instance.conflicts:
            if rule.level == "node":
                limits[rule.group] = min(rule.at_most, limits.get(rule.group, rule.at_most))
    index = {group: number for number, group in enumerate(limits)}
    groups = [each.group for each in compiled.instance.workloads]
    rules = np.array([index.get(groups[w], -1) for w in workload.tolist()], dtype=np.int64)
    return rules, np.array(list(limits.values()), dtype=np.int64)


def _triples(compiled: Compiled, weight: Fraction) -> tuple[_Triple, ...]:
    found = []
    for triple in compiled.instance.balance:
        if triple.level != "node" or not weight:
            continue
        units = [Fraction(10) ** compiled.instance.resources[name].exponent for name in (triple.first, triple.second)]
        first, second = triple.target * units[0], units[1]
        common = math.lcm(first.denominator, second.denominator)
        resources = compiled.resources.index(triple.first), compiled.resources.index(triple.second)
        found.append(_Triple(resources, int(first * common), int(second * common), weight * triple.weight / common))
    return tuple(found)


# ---------------------------------------------------------------- ascent


def _ascend(problem: _Problem, budget: Budget) -> list[Prices]:
    """Prices of the best steps, the first of all among them: full where totals exceed the safety amounts."""
    tops = _tops(problem)
    num_nodes = problem.reach.shape[1]
    unit = tops[0][0]  # [R], a price of one
    total = (problem.demand * problem.count[:, None]).sum(axis=0)
    safe = np.where((problem.safety < ENDLESS).all(axis=0), problem.safety.astype(np.float64).sum(axis=0), np.inf)
    shares: Prices = [np.zeros_like(top) for top in tops]
    shares[0] += np.where(total > safe, 1.0, 0.0)
    size = max(float((problem.demand * unit).sum(axis=1).mean()), 1e-9)
    scales = [np.broadcast_to(unit, shares[0].shape)] * 3 + [np.full((1, num_nodes), size), tops[4]]
    for k, triple in enumerate(problem.triples):
        free = [problem.stated[:, r].sum() - total[r] for r in triple.resources]
        shares[4][k] += 1.0 if triple.first * float(free[0]) > triple.second * float(free[1]) else 0.0
    first = [np.zeros_like(share) for share in shares]
    second = [np.zeros_like(share) for share in shares]
    kept: list[tuple[float, Prices]] = []
    latest = 0
    steps = max(1, min(STEPS, WORK // problem.reach.size))
    for step in range(steps):
        prices = [share * scale for share, scale in zip(shares, scales, strict=True)]
        value, gradients = _value(problem, prices)
        if not kept or value > kept[0][0]:
            latest = step
        if len(kept) < EVALUATED or value > kept[-1][0]:
            kept = sorted([*kept, (value, prices)], key=lambda entry: -entry[0])[:EVALUATED]
        if budget.exhausted or step - latest >= PATIENCE:
            break
        length = STEP * 0.5 * (1 + math.cos(math.pi * step / steps))
        for k, (gradient, scale) in enumerate(zip(gradients, scales, strict=True)):
            slope = gradient * scale
            first[k] = 0.9 * first[k] + 0.1 * slope
            second[k] = 0.99 * second[k] + 0.01 * slope**2
            mean, spread = first[k] / (1 - 0.9 ** (step + 1)), second[k] / (1 - 0.99 ** (step + 1))
            moved = shares[k] + length * mean / (np.sqrt(spread) + 1e-12)
            shares[k] = np.clip(moved, 0.0, 1.0 if k in (0, 4) else np.inf)
    return [prices for _, prices in kept]


def _tops(problem: _Problem) -> Prices:
    """Largest prices, or where there is none the shape with the unit of a price."""
    num_nodes = problem.reach.shape[1]
    weight = np.array([float(each) for each in problem.weight])
    same = np.broadcast_to(weight, (num_nodes, len(weight)))
    balance = np.array([[float(each.weight)] * num_nodes for each in problem.triples]).reshape(-1, num_nodes)
    return [same, same, same, np.ones((len(problem.at_most), num_nodes)), balance]


def _value(problem: _Problem, prices: Prices) -> tuple[float, Prices]:
    """The bound in floating point, and its gradient by each price."""
    y, c, t, u, g = prices
    demand, rows = problem.demand.astype(np.float64), np.arange(len(problem.now))
    running = np.nonzero(problem.now >= 0)[0]
    use_price = y + c
    for k, triple in enumerate(problem.triples):
        use_price = use_price.copy()
        use_price[:, triple.resources[0]] -= triple.first * g[k]
        use_price[:, triple.resources[1]] += triple.second * g[k]
    coming = demand @ t.T
    coming[running, problem.now[running]] = 0.0
    cost = demand @ use_price.T + coming + problem.moving / problem.unit
    ruled = np.nonzero(problem.rule >= 0)[0]
    cost[ruled] += u[problem.rule[ruled]]
    cost[~problem.reach] = np.inf
    chosen = cost.argmin(axis=1)
    count = problem.count.astype(np.float64)
    use, came = np.zeros_like(y), np.zeros_like(y)
    np.add.at(use, chosen, demand * count[:, None])
    moved = np.nonzero(chosen != problem.now)[0]
    np.add.at(came, chosen[moved], demand[moved] * count[moved, None])
    together = np.zeros_like(u)
    np.add.at(together, (problem.rule[ruled], chosen[ruled]), count[ruled])
    gradients: Prices = [
        np.where(problem.safety < ENDLESS, use - problem.safety, -1.0),
        np.where(problem.capacity < ENDLESS, use - problem.capacity, -1.0),
        np.where(problem.slack < ENDLESS, came - problem.slack, -1.0),
        together - problem.at_most[:, None],
        np.zeros_like(g),
    ]
    value = float((count * cost[rows, chosen]).sum())
    for price, room in ((y, problem.safety), (c, problem.capacity), (t, problem.slack)):
        value -= float((price * np.where(room < ENDLESS, room, 0)).sum())
        if (price[room == ENDLESS] > 0).any():
            value = -np.inf
    value -= float((u * problem.at_most[:, None]).sum())
    for k, triple in enumerate(problem.triples):
        one, two = triple.resources
        gradients[4][k] = triple.first * (problem.stated[:, one] - use[:, one])
        gradients[4][k] -= triple.second * (problem.stated[:, two] - use[:, two])
        value += float((g[k] * (triple.first * problem.stated[:, one] - triple.second * problem.stated[:, two])).sum())
    return value, gradients


# ---------------------------------------------------------------- exact evaluation


def _exact(problem: _Problem, prices: Prices) -> Fraction | None:
    """The bound of these prices, rounded to parts of 1 / q; None where they do not fit integers."""
    most = problem.demand.max(axis=0, initial=0).astype(np.float64)
    y, c, t, u, g = prices
    balance = sum((each.first + each.second) * float(g[k].max(initial=0)) for k, each in enumerate(problem.triples))
    largest = float((y + c + t).max(initial=0) + balance) * float(most.sum()) + float(u.max(initial=0))
    largest += float(problem.moving.max(initial=0)) / problem.unit
    largest = max(largest, float(max((y + c + t).max(initial=0), u.max(initial=0), balance)), 1e-9)
    q = 2 ** min(30, math.floor(math.log2(ROOM / largest)))
    if q < 1:
        return None
    weights = np.array([math.floor(each * q) for each in problem.weight], dtype=np.int64)
    whole = [np.floor(np.maximum(0.0, price) * q).astype(np.int64) for price in (y, c, t, u)]
    whole[0] = np.minimum(whole[0], weights)
    for part, room in zip(whole[:3], (problem.safety, problem.capacity, problem.slack), strict=True):
        part[room == ENDLESS] = 0
    use_price, total = whole[0] + whole[1], 0
    for k, triple in enumerate(problem.triples):
        price = np.minimum(np.floor(g[k] * q).astype(np.int64), math.floor(triple.weight * q))
        one, two = triple.resources
        use_price[:, one] -= triple.first * price
        use_price[:, two] += triple.second * price
        stated = [problem.stated[:, r].tolist() for r in triple.resources]
        for amount, a, b in zip(price.tolist(), *stated, strict=True):
            total += amount * (triple.first * a - triple.second * b)
    running = np.nonzero(problem.now >= 0)[0]
    coming = problem.demand @ whole[2].T
    coming[running, problem.now[running]] = 0
    # a move costs at least so many parts
    cost = problem.demand @ use_price.T + coming + _parts(problem.moving, q, problem.unit)
    ruled = np.nonzero(problem.rule >= 0)[0]
    cost[ruled] += whole[3][problem.rule[ruled]]
    cost[~problem.reach] = ENDLESS
    total += sum(map(int.__mul__, problem.count.tolist(), cost.min(axis=1).tolist()))
    for part, room in zip(whole[:3], (problem.safety, problem.capacity, problem.slack), strict=True):
        total -= sum(map(int.__mul__, part.ravel().tolist(), np.where(room < ENDLESS, room, 0).ravel().tolist()))
    total -= sum(map(int.__mul__, whole[3].sum(axis=1).tolist(), problem.at_most.tolist()))
    return Fraction(total, q)


def _parts(moving: Int64, q: int, unit: int) -> Int64:
    """Costs in 1 / unit as whole parts of 1 / q, rounded down."""
    if unit == 1:
        return moving * q
    return (moving // unit) * q + (moving % unit) * q // unit
