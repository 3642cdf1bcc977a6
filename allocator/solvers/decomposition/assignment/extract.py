"""Which compiled instances are assignment problems, and the way there and back. Owns the conditions, no algorithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Bool, Int64
from allocator.solvers.support import used_families

__all__ = ["MemberAssignment", "is_assignment_instance", "member_assignment"]

HARMLESS = frozenset(
    {Family.ASSIGNMENT, Family.ELIGIBILITY, Family.SHARES, Family.CAPACITY, Family.RATES, Family.FABRIC}
)
"""Families under which every placement within the capacities is allowed (traffic loads links and forbids nothing)."""

MAX_JOBS = 3000
MAX_PAIRS = 150_000
SLIP = Fraction(1, 10**6)
LARGEST = 1 << 31  # cost or amount, after dividing by what all have in common


@dataclass(frozen=True)
class MemberAssignment:
    """An assignment problem whose jobs are members and whose agents are nodes.

    A choice of cost c has value ``unit`` * c + ``shift`` on the first level. ``blocks``: int64[J].
    """

    problem: AssignmentProblem
    blocks: Int64
    unit: Fraction
    shift: Fraction

    def value(self, cost: int) -> Fraction:
        """Value of the first level."""
        return self.unit * cost + self.shift

    def cost(self, value: Fraction) -> int:
        """A bound of the level as a bound of the cost, which is a whole number.

        What a floating-point solver may have put on top of a whole number is forgiven, not rounded up.
        """
        cost = (value - self.shift) / self.unit
        return math.ceil(cost - SLIP * max(Fraction(1), abs(cost) / 1000))

    def assignment(self, compiled: Compiled, choice: Int64) -> Assignment:
        """A choice as counts."""
        counts: dict[tuple[int, int, int], int] = {}
        for block, node in zip(self.blocks.tolist(), choice.tolist(), strict=True):
            key = block, int(compiled.first_option[compiled.blocks[block].workload]), node
            counts[key] = counts.get(key, 0) + 1
        return Assignment(counts)

    def choice(self, assignment: Assignment) -> Int64 | None:
        """Counts as a choice; None when they break a capacity or leave members out."""
        nodes: dict[int, list[int]] = {}
        for (block, _, node), count in sorted(assignment.counts.items()):
            nodes.setdefault(block, []).extend([node] * count)
        choice = np.full(self.problem.num_jobs, -1, dtype=np.int64)
        for job, block in enumerate(self.blocks.tolist()):
            if nodes.get(block):
                choice[job] = nodes[block].pop()
        return choice if self.problem.is_feasible(choice) else None


def is_assignment_instance(compiled: Compiled) -> bool:
    """Whether the first level is the cost alone and nothing but capacities of nodes limits who stands together.

    Later levels may hold anything that leaves nobody unplaced: what is found is then a start and a bound.
    """
    model = compiled.model
    first = model.levels[0].goals if model.levels else ()
    if len(first) != 1 or first[0].id is not GoalId.COST or model.may_leave_out or compiled.cost is None:
        return False
    if not used_families(compiled.instance, model) <= HARMLESS or any(w is not None for w in compiled.power_limit):
        return False
    if (np.diff(compiled.first_option) != 1).any():
        return False
    inner = np.ones(compiled.num_domains, dtype=np.bool_)
    inner[compiled.node_domain] = False
    if (compiled.limit[inner] >= 0).any() or (compiled.pool_limit >= 0).any() or compiled.overfull.any():
        return False
    jobs = sum(block.count for block in compiled.blocks)
    if not 0 < jobs <= MAX_JOBS or jobs * compiled.num_nodes > MAX_PAIRS:
        return False
    return bool(compiled.eligible.any(axis=1).all())


def member_assignment(compiled: Compiled) -> MemberAssignment | None:
    """The problem of an instance that is one; None when its numbers are too large."""
    assert compiled.cost is not None
    blocks = np.repeat(np.arange(len(compiled.blocks), dtype=np.int64), [block.count for block in compiled.blocks])
    workloads = np.array([block.workload for block in compiled.blocks], dtype=np.int64)[blocks]
    options = compiled.first_option[workloads]
    allowed = compiled.eligible[options].T.copy()
    used = compiled.floor[options][:, compiled.node_kind].transpose(1, 0, 2)
    limits = compiled.limit[compiled.node_domain]
    binding = np.flatnonzero((limits >= 0).any(axis=0))
    reduced = _amounts(used[:, :, binding], limits[:, binding], allowed)
    costs = _costs(compiled, workloads, allowed)
    if reduced is None or costs is None:
        return None
    use, capacity = reduced
    cost, unit, shift = costs
    return MemberAssignment(AssignmentProblem(cost, use, capacity, allowed), blocks, unit, shift)


def _amounts(use: Int64, limits: Int64, allowed: Bool) -> tuple[Int64, Int64] | None:
    """Amounts divided by what those of a node have in common; a node without a limit gets one that never binds."""
    use = np.where(allowed[:, :, None], use, 0)
    capacity = limits.copy()
    for agent in range(len(use)):
        for r in range(use.shape[2]):
            common = max(1, int(np.gcd.reduce(use[agent, :, r], initial=0)))
            use[agent, :, r] //= common
            total = sum(map(int, use[agent, :, r]))
            capacity[agent, r] = total if limits[agent, r] < 0 else min(total, int(limits[agent, r]) // common)
    if use.max(initial=0) > LARGEST or capacity.max(initial=0) > LARGEST * MAX_JOBS:
        return None
    return use, capacity


def _costs(compiled: Compiled, workloads: Int64, allowed: Bool) -> tuple[Int64, Fraction, Fraction] | None:
    """Costs from each job's cheapest node up, in their common unit; the unit and the sum of the cheapest."""
    assert compiled.cost is not None
    weight = compiled.model.levels[0].goals[0].weight
    rows = {w: compiled.cost[w].tolist() for w in np.unique(workloads).tolist()}
    least = {}
    for job, w in enumerate(workloads.tolist()):
        if w not in least:
            least[w] = min(c for c, ok in zip(rows[w], allowed[:, job], strict=True) if ok)
    above = {w: [c - least[w] for c in row] for w, row in rows.items()}
    denominator = math.lcm(*(c.denominator for row in above.values() for c in row))
    whole = {w: [max(0, int(c * denominator)) for c in row] for w, row in above.items()}
    cost = [whole[w] for w in workloads.tolist()]
    usable = np.array(cost, dtype=object).T
    usable[~allowed] = 0
    common = math.gcd(*usable.ravel().tolist()) or 1
    usable //= common
    if max(usable.ravel().tolist()) > LARGEST:
        return None
    shift = weight * sum((least[w] for w in workloads.tolist()), Fraction(0))
    return usable.astype(np.int64), weight * Fraction(common, denominator), shift
