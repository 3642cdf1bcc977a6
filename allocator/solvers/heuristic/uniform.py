"""The method ``uniform``: every node gets an even part of every class. The naive baseline, nothing is searched.

Owns the dealing. Members are dealt round-robin over the nodes that are eligible for their class, classes one after the
other without starting over at the first node. What does not fit where it is dealt stays out when the model has
``placed``, and else goes to the nearest node with room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled, GangUnit
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Support
from allocator.solvers.budget import Budget
from allocator.solvers.heuristic.least_floors import with_least_floors
from allocator.solvers.heuristic.outcome import better, heuristic_answer, with_shares
from allocator.solvers.heuristic.room import Room
from allocator.solvers.recorder import Recorder

__all__ = ["SUPPORT", "UniformMethod", "deal"]

Spot = tuple[int, int, int]  # block, option, node
SUPPORT = Support(
    frozenset(Family) - {Family.MOVE_LIMIT, Family.RESERVE, Family.LINK_LOAD},
    frozenset(GoalId) - {GoalId.QUALITY},
    frozenset({"fair", "knee", "table"}),
)


class UniformMethod:
    """An even split. Has no bound; no plan when the split breaks a spread or a dependency."""

    name = "uniform"
    support = SUPPORT

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome."""

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,  # noqa: ARG002 - nothing random
        threads: int,  # noqa: ARG002 - one thread
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """Split evenly; a start that is better on the levels is kept instead."""
        recorder.phase("splitting evenly")
        dealt = deal(with_least_floors(compiled), budget)
        found = None
        if dealt is not None:
            found = with_shares(compiled, dealt.room.counts)
        if found is None or (start is not None and better(compiled, start, found)):
            found = start
        if found is None:
            reason = TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED
            none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
            return Answer(Status.UNKNOWN, Termination(reason, "an even split does not fit"), None, none, none)
        return heuristic_answer(compiled, found, recorder, TerminationReason.CONVERGED, "an even split")


@dataclass
class Dealt:
    """What the even split placed, and what it left out: units of (block, number) that go together."""

    room: Room
    left: list[list[tuple[int, int]]] = field(default_factory=list)


def deal(compiled: Compiled, budget: Budget) -> Dealt | None:
    """Deal everybody; None when somebody who must be placed does not fit, or time is up."""
    dealer = _Dealer(compiled)
    for unit in _units(compiled):
        if budget.exhausted:
            return None
        if isinstance(unit, GangUnit):
            whole = dealer.deal_gangs(unit)
        elif compiled.blocks[unit[0]].team >= 0:
            whole = dealer.deal_team(unit)
        else:
            whole = dealer.deal_block(unit[0])
        if not whole and not compiled.model.may_leave_out:
            return None
    return dealer.dealt


def _units(compiled: Compiled) -> Iterator[list[int] | GangUnit]:
    """Teams, gangs, then the other blocks, each in the order of the instance."""
    in_gang = {block for unit in compiled.gangs for block in unit.blocks}
    yield from (list(team.blocks) for team in compiled.teams)
    yield from compiled.gangs
    yield from ([b.index] for b in compiled.blocks if b.team < 0 and b.index not in in_gang)


