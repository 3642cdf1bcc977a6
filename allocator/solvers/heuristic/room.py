"""What is left of every limit, for many nodes at once and for one: the state of the even split and of its adjustment.

Owns feasibility of more members at a node, exact integers. Must not know in which order members are placed, nor goals.
Watts are counted in millionths, rounded up, so that they never fit only by rounding.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family

__all__ = ["ENDLESS", "Room", "level_slots"]

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
ENDLESS = np.iinfo(np.int64).max // 4
MICRO = 10**6


class Room:
    """Room at every domain, pool and power cap, and members of conflict groups by domain.

    Attributes
    ----------
    free : int64[D + 1, R], left of each limit; ``ENDLESS`` without one. The last row stands for no domain.
    paths : int64[N, depth], the node's domain, then its ancestors; padded with D.
    counts : members by (block, option, node).
    members : int64[N], members on each node.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.counts: dict[tuple[int, int, int], int] = {}
        self.members: Int64 = np.zeros(compiled.num_nodes, dtype=np.int64)
        limit = np.where(compiled.limit >= 0, compiled.limit, ENDLESS)
        limit[:, [r for r, name in enumerate(compiled.resources) if name == "power"]] = ENDLESS  # see ``_watts``
        endless = np.full((1, len(compiled.resources)), ENDLESS, dtype=np.int64)
        self.free: Int64 = np.vstack([limit, endless])
        self.limited: Bool = self.free < ENDLESS
        self.paths = _paths(compiled)
        self._groups = [compiled.instance.workloads[block.workload].group for block in compiled.blocks]
        own = compiled.capacity[compiled.node_domain]
        self._own: Int64 = np.where(own >= 0, own, 0)
        self._pools = [(int(d), int(r)) for d, r in zip(*np.nonzero(compiled.pool_limit >= 0), strict=True)]
        self._pool_free = {key: int(compiled.pool_limit[key]) for key in self._pools}
        self._conflicts = _conflict_rules(compiled)
        self._power = _PowerRoom(compiled, self.paths) if any(w is not None for w in compiled.power_limit) else None
        held = [compiled.instance.resources[name].transient for name in compiled.resources]
        self._held: Int64 = np.array(held, dtype=np.int64).reshape(-1) * (Family.TRANSIENT not in compiled.model.ignore)
        self._hold_transient()

    def _hold_transient(self) -> None:
        """Charge the old floors of transient resources to where members run now (equation 8)."""
        compiled = self.compiled
        if not self._held.any():
            return
        for block in compiled.blocks:
            if block.current_node >= 0:
                floor = compiled.floor[block.current_option, compiled.node_kind[block.current_node]]
                self._take(block.current_node, floor * self._held, block.count)

    def need(self, block: int, option: int, node: int) -> Int64:
        """int64[R]: what one more member draws at a node, less the transient part that is already held there."""
        compiled = self.compiled
        need: Int64 = compiled.floor[option, compiled.node_kind[node]]
        entity = compiled.blocks[block]
        if entity.current_node == node and self._held.any():
            need = need - compiled.floor[entity.current_option, compiled.node_kind[node]] * self._held
        return need

    def mask(self, block: int, option: int) -> Bool:
        """bool[N]: nodes where one more member of the block fits in that option."""
        compiled = self.compiled
        need = compiled.floor[option]  # [K, R]
        fits = (self.free[None, :, :] >= need[:, None, :]).all(axis=2)  # [K, D + 1]
        found: Bool = compiled.eligible[option] & fits[compiled.node_kind[:, None], self.paths].all(axis=1)
        for domain, r in self._pools:
            nodes = slice(int(compiled.first_node[domain]), int(compiled.end_node[domain]))
            reach = np.maximum(0, self._own[nodes, r]) + self._pool_free[domain, r]
            found[nodes] &= need[compiled.node_kind[nodes], r] <= reach
        for _, slot, members, most in self._conflicts.get(self._groups[block], ()):
            found &= (slot < 0) | (members[slot] < most)
        if self._power is not None:
            found &= self._power.mask(option, self.members)
        here = compiled.blocks[block].current_node
        if here >= 0 and self._held.any():
            found[here] = self.room_at(block, option, here) > 0
        return self._open(found, here)

    def _open(self, found: Bool, here: int) -> Bool:
        """Without the nodes of overfull domains that the members do not run in."""
        compiled = self.compiled
        for closed in np.nonzero(compiled.overfull)[0]:
            low, high = int(compiled.first_node[closed]), int(compiled.end_node[closed])
            if not low <= here < high:
                found[low:high] = False
        return found

    def room_at(self, block: int, option: int, node: int) -> int:
        """How many more members of the block fit on the node in that option; at most the block's count."""
        compiled = self.compiled
        most = compiled.blocks[block].count
        if not compiled.eligible[option, node]:
            return 0
        path = self.paths[node]
        need = self.need(block, option, node)
        asked = need > 0
        if asked.any():
            most = min(most, int((self.free[path][:, asked] // need[asked]).min()))
        for domain, r in self._pools:
            if need[r] > 0 and compiled.first_node[domain] <= node < compiled.end_node[domain]:
                reach = max(0, int(self._own[node, r])) + self._pool_free[domain, r]
                most = min(most, reach // int(need[r]))
        for _, slot, members, limit in self._conflicts.get(self._groups[block], ()):
            if slot[node] >= 0:
                most = min(most, limit - int(members[slot[node]]))
        if self._power is not None and most > 0:
            most = min(most, self._power.room_at(option, node, int(self.members[node])))
        here = compiled.blocks[block].current_node
        for domain in path[compiled.overfull[np.minimum(path, compiled.num_domains - 1)]].tolist():
            if domain < compiled.num_domains and not compiled.first_node[domain] <= here < compiled.end_node[domain]:
                return 0
        return max(0, most)

    def put(self, block: int, option: int, node: int, number: int = 1) -> None:
        """Place members; a negative number takes them back."""
        key = block, option, node
        count = self.counts.get(key, 0) + number
        if count:
            self.counts[key] = count
        else:
            self.counts.pop(key, None)
        self._take(node, self.need(block, option, node), number)
        for _, slot, members, _ in self._conflicts.get(self._groups[block], ()):
            members[slot[node]] += number
        if self._power is not None:
            self._power.put(option, node, number, int(self.members[node]))
        self.members[node] += number

    def _take(self, node: int, need: Int64, number: int) -> None:
        amount = need * number
        path = self.paths[node]
        self.free[path] -= amount * self.limited[path]  # padding is endless, hence not limited
        if self._pools:
            before = np.minimum(0, self._own[node])
            self._own[node] -= amount
            after = np.minimum(0, self._own[node])
            for domain, r in self._pools:
                if self.compiled.first_node[domain] <= node < self.compiled.end_node[domain]:
                    self._pool_free[domain, r] -= int(before[r] - after[r])


class _PowerRoom:
    """Millionths of a watt left under every power cap."""

    def __init__(self, compiled: Compiled, paths: Int64) -> None:
        self._compiled = compiled
        self._paths = paths
        limits = [ENDLESS if watts is None else int(watts * MICRO) for watts in compiled.power_limit]
        self._free: Int64 = np.array([*limits, ENDLESS], dtype=np.int64)
        self._limited = self._free < ENDLESS
        self._needs: dict[tuple[int, int], int] = {}
        nodes = compiled.instance.nodes
        self._idle = [0 if node.power is None else _up(node.power.idle * MICRO) for node in nodes]
        self._idle_array: Int64 = np.array(self._idle, dtype=np.int64)
        self._rows: dict[int, Int64] = {}
        power = compiled.instance.resources.get("power")
        self._own = -1 if power is None else compiled.resources.index("power")
        self._unit = Fraction(0) if power is None else Fraction(10) ** power.exponent * MICRO

    def need(self, option: int, node: int) -> int:
        """Draw of one member, the idle draw of the node left out."""
        key = option, node
        if key not in self._needs:
            compiled = self._compiled
            floor = compiled.floor[option, compiled.node_kind[node]]
            own = Fraction(0) if self._own < 0 else int(floor[self._own]) * self._unit
            stated, r = compiled.instance.nodes[node].power, int(compiled.compute_resource[node])
            if stated is not None and r >= 0:
                part = Fraction(int(floor[r]), int(compiled.capacity[compiled.node_domain[node], r]))
                own += (stated.busy - stated.idle) * part * MICRO
            self._needs[key] = _up(own)
        return self._needs[key]

    def mask(self, option: int, members: Int64) -> Bool:
        if option not in self._rows:
            number = self._compiled.num_nodes
            self._rows[option] = np.array([self.need(option, node) for node in range(number)], dtype=np.int64)
        need = self._rows[option] + self._idle_array * (members == 0)
        found: Bool = need <= self._free[self._paths].min(axis=1)
        return found

    def room_at(self, option: int, node: int, members: int) -> int:
        free = int(self._free[self._paths[node]].min()) - (0 if members else self._idle[node])
        each = self.need(option, node)
        if free < 0:
            return 0
        return free // each if each > 0 else int(ENDLESS)

    def put(self, option: int, node: int, number: int, members: int) -> None:
        amount = self.need(option, node) * number
        amount += self._idle[node] * (int(members + number > 0) - int(members > 0))
        path = self._paths[node]
        self._free[path] -= amount * self._limited[path]


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _paths(compiled: Compiled) -> Int64:
    rows = []
    for domain in compiled.node_domain.tolist():
        path = [domain]
        while compiled.parent[path[-1]] >= 0:
            path.append(int(compiled.parent[path[-1]]))
        rows.append(path)
    depth = max((len(row) for row in rows), default=1)
    padded = [row + [compiled.num_domains] * (depth - len(row)) for row in rows]
    return np.array(padded, dtype=np.int64).reshape(len(rows), depth)


Rule = tuple[str, Int64, Int64, int]


def _conflict_rules(compiled: Compiled) -> dict[str, list[Rule]]:
    """By group: (level, slot of every node or -1, members by slot, most members)."""
    rules: dict[str, list[Rule]] = {}
    if Family.CONFLICT in compiled.model.ignore:
        return rules
    for rule in compiled.instance.conflicts:
        for slot, number in level_slots(compiled, rule.level):
            members = np.zeros(number + 1, dtype=np.int64)  # the last one for nodes outside
            rules.setdefault(rule.group, []).append((rule.level, slot, members, rule.at_most))
    return rules


def level_slots(compiled: Compiled, level: str) -> list[tuple[Int64, int]]:
    """Zones of a level as slots of nodes, -1 outside, and their number; zones that overlap come in layers apart."""
    layers: list[tuple[Int64, int]] = []
    for zone in compiled.instance.zones_of(level):
        nodes = np.array(zone.nodes, dtype=np.int64)
        for index, (slot, number) in enumerate(layers):
            if (slot[nodes] < 0).all():
                slot[nodes] = number
                layers[index] = slot, number + 1
                break
        else:
            slot = np.full(compiled.num_nodes, -1, dtype=np.int64)
            slot[nodes] = 0
            layers.append((slot, 1))
    return layers
