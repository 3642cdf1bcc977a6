"""The method ``greedy``: communication first, memory second, compute third; one pass, no search.

Teams and members with traffic by descending traffic, gangs, then the rest by the scarcest resource. Each member goes
where its goals cost least, ties by fit: tight where the model saves nodes or traffic, loose where it spreads load.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled, GangUnit
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.least_floors import with_least_floors
from allocator.solvers.heuristic.spreading import spreads
from allocator.solvers.heuristic.state import PlacingState
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["GreedyMethod"]

Float = npt.NDArray[np.float64]
UNSUPPORTED = frozenset({Family.SPREAD, Family.DEPENDENCY, Family.MOVE_LIMIT, Family.RESERVE, Family.LINK_LOAD})


class GreedyMethod:
    """One constructive pass. Has no bound; refuses rules that one pass cannot promise to keep."""

    name = "greedy"
    support = Support(
        frozenset(Family) - UNSUPPORTED,
        frozenset(GoalId) - {GoalId.QUALITY},
        frozenset({"fair", "knee", "table"}),
    )

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome."""

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,  # noqa: ARG002 - one pass, nothing random
        threads: int,  # noqa: ARG002 - one thread
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """Place greedily; a start that is better on the levels is kept instead."""
        recorder.phase("placing greedily")
        levels = compiled.model.levels
        none: tuple[Fraction | None, ...] = (None,) * len(levels)
        assignment = construct(compiled, budget)
        if assignment is None or (start is not None and _ahead(compiled, start, assignment)):
            assignment = start
        if assignment is None:
            reason = TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED
            return Answer(Status.UNKNOWN, Termination(reason, "the greedy pass placed not everybody"), None, none, none)
        claims = level_values(compiled, assignment)
        for index, value in enumerate(claims[:1]):
            recorder.incumbent(index, float(value))
        recorder.offer(lambda: assignment)
        return Answer(Status.FEASIBLE, Termination(TerminationReason.CONVERGED, "one pass"), assignment, claims, none)


def _ahead(compiled: Compiled, first: Assignment, second: Assignment) -> bool:
    """Whether the first assignment is lexicographically better."""
    for level, a, b in zip(
        compiled.model.levels, level_values(compiled, first), level_values(compiled, second), strict=True
    ):
        if a != b:
            return a < b if level.sense == "min" else a > b
    return False


def construct(compiled: Compiled, budget: Budget) -> Assignment | None:
    """One greedy pass with best shares; None when somebody who must be placed is left, or power does not suffice."""
    pass_ = _Pass(with_least_floors(compiled), budget)
    for unit in pass_.order():
        if budget.exhausted or not (pass_.place_unit(unit) or compiled.model.may_leave_out):
            return None
    if not _within_power(compiled, pass_.state.counts):
        return None
    plan = optimal_shares(compiled, pass_.state.counts)
    return None if plan is None else plan.assignment


def _within_power(compiled: Compiled, counts: dict[tuple[int, int, int], int]) -> bool:
    """Whether floors alone keep the power caps (equation 12)."""
    if all(limit is None for limit in compiled.power_limit):
        return True
    from allocator.solvers.evaluation.power import domain_watts

    drawn = domain_watts(compiled, counts, {}, transient=True)
    return all(limit is None or watts <= limit for limit, watts in zip(compiled.power_limit, drawn, strict=True))


