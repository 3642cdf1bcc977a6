"""Machine reassignment stated once more, from the two files alone: what an assignment costs, which rules it breaks.

Shares nothing with the reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

TINY = Path(__file__).resolve().parents[2] / "instances" / "roadef_tiny"


@dataclass
class Reassignment:
    """A problem. ``start``: machine of each process now."""

    transient: list[int] = field(default_factory=list)
    load_weight: list[int] = field(default_factory=list)
    neighbourhood: list[int] = field(default_factory=list)
    location: list[int] = field(default_factory=list)
    capacity: list[list[int]] = field(default_factory=list)
    safety: list[list[int]] = field(default_factory=list)
    distance: list[list[int]] = field(default_factory=list)
    spread: list[int] = field(default_factory=list)
    needs: list[list[int]] = field(default_factory=list)
    service: list[int] = field(default_factory=list)
    demand: list[list[int]] = field(default_factory=list)
    move: list[int] = field(default_factory=list)
    balance: list[list[int]] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)

    def usage(self, x: Sequence[int]) -> list[list[int]]:
        """Use by machine and resource."""
        use = [[0] * len(self.transient) for _ in self.capacity]
        for p, m in enumerate(x):
            for r, amount in enumerate(self.demand[p]):
                use[m][r] += amount
        return use

    def broken(self, x: Sequence[int]) -> set[str]:
        """Rules that an assignment breaks."""
        found = set()
        held = self.usage(x)
        for p, (old, new) in enumerate(zip(self.start, x, strict=True)):
            if old != new:
                for r, transient in enumerate(self.transient):
                    held[old][r] += transient * self.demand[p][r]
        if any(u > c for use, room in zip(held, self.capacity, strict=True) for u, c in zip(use, room, strict=True)):
            without = self.usage(x)
            over = any(
                u > c for use, cap in zip(without, self.capacity, strict=True) for u, c in zip(use, cap, strict=True)
            )
            found.add("capacity" if over else "transient")
        pairs = Counter(zip(self.service, x, strict=True))
        if max(pairs.values()) > 1:
            found.add("conflict")
        machines: list[set[int]] = [set() for _ in self.spread]
        for s, m in pairs:
            machines[s].add(m)
        areas = [{self.neighbourhood[m] for m in where} for where in machines]
        for s, least in enumerate(self.spread):
            if machines[s] and len({self.location[m] for m in machines[s]}) < least:
                found.add("spread")
            if any(areas[s] - areas[other] for other in self.needs[s]):
                found.add("dependency")
        return found

    def cost(self, x: Sequence[int]) -> int:
        """The challenge's cost."""
        use = self.usage(x)
        total = 0
        for r, weight in enumerate(self.load_weight):
            total += weight * sum(max(0, use[m][r] - safety[r]) for m, safety in enumerate(self.safety))
        for a, b, target, weight in self.balance:
            for room, used in zip(self.capacity, use, strict=True):
                total += weight * max(0, target * (room[a] - used[a]) - (room[b] - used[b]))
        moved = [p for p, (old, new) in enumerate(zip(self.start, x, strict=True)) if old != new]
        total += self.weights[0] * sum(self.move[p] for p in moved)
        total += self.weights[1] * max(Counter(self.service[p] for p in moved).values(), default=0)
        return total + self.weights[2] * sum(self.distance[self.start[p]][x[p]] for p in moved)

    def optimum(self) -> int:
        """Least cost by enumeration."""
        everything = product(range(len(self.capacity)), repeat=len(self.service))
        return min(self.cost(x) for x in everything if not self.broken(x))


def read(model: str, assignment: str) -> Reassignment:
    """Problem in the texts of the two files."""
    t = [int(word) for word in reversed(model.split())]

    def take(count: int) -> list[int]:
        return [t.pop() for _ in range(count)]

    found = Reassignment()
    num_resources = t.pop()
    for _ in range(num_resources):
        found.transient.append(t.pop())
        found.load_weight.append(t.pop())
    num_machines = t.pop()
    for _ in range(num_machines):
        found.neighbourhood.append(t.pop())
        found.location.append(t.pop())
        found.capacity.append(take(num_resources))
        found.safety.append(take(num_resources))
        found.distance.append(take(num_machines))
    for _ in range(t.pop()):
        found.spread.append(t.pop())
        found.needs.append(take(t.pop()))
    for _ in range(t.pop()):
        found.service.append(t.pop())
        found.demand.append(take(num_resources))
        found.move.append(t.pop())
    found.balance = [take(4) for _ in range(t.pop())]
    found.weights = take(3)
    assert not t
    found.start = [int(word) for word in assignment.split()]
    return found


def read_files(model: Path, assignment: Path) -> Reassignment:
    """Problem in two files."""
    return read(model.read_text(), assignment.read_text())
