"""A first placement dealt out by the linear relaxation: members of a class evenly over nodes alike.

Where many nodes are alike, the relaxation says how many members of each class stand on each kind of node and what they
use there; dealt out evenly, they come close to it for goals of response times and rates, for which a node is best as
full as the others. Owns the rounding, and how the kernels' cost of response times
follows from the relaxation. Whoever does not fit is for others to place.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import GoalId
from allocator.solvers.bounds.orbits import Orbits, orbits_of
from allocator.solvers.bounds.program import Expression
from allocator.solvers.bounds.relaxation.goals import expression_of
from allocator.solvers.bounds.relaxation.model import Relaxation
from allocator.solvers.budget import Budget
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.problem import Problem

__all__ = ["Deal", "adapt", "deal_of", "positions"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

MOST_GROUPS = 64  # of nodes alike; with more, nodes are too few of a kind to deal evenly
LEAST_NODES = 4  # a group, on average
ROUNDS = 12  # of tangents
SETTLED = 1e-3  # relative distance of a share from an end of its range that counts as none
CLOSE = 1e-4  # relative error of the percentiles at which tangents end


@dataclass(frozen=True)
class Deal:
    """Members and use by workload, option and group of nodes.

    Attributes
    ----------
    orbits : the groups.
    amounts : members of (workload, option, group), real-valued.
    use : amount of each resource that one such member has, shares included.
    above : the part of ``use`` beyond what it needs.
    most : the most that such a member can use.
    in_use : nodes of a group that are used at all, real-valued; missing: all.
    bound : of the level that the relaxation was solved for.
    """

    orbits: Orbits
    amounts: dict[tuple[int, int, int], float]
    use: dict[tuple[int, int, int], Float]
    above: dict[tuple[int, int, int], Float]
    most: dict[tuple[int, int, int], Float]
    in_use: dict[int, float]
    bound: Fraction | None


def deal_of(compiled: Compiled, index: int, budget: Budget) -> Deal | None:
    """Solve the relaxation of a level with everybody placed; None where it says nothing about nodes, or time ends."""
    goals = compiled.model.levels[index].goals
    if len(goals) != 1 or goals[0].id is not GoalId.P99 or goals[0].worst:
        return None
    orbits = orbits_of(compiled, MOST_GROUPS)
    if orbits.num_groups > MOST_GROUPS or compiled.num_nodes < LEAST_NODES * orbits.num_groups:
        return None
    relaxation = Relaxation(compiled, orbits, True)
    objective = expression_of(relaxation, goals[0])
    if objective is None:
        return None
    minimised = Expression.total([(goals[0].weight, objective)])
    point, bound = None, None
    for _ in range(ROUNDS):
        proof = relaxation.program.minimise(minimised, budget)
        if proof is None:
            break
        point = proof.point
        bound = proof.bound if bound is None or (proof.bound is not None and proof.bound > bound) else bound
        if relaxation.tangents is None or not relaxation.tangents.add(relaxation, point, CLOSE):
            break
    return None if point is None else _read(compiled, relaxation, point, bound)


def _read(compiled: Compiled, relaxation: Relaxation, point: Float, bound: Fraction | None) -> Deal:
    amounts: dict[tuple[int, int, int], float] = {}
    use: dict[tuple[int, int, int], Float] = {}
    above: dict[tuple[int, int, int], Float] = {}
    most: dict[tuple[int, int, int], Float] = {}
    for number, cell in enumerate(relaxation.cells):
        members = float(point[relaxation.x[number]])
        if members <= 1e-6:
            continue
        extra = np.zeros(len(compiled.resources))
        for r in cell.room:
            extra[r] = float(point[relaxation.above[number, r]])
        key = relaxation.parts[cell.part].workload, cell.option, cell.group
        total = amounts.get(key, 0.0) + members
        before = above.get(key, np.zeros(len(compiled.resources))) * amounts.get(key, 0.0)
        above[key] = (before + extra) / total
        use[key] = np.array(cell.need, dtype=np.float64) + above[key]
        most[key] = np.array([float(cell.room.get(r, need)) for r, need in enumerate(cell.need)])
        amounts[key] = total
    in_use = {group: float(point[column]) for group, column in relaxation.columns_in_use.items()}
    return Deal(relaxation.orbits, amounts, use, above, most, in_use, bound)


def positions(compiled: Compiled, items: Items, deal: Deal) -> tuple[Int, Int]:
    """Node and option of every item; -1 for those whom the deal does not know."""
    where = np.full(len(items.block), -1, dtype=np.int64)
    first = [compiled.first_option[block.workload] for block in compiled.blocks]
    option = np.array(first, dtype=np.int64)[items.block]
    seats = _seats(compiled, deal)
    for item, block in enumerate(items.block.tolist()):
        mine = seats.get(compiled.blocks[block].workload)
        if mine:
            where[item], option[item] = mine.pop()
    return where, option


def adapt(compiled: Compiled, problem: Problem, deal: Deal) -> None:
    """Change what response times cost in the kernels.

    Members whose share the relaxation leaves at their floor, or at the most they can use, count as load alone; and a
    node has what the relaxation uses there, not what caps of power deny.
    """
    kinds = len(compiled.kinds)
    total = np.zeros((deal.orbits.num_groups, problem.need.shape[1]))
    columns = {int(problem.stable_column[node]) for node in deal.orbits.nodes.tolist()} - {0}
    of_resource = {}
    for column in columns:
        node = int(np.nonzero(problem.stable_column == column)[0][0])
        of_resource[column] = int(compiled.compute_resource[node])
    for key, amount in deal.amounts.items():
        _, option, group = key
        node = int(deal.orbits.nodes[group])
        column = int(problem.stable_column[node])
        r = of_resource.get(column, -1)
        if r < 0:
            continue
        total[group, column] += amount * deal.use[key][r]
        row = option * kinds + int(compiled.node_kind[node])
        least, most = deal.use[key][r] - deal.above[key][r], deal.most[key][r]
        if deal.above[key][r] <= SETTLED * least or deal.use[key][r] >= most * (1 - SETTLED):
            problem.root_need[row] = 0.0
            problem.need[row, column] = int(deal.use[key][r])
    for number in sorted({key[2] for key in deal.amounts}):
        nodes = _Group(compiled, deal, number)
        for node in np.nonzero(deal.orbits.group == number)[0].tolist():
            column, leaf = int(problem.stable_column[node]), int(problem.leaf[node])
            if column in of_resource:
                problem.soft[leaf, column] = max(1, problem.limit[leaf, of_resource[column]] // 100)
        for node, share in zip(nodes.nodes.tolist(), nodes.share.tolist(), strict=True):
            column, leaf = int(problem.stable_column[node]), int(problem.leaf[node])
            if column in of_resource:
                used = int(total[number, column] * share)
                problem.soft[leaf, column] = max(int(problem.soft[leaf, column]), used)


def _seats(compiled: Compiled, deal: Deal) -> dict[int, list[tuple[int, int]]]:
    """(node, option) for every member of every workload, the first one last."""
    whole = _whole(compiled, deal)
    groups = {group: _Group(compiled, deal, group) for group in sorted({key[2] for key in whole})}
    spread = {rule.group for rule in compiled.instance.spreads}
    found: dict[int, list[tuple[int, int]]] = {}
    for key in sorted(whole, key=lambda key: (-float(groups[key[2]].part(deal.use[key]).max(initial=0.0)), key)):
        workload, option, number = key
        group = groups[number]
        apart = compiled.instance.workloads[workload].group in spread
        given = group.deal(whole[key], deal.use[key], apart=apart)
        seats = [(int(node), option) for node, n in zip(group.nodes, given.tolist(), strict=True) for _ in range(n)]
        found.setdefault(workload, []).extend(seats)
    for seats in found.values():
        seats.sort(reverse=True)
    return found


class _Group:
    """Nodes alike, those that are to be used, while they fill up. ``share``: of what the group uses, by node."""

    def __init__(self, compiled: Compiled, deal: Deal, group: int) -> None:
        nodes = np.nonzero(deal.orbits.group == group)[0]
        self.parent = compiled.parent[compiled.node_domain[nodes]]
        on = min(len(nodes), math.ceil(deal.in_use.get(group, len(nodes)) - 1e-6))
        off = _even(compiled, nodes)[: len(nodes) - on]
        kept = np.setdiff1d(np.arange(len(nodes)), off)
        self.nodes, self.parent = nodes[kept], self.parent[kept]
        domain = int(compiled.node_domain[deal.orbits.nodes[group]])
        self.limit = np.where(compiled.limit[domain] > 0, compiled.limit[domain], np.inf).astype(np.float64)
        full = np.array([_fill(compiled, int(node), int((self.parent == p).sum())) for node, p in self._pairs()])
        self.share = full / full.sum()
        self.load = np.zeros((len(self.nodes), len(self.limit)))

    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.nodes.tolist(), self.parent.tolist(), strict=True))

    def part(self, use: Float) -> Float:
        """Amounts of a member by what a node has."""
        return use / self.limit

    def deal(self, number: int, use: Float, *, apart: bool) -> Int:
        """How many of so many members alike each node gets; ``apart``: the last ones on nodes of different parents."""
        ideal = number * self.share
        given: Int = np.floor(ideal + 1e-9).astype(np.int64)
        part = self.part(use)
        rest = number - int(given.sum())
        if rest:
            now = self.load + np.outer(given - ideal, part)
            order = np.argsort(now @ (part / max(1e-300, float(np.linalg.norm(part)))), kind="stable")
            if apart:
                seen: dict[int, int] = {}
                turn = []
                for parent in self.parent[order].tolist():
                    turn.append(seen.get(parent, 0))
                    seen[parent] = turn[-1] + 1
                order = order[np.argsort(turn, kind="stable")]
            given[order[:rest]] += 1
        self.load += np.outer(given - ideal, part)
        return given


def _even(compiled: Compiled, nodes: Int) -> Int:
    """Positions of nodes in an order of which every beginning is spread evenly over the domains of each height."""
    order: Int = np.arange(len(nodes))[::-1]
    above = compiled.parent[compiled.node_domain[nodes]]
    while (above >= 0).any():
        seen: dict[int, int] = {}
        turn = np.zeros(len(nodes), dtype=np.int64)
        for i in order.tolist():
            turn[i] = seen[above[i]] = seen.get(above[i], -1) + 1
        order = order[np.argsort(turn[order], kind="stable")]
        above = np.where(above >= 0, compiled.parent[above], -1)
    return order


def _fill(compiled: Compiled, node: int, alike: int) -> float:
    """Part of a node that can be used under the cap of power of its parent, ``alike`` nodes in use there."""
    domain = int(compiled.node_domain[node])
    power, limit = compiled.instance.domains[domain].power, compiled.power_limit[int(compiled.parent[domain])]
    if power is None or limit is None or power.busy <= power.idle:
        return 1.0
    return float(min(Fraction(1), max(Fraction(1, 100), (limit / alike - power.idle) / (power.busy - power.idle))))


def _whole(compiled: Compiled, deal: Deal) -> dict[tuple[int, int, int], int]:
    """Whole numbers of members, by largest remainders within a workload (Hamilton's method)."""
    by_workload: dict[int, list[tuple[int, int, int]]] = {}
    for key in deal.amounts:
        by_workload.setdefault(key[0], []).append(key)
    whole: dict[tuple[int, int, int], int] = {}
    for workload, keys in by_workload.items():
        left = compiled.instance.workloads[workload].count
        for key in keys:
            whole[key] = int(deal.amounts[key] + 1e-6)
            left -= whole[key]
        order = heapq.nlargest(max(0, left), keys, key=lambda key: (deal.amounts[key] - whole[key], key))
        for key in order:
            whole[key] += 1
    return whole
