"""A first plan for single members with cost and pair traffic: restarts of a shift and swap descent, vectorised.

For instances whose only rules are eligibility and capacity. Works in float64: what it returns is a proposal whose
feasibility and value others judge exactly. Knows neither Pyomo nor HiGHS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.entities import Level
from allocator.model.families import Family, GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.support import used_families

__all__ = ["propose"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

FAMILIES = {
    Family.ASSIGNMENT,
    Family.ELIGIBILITY,
    Family.SHARES,
    Family.CAPACITY,
    Family.FABRIC,
    Family.RATES,  # without a rate goal it binds nothing
}
GOALS = {GoalId.COST, GoalId.TRAFFIC}
MAX_CELLS = 2_000_000  # of the largest array of one step
ROUNDS_A_MEMBER = 100
IDLE_ROUNDS_A_MEMBER = 25
SHARE_OF_TIME = 0.05
SAME = 1e-9


def propose(compiled: Compiled, budget: Budget, seed: int) -> dict[tuple[int, int, int], int] | None:
    """Counts of a plan of low first-level value, or None where the instance has other rules or none was found."""
    if not _within_reach(compiled):
        return None
    problem = _problem(compiled, compiled.model.levels[0])
    if problem is None or not problem.eligible.any(axis=1).all():
        return None
    placed = _search(problem, budget.portion(SHARE_OF_TIME), np.random.default_rng(seed))
    if placed is None:
        return None
    return {
        (block.index, compiled.options_of(block.workload)[0], int(node)): 1
        for block, node in zip(compiled.blocks, placed, strict=True)
    }


def _within_reach(compiled: Compiled) -> bool:
    levels = compiled.model.levels
    return (
        bool(levels and compiled.pairs)
        and not compiled.teams
        and not compiled.groups
        and not compiled.model.may_leave_out
        and not compiled.model.has_rate_goals
        and {goal.id for goal in levels[0].goals} <= GOALS
        and used_families(compiled.instance, compiled.model) <= FAMILIES
        and not compiled.overfull.any()
        and all(limit is None for limit in compiled.power_limit)
        and all(b.count == 1 and len(compiled.options_of(b.workload)) == 1 for b in compiled.blocks)
    )


@dataclass(frozen=True)
class _Problem:
    """n members, m nodes, K limits (a domain and a resource each), all float64.

    ``cost[n, m]`` (huge where not eligible); ``rate[n, n]`` from row to column; ``distance[m, m]``;
    ``weight[K, n, m]`` of a member on a node, in parts of the limit: a domain holds at most 1; ``inside[K, m]`` 0 or 1.
    """

    cost: Float
    rate: Float
    distance: Float
    weight: Float
    inside: Float
    eligible: npt.NDArray[np.bool_]
    penalty: float

    def value(self, placed: Int) -> float:
        """Cost and traffic."""
        everyone = np.arange(len(placed))
        return float(self.cost[everyone, placed].sum() + (self.rate * self.distance[np.ix_(placed, placed)]).sum())

    def own(self, placed: Int) -> Float:
        """float64[K, n]: weights of members where they are, counted in every limit."""
        chosen: Float = self.weight[:, np.arange(len(placed)), placed]
        return chosen

    def loads(self, placed: Int) -> Float:
        """float64[K]."""
        total: Float = (self.own(placed) * self.inside[:, placed]).sum(axis=1)
        return total

    def fits(self, placed: Int) -> bool:
        """Whether every member is eligible where it is and every limit holds."""
        return bool(self.eligible[np.arange(len(placed)), placed].all() and (self.loads(placed) <= 1.0 + SAME).all())


def _problem(compiled: Compiled, level: Level) -> _Problem | None:
    num_members, num_nodes = len(compiled.blocks), compiled.num_nodes
    domains, resources = np.nonzero(compiled.limit >= 0)
    if num_members * max(num_members, num_nodes) * max(1, len(domains)) > MAX_CELLS:
        return None
    options = np.array([compiled.options_of(block.workload)[0] for block in compiled.blocks], dtype=np.int64)
    weights = {goal.id: float(goal.weight) for goal in level.goals}
    cost = np.zeros((num_members, num_nodes))
    if compiled.cost is not None:
        per_class = compiled.cost[[block.workload for block in compiled.blocks]].astype(np.float64)
        cost = weights.get(GoalId.COST, 0.0) * per_class
    rate = np.zeros((num_members, num_members))
    for pair in compiled.pairs:
        rate[pair.source, pair.target] += weights.get(GoalId.TRAFFIC, 0.0) * float(pair.rate)
    distance = _distances(compiled)
    limit = np.maximum(compiled.limit[domains, resources], 1).astype(np.float64)
    floor = compiled.floor[np.ix_(options, compiled.node_kind)]  # [n, m, R]
    weight = floor[:, :, resources].transpose(2, 0, 1) / limit[:, None, None]
    inside = np.zeros((len(domains), num_nodes))
    for row, domain in enumerate(domains):
        inside[row, compiled.first_node[domain] : compiled.end_node[domain]] = 1.0
    eligible = compiled.eligible[options]
    scale = float(np.abs(cost).max(initial=0.0) + rate.sum() * distance.max(initial=0.0)) or 1.0
    cost = np.where(eligible, cost, cost + 1e3 * scale)
    return _Problem(cost, rate, distance, weight, inside, eligible, 1e3 * scale)


def _distances(compiled: Compiled) -> Float:
    num_nodes = compiled.num_nodes
    matrix = compiled.instance.distances.matrix
    if matrix is not None:
        paths = [node.path for node in compiled.instance.nodes]
        return np.array([[float(matrix.get((a, b), 0)) for b in paths] for a in paths])
    distance = np.zeros((num_nodes, num_nodes))
    for domain in compiled.instance.domains:
        if domain.uplink is not None and domain.uplink.weight:
            within = np.zeros(num_nodes, dtype=np.bool_)
            within[compiled.first_node[domain.index] : compiled.end_node[domain.index]] = True
            distance += float(domain.uplink.weight) * (within[:, None] != within[None, :])
    return distance


def _search(problem: _Problem, budget: Budget, rng: np.random.Generator) -> Int | None:
    best: Int | None = None
    best_value = np.inf
    idle = 0
    num_members = len(problem.cost)
    for number in range(ROUNDS_A_MEMBER * num_members):
        if idle >= IDLE_ROUNDS_A_MEMBER * num_members or (number and budget.exhausted):
            break
        fresh = best is None or number % 40 == 0
        placed = _construct(problem, rng) if best is None or fresh else _shake(problem, best, rng)
        _descend(problem, placed, budget)
        idle += 1
        if problem.fits(placed):
            value = problem.value(placed)
            if value < best_value - SAME * abs(value):
                best, best_value, idle = placed.copy(), value, 0
    return best


def _construct(problem: _Problem, rng: np.random.Generator) -> Int:
    """Large members first, each where cost, traffic to those placed, and overload are least, with some noise."""
    num_members, num_nodes = problem.cost.shape
    placed = np.zeros(num_members, dtype=np.int64)
    load = np.zeros(len(problem.inside))
    size = problem.weight.max(axis=(0, 2), initial=0.0) * rng.uniform(0.5, 1.0, num_members)
    done: list[int] = []
    for i in np.argsort(-size, kind="stable"):
        there = placed[done]
        price = problem.cost[i] + problem.distance[:, there] @ problem.rate[i, done]
        price = price + problem.rate[done, i] @ problem.distance[there, :]
        over = np.maximum(0.0, load[:, None] + problem.weight[:, i, :] - 1.0) * problem.inside
        price = (price + problem.penalty * over.sum(axis=0)) * rng.uniform(0.8, 1.2, num_nodes)
        placed[i] = int(np.argmin(price))
        load += problem.weight[:, i, placed[i]] * problem.inside[:, placed[i]]
        done.append(int(i))
    return placed


def _shake(problem: _Problem, best: Int, rng: np.random.Generator) -> Int:
    placed = best.copy()
    number = int(rng.integers(2, max(3, len(best) // 4) + 1))
    for i in rng.permutation(len(best))[:number]:
        placed[i] = int(rng.choice(np.nonzero(problem.eligible[i])[0]))
    return placed


def _descend(problem: _Problem, placed: Int, budget: Budget) -> None:
    """Best shift or swap, in place, until none improves."""
    for _ in range(20 * len(placed)):
        if budget.exhausted:
            return
        shift, swap = _gains(problem, placed)
        if min(shift.min(), swap.min()) >= -SAME * problem.penalty:
            return
        if shift.min() <= swap.min():
            i, h = np.unravel_index(int(shift.argmin()), shift.shape)
            placed[i] = h
        else:
            i, j = np.unravel_index(int(swap.argmin()), swap.shape)
            placed[i], placed[j] = placed[j], placed[i]


def _gains(problem: _Problem, placed: Int) -> tuple[Float, Float]:
    """Change of the value, overload priced, by each shift [n, m] and each swap [n, n]."""
    everyone = np.arange(len(placed))
    distance, rate = problem.distance, problem.rate
    price = problem.cost + rate @ distance[:, placed].T + rate.T @ distance[placed, :]
    change = price - price[everyone, placed][:, None]
    shift = change + problem.penalty * _overload_of_shifts(problem, placed)
    shift[everyone, placed] = 0.0
    there = distance[np.ix_(placed, placed)]
    alone = np.diag(distance)[placed]
    # each of two that exchange nodes was priced with the other where it stands: correct their own traffic
    pair = rate * (there + there.T - alone[:, None] - alone[None, :])
    swap = change[:, placed] + change[:, placed].T + pair + pair.T
    swap += problem.penalty * _overload_of_swaps(problem, placed)
    swap[placed[:, None] == placed[None, :]] = 0.0
    return shift, swap


def _over(load: Float) -> Float:
    return np.maximum(0.0, load - 1.0)


def _overload_of_shifts(problem: _Problem, placed: Int) -> Float:
    """float64[n, m]: change of the summed overload when a member goes to a node; by limits it leaves, enters, keeps."""
    load, own = problem.loads(placed), problem.own(placed)
    was = problem.inside[:, placed][:, :, None]  # K, n, 1
    will = problem.inside[:, None, :]  # K, 1, m
    after = load[:, None, None] - own[:, :, None] * was + problem.weight * will
    change: Float = (_over(after) - _over(load)[:, None, None]).sum(axis=0)
    return change


def _overload_of_swaps(problem: _Problem, placed: Int) -> Float:
    """float64[n, n]: change of the summed overload when two members exchange their nodes."""
    load, own = problem.loads(placed), problem.own(placed)
    inside = problem.inside[:, placed]  # K, n
    counted = own * inside
    moved = problem.weight[:, :, placed] * inside[:, None, :]  # K, i, j: i where j is
    after = load[:, None, None] - counted[:, :, None] - counted[:, None, :] + moved + moved.transpose(0, 2, 1)
    change: Float = (_over(after) - _over(load)[:, None, None]).sum(axis=0)
    return change
