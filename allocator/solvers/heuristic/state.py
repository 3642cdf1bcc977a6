"""What is left of every limit while members are placed one by one. Vectorised over nodes; exact integers.

Owns feasibility of one more member. Must not know the order of placing nor any goal.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family

__all__ = ["PlacingState"]

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
ENDLESS = np.iinfo(np.int64).max // 4


class PlacingState:
    """Room at nodes, inner domains and pools, and members of conflict groups by domain.

    ``counts[block, option, node]`` is what has been placed so far.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.counts: dict[tuple[int, int, int], int] = {}
        limit = np.where(compiled.limit >= 0, compiled.limit, ENDLESS)
        power = [r for r, name in enumerate(compiled.resources) if name == "power"]
        limit[:, power] = ENDLESS  # left to ``admits_power``
        self.free_node: Int64 = limit[compiled.node_domain].copy()
        inner = set(range(compiled.num_domains)) - set(compiled.node_domain.tolist())
        self.inner = [d for d in sorted(inner) if (limit[d] < ENDLESS).any()]
        self.free_inner: dict[int, Int64] = {d: limit[d].copy() for d in self.inner}
        self.pools: list[tuple[int, int]] = [
            (int(d), int(r)) for d, r in zip(*np.nonzero(compiled.pool_limit >= 0), strict=True)
        ]
        self.pool_free = {key: int(compiled.pool_limit[key]) for key in self.pools}
        own = compiled.capacity[compiled.node_domain]
        self.own_free: Int64 = np.where(own >= 0, own, 0)
        self._paths = [self._path(node) for node in range(compiled.num_nodes)]
        self._conflicts = self._conflict_rules()
        self._held = self._hold_transient()

    def _path(self, node: int) -> list[int]:
        path = []
        domain = int(self.compiled.parent[self.compiled.node_domain[node]])
        while domain >= 0:
            if domain in self.free_inner:
                path.append(domain)
            domain = int(self.compiled.parent[domain])
        return path

    def _conflict_rules(self) -> dict[str, list[tuple[int, Int64, Int64]]]:
        """By group: (most members, zone slot of every node or -1, members by slot)."""
        rules: dict[str, list[tuple[int, Int64, Int64]]] = {}
        if Family.CONFLICT in self.compiled.model.ignore:
            return rules
        for rule in self.compiled.instance.conflicts:
            left = list(self.compiled.instance.zones_of(rule.level))
            while left:  # zones of a level may lie in one another: apart those that do not
                slot = np.full(self.compiled.num_nodes, -1, dtype=np.int64)
                inner = []
                for index, zone in enumerate(left):
                    if slot[zone.nodes[0]] >= 0:
                        inner.append(zone)
                    else:
                        slot[list(zone.nodes)] = index
                members = np.zeros(len(left) + 1, dtype=np.int64)  # the last one for nodes outside
                rules.setdefault(rule.group, []).append((rule.at_most, slot, members))
                left = inner
        return rules

    def _hold_transient(self) -> list[int]:
        """Charge the old floors of transient resources to where members run now (equation 8)."""
        compiled = self.compiled
        held = [r for r, name in enumerate(compiled.resources) if compiled.instance.resources[name].transient]
        if Family.TRANSIENT in compiled.model.ignore:
            held = []
        for block in compiled.blocks:
            if block.current_node >= 0 and held:
                floor = compiled.floor[block.current_option, compiled.node_kind[block.current_node]].copy()
                floor[[r for r in range(len(floor)) if r not in held]] = 0
                self._take(block.current_node, floor, block.count)
        return held

    def need(self, block: int, option: int, node: int) -> Int64:
        """What one more member draws at a node: its floors, less the transient part already held there."""
        compiled = self.compiled
        need: Int64 = compiled.floor[option, compiled.node_kind[node]].copy()
        entity = compiled.blocks[block]
        if entity.current_node == node:
            for r in self._held:
                need[r] -= compiled.floor[entity.current_option, compiled.node_kind[node], r]
        return need

    def fits(self, block: int, option: int) -> Bool:
        """bool[N]: nodes where one more member of the block fits in that option."""
        compiled = self.compiled
        entity = compiled.blocks[block]
        need = compiled.floor[option][compiled.node_kind]  # [N, R]
        here = entity.current_node
        if here >= 0 and self._held:
            need = need.copy()
            need[here] = self.need(block, option, here)
        mask: Bool = compiled.eligible[option] & (need <= self.free_node).all(axis=1)
        for domain, room in self.free_inner.items():
            low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
            mask[low:high] &= (need[low:high] <= room).all(axis=1)
        for domain, r in self.pools:
            low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
            reach = np.maximum(0, self.own_free[low:high, r]) + self.pool_free[domain, r]
            mask[low:high] &= need[low:high, r] <= reach
        for closed in np.nonzero(compiled.overfull)[0]:
            low, high = int(compiled.first_node[closed]), int(compiled.end_node[closed])
            if not low <= here < high:
                mask[low:high] = False
        group = compiled.instance.workloads[entity.workload].group
        for most, slot, members in self._conflicts.get(group, ()):
            mask &= (slot < 0) | (members[slot] < most)
        return mask

    def room_for(self, block: int, option: int, node: int) -> int:
        """How many more members of the block fit on the node in that option; at most the block's count."""
        compiled = self.compiled
        need = self.need(block, option, node)
        most = compiled.blocks[block].count
        for r in np.nonzero(need > 0)[0]:
            rooms = [int(self.free_node[node, r]), *(int(self.free_inner[d][r]) for d in self._paths[node])]
            for domain, pooled in self.pools:
                if pooled == r and compiled.first_node[domain] <= node < compiled.end_node[domain]:
                    rooms.append(max(0, int(self.own_free[node, r])) + self.pool_free[domain, pooled])
            most = min(most, min(rooms) // int(need[r]))
        group = compiled.instance.workloads[compiled.blocks[block].workload].group
        for limit, slot, members in self._conflicts.get(group, ()):
            if slot[node] >= 0:
                most = min(most, limit - int(members[slot[node]]))
        return most

    def place(self, block: int, option: int, node: int, number: int = 1) -> None:
        """Place members; a negative number takes them back."""
        key = block, option, node
        self.counts[key] = self.counts.get(key, 0) + number
        if not self.counts[key]:
            del self.counts[key]
        self._take(node, self.need(block, option, node), number)
        group = self.compiled.instance.workloads[self.compiled.blocks[block].workload].group
        for _, slot, members in self._conflicts.get(group, ()):
            members[slot[node]] += number

    def _take(self, node: int, need: Int64, number: int) -> None:
        amount = need * number
        bounded = self.free_node[node] < ENDLESS // 2
        self.free_node[node][bounded] -= amount[bounded]
        for domain in self._paths[node]:
            room = self.free_inner[domain]
            bounded = room < ENDLESS // 2
            room[bounded] -= amount[bounded]
        before = np.minimum(0, self.own_free[node])
        self.own_free[node] -= amount
        after = np.minimum(0, self.own_free[node])
        for domain, r in self.pools:
            if self.compiled.first_node[domain] <= node < self.compiled.end_node[domain]:
                self.pool_free[domain, r] -= int(before[r] - after[r])
