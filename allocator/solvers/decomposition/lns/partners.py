"""What traffic with members that stay costs a freed one, node by node: exact, for the goal ``traffic``.

Must not know how the freed part is chosen or solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled

__all__ = ["PartnerCosts"]

Rates = dict[int, tuple[Fraction, Fraction]]  # node: bit/s to members there, and from them


class PartnerCosts:
    """Traffic between freed members and those that stay. ``counts``: who stays."""

    def __init__(self, compiled: Compiled, counts: Mapping[tuple[int, int, int], int]) -> None:
        self._compiled = compiled
        self._of_block: dict[int, dict[int, int]] = {}
        for (block, _, node), count in counts.items():
            spots = self._of_block.setdefault(block, {})
            spots[node] = spots.get(node, 0) + count
        self._pairs: dict[int, list[tuple[int, Fraction, Fraction]]] = {}
        for pair in compiled.pairs:
            self._pairs.setdefault(pair.source, []).append((pair.target, pair.rate, Fraction(0)))
            self._pairs.setdefault(pair.target, []).append((pair.source, Fraction(0), pair.rate))
        self._of_class: dict[int, dict[int, int]] = {}
        if compiled.groups:
            for block, spots in self._of_block.items():
                total = self._of_class.setdefault(compiled.blocks[block].workload, {})
                for node, count in spots.items():
                    total[node] = total.get(node, 0) + count
        self._above: dict[int, dict[int, Fraction]] = {}
        self._paths = [node.path for node in compiled.instance.nodes]

    def by_block(self, block: int) -> Rates:
        """Traffic of one member of the block through its team and its pairs."""
        found: Rates = {}
        team = self._compiled.blocks[block].team
        if team >= 0:
            entity = self._compiled.teams[team]
            for mate in entity.blocks:
                for node, count in self._of_block.get(mate, {}).items():
                    _add(found, node, entity.rate * count, entity.rate * count)
        for other, out, back in self._pairs.get(block, ()):
            for node, count in self._of_block.get(other, {}).items():
                _add(found, node, out * count, back * count)
        return found

    def by_class(self, workload: int) -> Rates:
        """Traffic of one member of the class through entries between classes."""
        found: Rates = {}
        for group in self._compiled.groups:
            if group.source == workload:
                for node, count in self._of_class.get(group.target, {}).items():
                    _add(found, node, group.rate * count, Fraction(0))
            if group.target == workload:
                for node, count in self._of_class.get(group.source, {}).items():
                    _add(found, node, Fraction(0), group.rate * count)
        return found

    def costs(self, rates: Rates, nodes: Sequence[int]) -> list[Fraction]:
        """bit/s times distance of a member on each of the nodes."""
        return [
            sum(
                (
                    send * self._distance(node, other) + receive * self._distance(other, node)
                    for other, (send, receive) in rates.items()
                ),
                Fraction(0),
            )
            for node in nodes
        ]

    def _distance(self, first: int, second: int) -> Fraction:
        matrix = self._compiled.instance.distances.matrix
        if matrix is not None:
            return matrix.get((self._paths[first], self._paths[second]), Fraction(0))
        if first == second:
            return Fraction(0)
        up, down = self._climb(first), self._climb(second)
        return next(weight + down[domain] for domain, weight in up.items() if domain in down)

    def _climb(self, node: int) -> dict[int, Fraction]:
        """Summed weights of the uplinks below each domain at or above the node, from below."""
        if node not in self._above:
            compiled = self._compiled
            found: dict[int, Fraction] = {}
            domain, weight = int(compiled.node_domain[node]), Fraction(0)
            while domain >= 0:
                found[domain] = weight
                uplink = compiled.instance.domains[domain].uplink
                weight += uplink.weight if uplink is not None else 0
                domain = int(compiled.parent[domain])
            self._above[node] = found
        return self._above[node]


def _add(rates: Rates, node: int, send: Fraction, receive: Fraction) -> None:
    before = rates.get(node, (Fraction(0), Fraction(0)))
    rates[node] = before[0] + send, before[1] + receive
