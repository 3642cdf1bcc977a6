"""Spreads and dependencies while single members move: whether a move would break one. Exact.

Must not know capacities, goals, or who decides on moves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.heuristic.room import level_slots

__all__ = ["MoveRules"]

Int64 = npt.NDArray[np.int64]


class MoveRules:
    """Members of the groups that rules name, by domain of their levels."""

    def __init__(self, compiled: Compiled, counts: Mapping[tuple[int, int, int], int]) -> None:
        instance, ignored = compiled.instance, compiled.model.ignore
        self._groups = [instance.workloads[block.workload].group for block in compiled.blocks]
        spreads = () if Family.SPREAD in ignored else instance.spreads
        dependencies = () if Family.DEPENDENCY in ignored else instance.dependencies
        levels = sorted({rule.level for rule in spreads} | {rule.level for rule in dependencies})
        slots = {level: level_slots(compiled, level) for level in levels}
        named = {rule.group for rule in spreads} | {g for rule in dependencies for g in (rule.group, rule.on)}
        self._slots = slots
        self._members: dict[tuple[str, str], list[Int64]] = {
            (group, level): [np.zeros(number + 1, dtype=np.int64) for _, number in slots[level]]
            for group in sorted(named)
            for level in levels
        }
        self._spreads = [(rule.group, rule.level, rule.at_least) for rule in spreads]
        self._dependencies = [(rule.group, rule.on, rule.level) for rule in dependencies]
        for (block, _, node), count in counts.items():
            self.shift(block, node, count)

    def shift(self, block: int, node: int, number: int) -> None:
        """Note that members came to a node, or left it (a negative number)."""
        for (group, level), layers in self._members.items():
            if group == self._groups[block]:
                for (slot, _), members in zip(self._slots[level], layers, strict=True):
                    members[slot[node]] += number

    def allow(self, block: int, origin: int, target: int) -> bool:
        """Whether one member may move; what was broken before does not count against it."""
        group = self._groups[block]
        if not any(group == named for named, _ in self._members):
            return True
        before = self._broken()
        self.shift(block, origin, -1)
        self.shift(block, target, 1)
        after = self._broken()
        self.shift(block, target, -1)
        self.shift(block, origin, 1)
        return after <= before

    def _broken(self) -> int:
        """Domains that spreads lack, and domains where a dependency fails."""
        total = 0
        for group, level, at_least in self._spreads:
            layers = self._members[group, level]
            covered = sum(int((members[:-1] > 0).sum()) for members in layers)
            placed = int(layers[0][:-1].sum()) if layers else 0
            total += max(0, min(at_least, placed) - covered)
        for group, on, level in self._dependencies:
            for ours, theirs in zip(self._members[group, level], self._members[on, level], strict=True):
                total += int(((ours[:-1] > 0) & (theirs[:-1] == 0)).sum())
        return total
