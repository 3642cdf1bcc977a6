"""Which part of a plan to set free next: nodes by several kinds of choice, then whoever stands on them.

Owns the kinds. Must not know how a part is solved or whether it gained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.decomposition.lns.freed import Freed

__all__ = ["Kind", "Neighbourhoods"]

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Spot = tuple[int, int, int]
UNPLACED_SHARE = 0.25  # of the members of a part
WORST = 5  # members are drawn, and the one that could gain most is taken


class Kind(StrEnum):
    """How the nodes of a part are chosen."""

    ANY = "any nodes"
    NEAR = "nodes under one domain"
    DEAR = "nodes that a dear member would rather be on"
    UNEVEN = "full and empty nodes"
    TEAM = "nodes of a team or of partners"
    LEFT_OUT = "nodes for members that are left out"


class Neighbourhoods:
    """Kinds that an instance knows, and their parts."""

    def __init__(self, compiled: Compiled, rng: np.random.Generator) -> None:
        self._compiled = compiled
        self._rng = rng
        self._costs = _cost_rows(compiled)
        self._unit_of = {block: unit.blocks for unit in compiled.gangs for block in unit.blocks}
        self._partners: dict[int, list[int]] = {}
        for pair in compiled.pairs:
            self._partners.setdefault(pair.source, []).append(pair.target)
            self._partners.setdefault(pair.target, []).append(pair.source)
        self._pickers: dict[Kind, Callable[[int], list[int]]] = {Kind.ANY: self._any, Kind.UNEVEN: self._uneven}
        if compiled.num_domains > compiled.num_nodes + 1:
            self._pickers[Kind.NEAR] = self._near
        if self._costs is not None:
            self._pickers[Kind.DEAR] = self._dear
        if compiled.teams or compiled.pairs:
            self._pickers[Kind.TEAM] = self._team
        if compiled.model.may_leave_out:
            self._pickers[Kind.LEFT_OUT] = self._left_out

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds that apply."""
        return tuple(self._pickers)

    def see(self, assignment: Assignment) -> None:
        """Take the plan that parts are freed from."""
        compiled = self._compiled
        self._on_node: list[list[tuple[Spot, int]]] = [[] for _ in range(compiled.num_nodes)]
        self._spots: list[Spot] = sorted(assignment.counts)
        self._of_block: dict[int, list[Spot]] = {}
        placed: dict[int, int] = {}
        use = np.zeros((compiled.num_nodes, len(compiled.resources)))
        for spot in self._spots:
            count = assignment.counts[spot]
            block, option, node = spot
            self._on_node[node].append((spot, count))
            self._of_block.setdefault(block, []).append(spot)
            placed[block] = placed.get(block, 0) + count
            use[node] += compiled.floor[option, compiled.node_kind[node]] * count
        limit = compiled.limit[compiled.node_domain]
        self._fullness: Float = np.where(limit > 0, use / np.maximum(limit, 1), 0.0).max(axis=1, initial=0.0)
        self._unplaced = {b.index: b.count - placed.get(b.index, 0) for b in compiled.blocks}
        self._unplaced = {block: left for block, left in self._unplaced.items() if left}

    def part(self, kind: Kind, columns: int) -> Freed | None:
        """A part of about so many (block, node) pairs; None when the kind finds nothing now."""
        compiled = self._compiled
        if not compiled.num_nodes:
            return None
        blocks_a_node = max(1.0, len(self._spots) / compiled.num_nodes)
        number = int(np.clip(np.sqrt(columns / blocks_a_node), 2, compiled.num_nodes))
        nodes = self._pickers[kind](number)
        if not nodes:
            return None
        nodes = sorted(set(nodes))
        most = max(2, columns // len(nodes))
        return self._freed(nodes, most, only_left_out=kind is Kind.LEFT_OUT)

    def _freed(self, nodes: list[int], most: int, *, only_left_out: bool) -> Freed | None:
        """Whoever stands on the nodes, at random where that is more than ``most`` blocks; gangs with their unit."""
        inside = set(nodes)
        units: dict[int, list[Spot]] = {}  # by the first block of what goes together
        closed: set[int] = set()
        for node in nodes:
            for spot, _ in self._on_node[node]:
                block = spot[0]
                together = self._unit_of.get(block, (block,))
                first = together[0]
                if first in units or first in closed:
                    continue
                spots = [s for other in together for s in self._of_block.get(other, ())]
                if len(together) == 1 and block not in self._unit_of:
                    spots = [s for s in spots if s[2] in inside]
                elif any(s[2] not in inside for s in spots):
                    closed.add(first)
                    continue
                units[first] = spots
        order = list(units)
        self._rng.shuffle(order)
        on_node = {spot: count for node in nodes for spot, count in self._on_node[node]}
        counts = {spot: on_node[spot] for first in order[:most] for spot in units[first]}
        left = self._waiting(nodes, max(1, int(most * UNPLACED_SHARE)))
        if not counts or (only_left_out and not left):
            return None
        return Freed(counts, left, tuple(nodes))

    def _waiting(self, nodes: list[int], most: int) -> Mapping[int, int]:
        """Some of the blocks that are left out and may stand on the nodes, a team or a gang unit whole."""
        if not self._unplaced or not self._compiled.model.may_leave_out:
            return {}
        known = list(self._unplaced)
        found: dict[int, int] = {}
        for index in self._rng.permutation(len(known))[:most].tolist():
            block = known[index]
            team = self._compiled.blocks[block].team
            together = self._compiled.teams[team].blocks if team >= 0 else self._unit_of.get(block, (block,))
            if block in self._unit_of and any(other in self._of_block for other in together):
                continue  # part of the unit stands
            if all(self._may_stand(other, nodes) for other in together):
                found.update({other: self._unplaced[other] for other in together if other in self._unplaced})
            if len(found) >= most:
                break
        return found

    def _may_stand(self, block: int, nodes: list[int]) -> bool:
        options = list(self._compiled.options_of(self._compiled.blocks[block].workload))
        return bool(self._compiled.eligible[options][:, nodes].any())

    def _any(self, number: int) -> list[int]:
        chosen: list[int] = self._rng.choice(self._compiled.num_nodes, number, replace=False).tolist()
        return chosen

    def _near(self, number: int) -> list[int]:
        """Nodes of one domain, or of it and its neighbours."""
        compiled = self._compiled
        node = int(self._rng.integers(compiled.num_nodes))
        domain = int(compiled.node_domain[node])
        low, high = node, node + 1
        while high - low < number and compiled.parent[domain] >= 0:
            domain = int(compiled.parent[domain])
            low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
        others = np.arange(low, high)
        if len(others) > number:
            first = int(np.clip(node - number // 2, low, high - number))
            others = np.arange(first, first + number)
        found: list[int] = others.tolist()
        return found

    def _uneven(self, number: int) -> list[int]:
        order = np.argsort(self._fullness + self._rng.random(len(self._fullness)) * 0.2, kind="stable")
        half = max(1, number // 2)
        return [*order[:half].tolist(), *order[-half:].tolist()]

    def _dear(self, number: int) -> list[int]:
        """The node of a member far above its least cost, and cheap nodes for it."""
        assert self._costs is not None
        if not self._spots:
            return []
        drawn = [self._spots[i] for i in self._rng.integers(len(self._spots), size=WORST).tolist()]
        best, row = drawn[0], self._costs[self._compiled.blocks[drawn[0][0]].workload]
        gain = -np.inf
        for spot in drawn:
            costs = self._costs[self._compiled.blocks[spot[0]].workload]
            if costs[spot[2]] - costs.min() > gain:
                best, row, gain = spot, costs, float(costs[spot[2]] - costs.min())
        usable = np.nonzero(np.isfinite(row))[0]
        cheap = usable[np.argsort(row[usable], kind="stable")][: 2 * number]
        chosen: list[int] = self._rng.permutation(cheap)[: number - 1].tolist()
        return [best[2], *chosen]

    def _team(self, number: int) -> list[int]:
        """Nodes where a team, or a member and its partners, stand; the rest at random."""
        compiled = self._compiled
        talking = [team.blocks for team in compiled.teams]
        index = int(self._rng.integers(len(talking) + len(self._partners)))
        if index < len(talking):
            blocks = list(talking[index])
        else:
            first = list(self._partners)[index - len(talking)]
            blocks = [first, *self._partners[first]]
        nodes = list(dict.fromkeys(spot[2] for block in blocks for spot in self._of_block.get(block, ())))
        if len(nodes) < number:
            nodes += self._any(number - len(nodes))
        return nodes[: max(number, 2)]

    def _left_out(self, number: int) -> list[int]:
        """Nodes where a block that is left out may stand."""
        if not self._unplaced:
            return []
        block = list(self._unplaced)[int(self._rng.integers(len(self._unplaced)))]
        options = list(self._compiled.options_of(self._compiled.blocks[block].workload))
        open_nodes = np.nonzero(self._compiled.eligible[options].any(axis=0))[0]
        found: list[int] = self._rng.permutation(open_nodes)[:number].tolist()
        return found


def _cost_rows(compiled: Compiled) -> Float | None:
    """float64[W, N], infinite where the class may not stand; None without the goal ``cost``."""
    if compiled.cost is None or GoalId.COST not in compiled.model.goal_ids:
        return None
    costs = compiled.cost.astype(float)
    for workload in range(len(costs)):
        costs[workload][~compiled.eligible[list(compiled.options_of(workload))].any(axis=0)] = np.inf
    found: Float = costs
    return found