class _Pass:
    """State of one pass: what is placed, and what each node would cost the goals."""

    def __init__(self, compiled: Compiled, budget: Budget) -> None:
        self.compiled = compiled
        self.budget = budget
        self.state = PlacingState(compiled)
        goals = set(compiled.model.goal_ids)
        self.loose = spreads(goals)
        self.total = np.maximum(1, np.where(compiled.capacity >= 0, compiled.capacity, 0).sum(axis=0)).astype(float)
        self.cost = compiled.cost.astype(float) if compiled.cost is not None and GoalId.COST in goals else None
        self.links: dict[int, list[tuple[int, float]]] = {}
        for pair in compiled.pairs:
            self.links.setdefault(pair.source, []).append((pair.target, float(pair.rate)))
            self.links.setdefault(pair.target, []).append((pair.source, float(pair.rate)))
        self.spots: dict[int, list[int]] = {}  # nodes of the placed members of a block
        self._distance: dict[int, Float] = {}

    def order(self) -> list[list[int] | GangUnit]:
        """Teams, then members with pair flows, then gangs, then the rest; large first in each."""
        compiled = self.compiled
        size = [self._size(block.workload) for block in compiled.blocks]
        in_gang = {block for unit in compiled.gangs for block in unit.blocks}
        teams = sorted(compiled.teams, key=lambda team: (-float(team.rate) * team.size**2, team.index))
        rest = [b.index for b in compiled.blocks if b.team < 0 and b.index not in in_gang]
        traffic = {block: sum(rate for _, rate in self.links.get(block, ())) for block in rest}
        values = [compiled.instance.workloads[compiled.blocks[b].workload].value for b in range(len(compiled.blocks))]
        rest.sort(key=lambda b: (-traffic[b], -size[b], -values[b], b))
        units: list[list[int] | GangUnit] = []
        units.extend(sorted(team.blocks, key=lambda b: (-size[b], b)) for team in teams)
        units.extend(compiled.gangs)
        units.extend([block] for block in rest)
        return units

    def _size(self, workload: int) -> float:
        """Largest least floor over the whole capacity, memory first among equals."""
        options = list(self.compiled.options_of(workload))
        floors = self.compiled.floor[options]
        if not floors.size:  # no node, or no resource
            return 0.0
        least = floors.min(axis=(0, 1))
        return float((least / self.total).max(initial=0.0))

    def place_unit(self, unit: list[int] | GangUnit) -> bool:
        """Place a whole team, gang unit or block. False when not all fit in time."""
        if isinstance(unit, GangUnit):
            return self._place_gangs(unit)
        whole = self.compiled.blocks[unit[0]].team >= 0
        done: list[tuple[int, int, int]] = []
        for block in unit:
            left = self.compiled.blocks[block].count
            while left:
                spot = None if self.budget.exhausted else self._best_spot(block)
                if spot is None:
                    if whole:
                        for key in done:
                            self._put(*key, -1)
                    return False
                number = 1 if whole or block in self.links else self._batch(block, *spot, left)
                self._put(block, *spot, number)
                done.extend([(block, *spot)] * number if whole else [])
                left -= number
        return True

    def _batch(self, block: int, option: int, node: int, left: int) -> int:
        """How many members without traffic to put on the node at once: all that fit, or an even part where spread."""
        number = min(left, self.state.room_for(block, option, node))
        if self.loose:
            number = min(number, -(-left // int(self.state.fits(block, option).sum())))
        return max(1, number)

    def _put(self, block: int, option: int, node: int, number: int = 1) -> None:
        self.state.place(block, option, node, number)
        if number < 0:
            self.spots[block].remove(node)
        elif self.compiled.blocks[block].team >= 0 or block in self.links:
            self.spots.setdefault(block, []).append(node)  # partners look here for whom to be near

    def _best_spot(self, block: int) -> tuple[int, int] | None:
        entity = self.compiled.blocks[block]
        best: tuple[tuple[float, float, float], int, int] | None = None
        price = self._price(block)
        for option in self.compiled.options_of(entity.workload):
            nodes = np.nonzero(self.state.fits(block, option))[0]
            if not len(nodes):
                continue
            moved = (nodes != entity.current_node).astype(float) if entity.current_node >= 0 else np.zeros(len(nodes))
            fit = self._fit(option, nodes)
            first = np.lexsort((fit, moved, price[nodes]))[0]
            key = float(price[nodes[first]]), float(moved[first]), float(fit[first])
            if best is None or key < best[0]:
                best = key, option, int(nodes[first])
        return None if best is None else best[1:]

    def _price(self, block: int) -> Float:
        """float[N]: traffic to those already placed, plus cost."""
        entity = self.compiled.blocks[block]
        price = np.zeros(self.compiled.num_nodes)
        if self.cost is not None:
            price += self.cost[entity.workload]
        if entity.team >= 0:
            team = self.compiled.teams[entity.team]
            for mate in team.blocks:
                for node in self.spots.get(mate, ()):
                    price += 2 * float(team.rate) * self._distances(node)
        for mate, rate in self.links.get(block, ()):
            for node in self.spots.get(mate, ()):
                price += rate * self._distances(node)
        return price

    def _distances(self, node: int) -> Float:
        """float[N]: distance from a node to all."""
        if node not in self._distance:
            compiled = self.compiled
            matrix = compiled.instance.distances.matrix
            if matrix is not None:
                path = compiled.instance.nodes[node].path
                found = np.array([float(matrix.get((path, other.path), 0)) for other in compiled.instance.nodes])
            else:
                found = np.zeros(compiled.num_nodes)
                for domain in compiled.instance.domains:
                    if domain.uplink is not None:
                        inside = domain.first_node <= node < domain.end_node
                        crossed = (
                            np.ones(compiled.num_nodes, dtype=bool) if inside else np.zeros(compiled.num_nodes, bool)
                        )
                        crossed[domain.first_node : domain.end_node] = not inside
                        found[crossed] += float(domain.uplink.weight)
            self._distance[node] = found
        return self._distance[node]

    def _fit(self, option: int, nodes: npt.NDArray[np.intp]) -> Float:
        """float[len(nodes)]: share of the node's room that is left afterwards; sign by whether the model spreads."""
        compiled = self.compiled
        need = compiled.floor[option][compiled.node_kind[nodes]]
        room = self.state.own_free[nodes]
        own = compiled.capacity[compiled.node_domain[nodes]]
        left: Float = np.where(own > 0, (room - need) / np.maximum(own, 1), 0.0).sum(axis=1)
        return -left if self.loose else left

    def _place_gangs(self, unit: GangUnit) -> bool:
        done = 0
        while done < unit.replicas and self._place_gang(unit):
            done += 1
        return done == unit.replicas

    def _place_gang(self, unit: GangUnit) -> bool:
        """One gang in the domain that it leaves fullest."""
        members = [b for b in unit.blocks for _ in range(self.compiled.blocks[b].count // unit.replicas)]
        candidates: list[tuple[int, int, int, int]] = []
        for option in self.compiled.options_of(unit.workload):
            free = np.logical_or.reduce([self.state.fits(block, option) for block in unit.blocks])
            for domain in self.compiled.instance.domains_of(unit.level):
                seats = int(free[domain.first_node : domain.end_node].sum())
                if seats >= unit.size:
                    candidates.append((seats, option, domain.first_node, domain.end_node))
        return any(self._seat(members, option, first, end) for _, option, first, end in sorted(candidates))

    def _seat(self, members: list[int], option: int, first: int, end: int) -> bool:
        """Put the members of one gang on distinct nodes, where they run now if possible; all or none."""
        done: list[tuple[int, int, int]] = []
        taken: set[int] = set()
        for block in members:
            nodes = [first + int(n) for n in np.nonzero(self.state.fits(block, option)[first:end])[0]]
            nodes = [node for node in nodes if node not in taken]
            if not nodes:
                for key in done:
                    self.state.place(*key, -1)
                return False
            here = self.compiled.blocks[block].current_node
            seat = here if here in nodes else nodes[0]
            self._put(block, option, seat)
            taken.add(seat)
            done.append((block, option, seat))
        return True
