"""A plain scheduler that scores like the one of Kubernetes: one member at a time in file order, no look-ahead.

Nodes are filtered by eligibility and room; the rest are scored by the sum of two numbers from 0 to 100, computed in
whole numbers as the scheduler does: *NodeResourcesFit* (``MostAllocated``: requested over allocatable, averaged over
resources; ``LeastAllocated``: what is left instead) and *NodeResourcesBalancedAllocation* (100 less the standard
deviation of the fractions). The highest score wins, ties by the seed. What runs already is left where it is. Nothing is
moved, so a gang is not understood and refused; a team that cannot be completed is taken back.
Source: Kubernetes documentation, "Resource Bin Packing" and the scheduler's plugin reference.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Block, Compiled
from allocator.errors import MethodRefused
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.state import PlacingState
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["SchedulerMethod", "scores"]

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
NOT_UNDERSTOOD = frozenset(
    {
        Family.GANG,
        Family.SPREAD,
        Family.DEPENDENCY,
        Family.MOVE_LIMIT,
        Family.RESERVE,
        Family.SLO,
        Family.LINK_LOAD,
    }
)
CHECK_EVERY = 256


class SchedulerMethod:
    """Filter and score; takes the first mode of a class, and the floors as requests."""

    support = Support(frozenset(Family) - NOT_UNDERSTOOD, frozenset(GoalId) - {GoalId.P99, GoalId.QUALITY})

    def __init__(self, name: str, *, most_allocated: bool) -> None:
        self.name = name
        self._most = most_allocated

    def refuse(self, compiled: Compiled) -> None:
        """Refuse power caps, which the scheduler does not know."""
        if any(limit is not None for limit in compiled.power_limit):
            raise MethodRefused(f"method {self.name}: does not understand capacities of power")

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,  # noqa: ARG002 - it starts from what runs now
        seed: int,
        threads: int,  # noqa: ARG002 - one thread
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """One pass; no plan when somebody who must be placed finds no node."""
        recorder.phase("scheduling", level=0)
        none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
        counts, left = _schedule(compiled, self._most, seed, budget)
        if budget.exhausted or (left and not compiled.model.may_leave_out):
            reason = TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED
            return Answer(Status.UNKNOWN, Termination(reason, f"{left} members found no node"), None, none, none)
        plan = optimal_shares(compiled, counts)
        assignment = Assignment(counts) if plan is None else plan.assignment
        claims = level_values(compiled, assignment)
        recorder.incumbent(0, float(claims[0]))
        return Answer(Status.FEASIBLE, Termination(TerminationReason.CONVERGED, "one pass"), assignment, claims, none)


def _schedule(compiled: Compiled, most: bool, seed: int, budget: Budget) -> tuple[dict[tuple[int, int, int], int], int]:
    """Counts, and how many members found no node."""
    state = PlacingState(compiled)
    random = np.random.default_rng(seed)
    allocatable = compiled.capacity[compiled.node_domain]
    used = np.zeros_like(allocatable)
    placed: list[tuple[Block, int, int]] = []
    missing: set[int] = set()  # teams that lack a member
    left = 0
    for number, block in enumerate(_members(compiled)):
        if number % CHECK_EVERY == 0 and budget.exhausted:
            break
        option = block.current_option if block.current_node >= 0 else int(compiled.first_option[block.workload])
        fits = np.nonzero(state.fits(block.index, option))[0]
        if block.current_node >= 0:
            fits = fits[fits == block.current_node]
        if len(fits) == 0:
            left += 1
            missing.add(block.team)
            continue
        need = compiled.floor[option][compiled.node_kind]
        score = scores(used[fits] + need[fits], allocatable[fits], need[fits] > 0, most=most)
        node = int(random.choice(fits[score == score.max()]))
        state.place(block.index, option, node)
        used[node] += need[node]
        placed.append((block, option, node))
    for block, option, node in placed:
        if block.team in missing and block.team >= 0:
            state.place(block.index, option, node, -1)
            left += 1
    return state.counts, left


def _members(compiled: Compiled) -> list[Block]:
    """The block of every member, in the order of the file: classes, then numbers; what runs already comes first."""
    order = [
        (block.current_node < 0, block.workload, first + offset, block)
        for block in compiled.blocks
        for first, count in block.ranges
        for offset in range(count)
    ]
    return [entry[3] for entry in sorted(order, key=lambda entry: entry[:3])]


def scores(requested: Int64, allocatable: Int64, asked: npt.NDArray[np.bool_], *, most: bool) -> Int64:
    """Score of each node, 0 to 200.

    Parameters
    ----------
    requested, allocatable : int64[nodes, resources], with the new member; -1 where a node states no capacity.
    asked : bool[nodes, resources], what the member asks for; other resources do not count.
    """
    counted = (allocatable > 0) & asked
    fraction = np.minimum(np.where(counted, requested / np.maximum(allocatable, 1), 0.0), 1.0)
    number = np.maximum(counted.sum(axis=1), 1)
    filled = np.where(counted, np.floor(100 * (fraction if most else 1.0 - fraction) + 1e-9), 0.0)
    fit = filled.sum(axis=1) // number
    mean = fraction.sum(axis=1) / number
    spread = np.sqrt(np.where(counted, (fraction - mean[:, None]) ** 2, 0.0).sum(axis=1) / number)
    balance = np.floor(100 * (1.0 - spread) + 1e-9)
    total: Int64 = np.where(counted.any(axis=1), fit + balance, 0.0).astype(np.int64)
    return total