class _Dealer:
    """State of the dealing: room, and the next position of every class."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.dealt = Dealt(Room(compiled))
        self.room = self.dealt.room
        self._positions: dict[int, int] = {}
        self._cursor = 0
        self._nodes: dict[int, npt.NDArray[np.int64]] = {}
        self._option: dict[int, npt.NDArray[np.int64]] = {}

    def _open_nodes(self, workload: int) -> npt.NDArray[np.int64]:
        """Nodes that are eligible for the class in some option; the first such option is the one it gets there."""
        if workload not in self._nodes:
            options = list(self.compiled.options_of(workload))
            eligible = self.compiled.eligible[options]
            self._nodes[workload] = np.nonzero(eligible.any(axis=0))[0]
            self._option[workload] = options[0] + eligible.argmax(axis=0)
            self._positions[workload] = self._cursor
            self._cursor += self.compiled.instance.workloads[workload].count
        return self._nodes[workload]

    def _next(self, workload: int, number: int) -> npt.NDArray[np.int64]:
        """Nodes of the class's next members, one each."""
        nodes = self._open_nodes(workload)
        position = self._positions[workload]
        self._positions[workload] = position + number
        found: npt.NDArray[np.int64] = nodes[(position + np.arange(number)) % len(nodes)] if len(nodes) else nodes
        return found

    def _seat(self, block: int, node: int) -> Spot | None:
        """Where a member that is dealt to the node goes; None when it has to stay out."""
        workload = self.compiled.blocks[block].workload
        option = int(self._option[workload][node])
        if self.room.room_at(block, option, node) > 0:
            return block, option, node
        return None if self.compiled.model.may_leave_out else self._nearest(block, node)

    def _nearest(self, block: int, node: int) -> Spot | None:
        """The nearest node with room: fewest levels up, then by number."""
        near = (self.room.paths == self.room.paths[node]).sum(axis=1)
        away = np.abs(np.arange(self.compiled.num_nodes) - node)
        best: tuple[int, int, int] | None = None
        for option in self.compiled.options_of(self.compiled.blocks[block].workload):
            open_nodes = np.nonzero(self.room.mask(block, option))[0]
            if len(open_nodes):
                first = open_nodes[np.lexsort((away[open_nodes], -near[open_nodes]))[0]]
                key = -int(near[first]), int(away[first]), option
                if best is None or key < best:
                    best = key
                    spot = block, option, int(first)
        return None if best is None else spot

    def deal_team(self, blocks: list[int]) -> bool:
        """A team is placed whole or not at all."""
        done: list[Spot] = []
        whole = True
        for block in blocks:
            entity = self.compiled.blocks[block]
            targets = self._next(entity.workload, entity.count)
            whole = whole and len(targets) == entity.count
            for node in targets.tolist() if whole else ():
                spot = self._seat(block, node)
                if spot is None:
                    whole = False
                    break
                self.room.put(*spot)
                done.append(spot)
        if not whole:
            for spot in done:
                self.room.put(*spot, -1)
            self.dealt.left.append([(block, self.compiled.blocks[block].count) for block in blocks])
        return whole

    def deal_block(self, block: int) -> bool:
        """Members without ties: an even number to each node, then the rest of them to near nodes."""
        entity = self.compiled.blocks[block]
        targets = self._next(entity.workload, entity.count)
        left = entity.count - len(targets)
        for node, number in zip(*np.unique(targets, return_counts=True), strict=True):
            left += self._pour(block, int(node), int(number))
        if left:
            self.dealt.left.append([(block, left)])
        return left == 0

    def _pour(self, block: int, node: int, number: int) -> int:
        """Place up to so many members on the node or, where they must be placed, near it. Returns how many are left."""
        option = int(self._option[self.compiled.blocks[block].workload][node])
        spot: Spot | None = (block, option, node)
        while number and spot is not None:
            fitting = min(number, self.room.room_at(*spot))
            if fitting:
                self.room.put(*spot, fitting)
                number -= fitting
            spot = self._nearest(block, node) if number and not self.compiled.model.may_leave_out else None
        return number

    def deal_gangs(self, unit: GangUnit) -> bool:
        """Gangs go to the domains of their level in turn, to distinct nodes; to the next one that holds them."""
        compiled = self.compiled
        domains = compiled.instance.domains_of(unit.level)
        members = [b for b in unit.blocks for _ in range(compiled.blocks[b].count // unit.replicas)]
        done = turn = 0
        for _ in range(unit.replicas):
            for attempt in range(len(domains)):
                domain = domains[(turn + attempt) % len(domains)]
                if any(
                    self._seat_gang(members, option, domain.first_node, domain.end_node)
                    for option in compiled.options_of(unit.workload)
                ):
                    turn += attempt + 1
                    done += 1
                    break
            else:
                return False
        return done == unit.replicas

    def _seat_gang(self, members: list[int], option: int, first: int, end: int) -> bool:
        """The members of one gang on the emptiest distinct nodes; all or none."""
        done: list[Spot] = []
        taken = np.zeros(self.compiled.num_nodes, dtype=np.bool_)
        for block in members:
            nodes = first + np.nonzero(self.room.mask(block, option)[first:end] & ~taken[first:end])[0]
            if not len(nodes):
                for spot in done:
                    self.room.put(*spot, -1)
                return False
            node = int(nodes[np.argmin(self.room.members[nodes])])
            self.room.put(block, option, node)
            taken[node] = True
            done.append((block, option, node))
        return True
