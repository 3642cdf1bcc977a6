"""Offered load of every uplink while members are placed and moved one by one. Floats: they choose, they do not judge.

Owns loads per direction and what one member would add. Must not know capacities of nodes, nor goals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled

__all__ = ["LinkLoads", "Partners"]

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Partners:
    """bit/s between one member and the placed others: ``send[d]`` to those in a domain, ``receive[d]`` from them."""

    send: Float
    receive: Float
    domains: Int64  # those with partners


class LinkLoads:
    """Loads of the uplinks of D domains.

    Attributes
    ----------
    up, down : float64[D], offered bit/s.
    bandwidth : float64[D], infinite where none is stated (or where it is 0: nothing can relieve such a link).
    """

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        uplinks = [domain.uplink for domain in compiled.instance.domains]
        stated = [0.0 if u is None or u.bandwidth is None else float(u.bandwidth) for u in uplinks]
        self.bandwidth: Float = np.array([rate if rate > 0 else np.inf for rate in stated])
        self.up: Float = np.zeros(compiled.num_domains)
        self.down: Float = np.zeros(compiled.num_domains)
        self._pairs: dict[int, list[tuple[int, float, float]]] = {}
        for pair in compiled.pairs:
            rate = float(pair.rate)
            self._pairs.setdefault(pair.source, []).append((pair.target, rate, 0.0))
            self._pairs.setdefault(pair.target, []).append((pair.source, 0.0, rate))
        self._groups: dict[int, list[tuple[int, float, float]]] = {}
        for group in compiled.groups:
            rate = float(group.rate)
            self._groups.setdefault(group.source, []).append((group.target, rate, 0.0))
            self._groups.setdefault(group.target, []).append((group.source, 0.0, rate))
        talking = {w for flows in self._groups.values() for w, _, _ in flows}
        self._of_class = {w: np.zeros(compiled.num_nodes) for w in sorted(talking | set(self._groups))}
        self._of_team: list[dict[int, int]] = [{} for _ in compiled.teams]
        self._of_block: dict[int, int] = {}  # node of a block that takes part in pairs

    @property
    def matter(self) -> bool:
        """Whether any traffic meets any stated bandwidth."""
        flows = bool(self._compiled.teams or self._pairs or self._groups)
        return flows and bool(np.isfinite(self.bandwidth).any())

    def talks(self, block: int) -> bool:
        """Whether members of the block exchange traffic."""
        entity = self._compiled.blocks[block]
        return entity.team >= 0 or block in self._pairs or entity.workload in self._groups

    def partners(self, block: int) -> Partners:
        """Traffic of one more member of the block with those that stand."""
        compiled = self._compiled
        entity = compiled.blocks[block]
        send, receive = np.zeros(compiled.num_nodes), np.zeros(compiled.num_nodes)
        if entity.team >= 0:
            rate = float(compiled.teams[entity.team].rate)
            for node, count in self._of_team[entity.team].items():
                send[node] += rate * count
                receive[node] += rate * count
        for other, out, back in self._pairs.get(block, ()):
            if other in self._of_block:
                send[self._of_block[other]] += out
                receive[self._of_block[other]] += back
        for workload, out, back in self._groups.get(entity.workload, ()):
            send += out * self._of_class[workload]
            receive += back * self._of_class[workload]
        return self._by_domain(send, receive)

    def _by_domain(self, send: Float, receive: Float) -> Partners:
        compiled = self._compiled
        sums = [np.concatenate([[0.0], np.cumsum(amount)]) for amount in (send, receive)]
        sent, received = (total[compiled.end_node] - total[compiled.first_node] for total in sums)
        return Partners(sent, received, np.nonzero((sent > 0) | (received > 0))[0])

    def shift(self, block: int, node: int, number: int, partners: Partners | None = None) -> None:
        """Add one member (``number`` 1) or take one away (-1). ``partners``: of the member, without itself."""
        if number < 0:
            self._note(block, node, number)
        if self.talks(block):
            known = self.partners(block) if partners is None else partners
            inside = self._inside(node)
            all_sent, all_received = known.send[0], known.receive[0]  # the root holds everybody
            self.up += number * np.where(inside, all_sent - known.send, known.receive)
            self.down += number * np.where(inside, all_received - known.receive, known.send)
        if number > 0:
            self._note(block, node, number)

    def _inside(self, node: int) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (self._compiled.first_node <= node) & (node < self._compiled.end_node)
        return found

    def _note(self, block: int, node: int, number: int) -> None:
        entity = self._compiled.blocks[block]
        if entity.team >= 0:
            team = self._of_team[entity.team]
            team[node] = team.get(node, 0) + number
            if not team[node]:
                del team[node]
        if block in self._pairs:
            if number > 0:
                self._of_block[block] = node
            else:
                del self._of_block[block]
        if entity.workload in self._of_class:
            self._of_class[entity.workload][node] += number

    def utilisation(self) -> Float:
        """float64[D], the higher direction."""
        found: Float = np.maximum(self.up, self.down) / self.bandwidth
        return found

    def utilisation_with(self, partners: Partners, paths: Int64) -> Float:
        """float64[N]: highest utilisation of the links a member loads, if it stood on each node.

        ``paths``: int64[N, depth], padded with D.
        """
        compiled = self._compiled
        sent, received = partners.send, partners.receive
        inside_up, inside_down = self.up + sent[0] - sent, self.down + received[0] - received
        inside = np.append(np.maximum(inside_up, inside_down) / self.bandwidth, 0.0)
        inside[0] = 0.0  # the root has no link
        highest: Float = inside[paths].max(axis=1)
        far = partners.domains[np.isfinite(self.bandwidth[partners.domains])]
        if len(far):
            outside = np.maximum(self.up[far] + received[far], self.down[far] + sent[far]) / self.bandwidth[far]
            nodes = np.arange(compiled.num_nodes)[:, None]
            within = (compiled.first_node[far] <= nodes) & (nodes < compiled.end_node[far])
            highest = np.maximum(highest, np.where(within, 0.0, outside).max(axis=1))
        return highest
