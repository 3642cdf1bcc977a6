"""Rules of groups by domain (equation 9), teams and gangs that are placed whole."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.fields import Part, lists
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.problem import ENDLESS

__all__ = ["partitions", "rule_fields", "unit_fields"]

Int = npt.NDArray[np.int64]


class _Tallies:
    """Counts of a group by the domains of a partition; made when a rule first asks."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.parts: list[Int] = []
        self.layers: dict[str, list[int]] = {}
        self.keys: dict[tuple[str, int], int] = {}
        self.at_most: list[int] = []
        self.at_least: list[int] = []

    def of(self, group: str, level: str) -> list[int]:
        """Tallies of a group over a level: one, or one a layer where domains of the level lie in each other."""
        if level not in self.layers:
            self.layers[level] = []
            for slot in partitions(self.compiled, level):
                self.layers[level].append(len(self.parts))
                self.parts.append(slot)
        found = []
        for part in self.layers[level]:
            if (group, part) not in self.keys:
                self.keys[group, part] = len(self.at_most)
                self.at_most.append(ENDLESS)
                self.at_least.append(0)
            found.append(self.keys[group, part])
        return found


def partitions(compiled: Compiled, level: str) -> list[Int]:
    """Zone of the level at each node, -1 outside; several where zones of one level lie in each other."""
    found = []
    left = list(compiled.instance.zones_of(level))
    while left:
        slot = np.full(compiled.num_nodes, -1, dtype=np.int64)
        inner = []
        for index, zone in enumerate(left):
            if slot[zone.nodes[0]] >= 0:
                inner.append(zone)
            else:
                slot[list(zone.nodes)] = index
        found.append(slot)
        left = inner
    return found


def rule_fields(compiled: Compiled, items: Items) -> Part:
    """Tallies and the rules over them; the group of every item."""
    instance, ignored = compiled.instance, compiled.model.ignore
    numbers: dict[str, int] = {}
    for workload in instance.workloads:
        numbers[workload.group] = numbers.get(workload.group, 0) + workload.count
    tallies = _Tallies(compiled)
    if Family.CONFLICT not in ignored:
        for conflict in instance.conflicts:
            if conflict.at_most < numbers.get(conflict.group, 0):
                for t in tallies.of(conflict.group, conflict.level):
                    tallies.at_most[t] = min(tallies.at_most[t], conflict.at_most)
    if Family.SPREAD not in ignored:
        for spread in instance.spreads:
            if spread.at_least > 1 and numbers.get(spread.group, 0) > 1:
                for t in tallies.of(spread.group, spread.level):
                    tallies.at_least[t] = max(tallies.at_least[t], spread.at_least)
    needs: list[tuple[int, int]] = []
    if Family.DEPENDENCY not in ignored:
        for rule in instance.dependencies:
            if rule.group != rule.on and numbers.get(rule.group, 0):
                needs.extend(zip(tallies.of(rule.group, rule.level), tallies.of(rule.on, rule.level), strict=True))
    groups = {name: index for index, name in enumerate(numbers)}
    ruled = {group for group, _ in tallies.keys}
    number = len(tallies.at_most)
    widths = [0] * number
    for (_, part), t in tallies.keys.items():
        widths[t] = int(tallies.parts[part].max(initial=-1)) + 1
    part_of = np.zeros(number, dtype=np.int64)
    for (_, part), t in tallies.keys.items():
        part_of[t] = part
    tally_start, tally = lists(((groups[g], t) for (g, _), t in tallies.keys.items()), len(groups))
    needs_start, needs_list = lists(needs, number)
    needed_start, needed = lists(((b, a) for a, b in needs), number)
    group_of = np.array([groups[w.group] for w in instance.workloads], dtype=np.int64)
    is_ruled = np.array([w.group in ruled for w in instance.workloads], dtype=bool)
    of_item: Int = np.array([b.workload for b in compiled.blocks], dtype=np.int64)[items.block]
    fields = {
        "group": np.where(is_ruled[of_item], group_of[of_item], -1).astype(np.int64) if len(of_item) else of_item,
        "mover": group_of[of_item] if len(of_item) else of_item,
        "tally_start": tally_start,
        "tally": tally,
        "part": part_of,
        "slot": np.array(tallies.parts, dtype=np.int64).reshape(-1, compiled.num_nodes),
        "tally_offset": np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        "at_most": np.array(tallies.at_most, dtype=np.int64),
        "at_least": np.array(tallies.at_least, dtype=np.int64),
        "needs_start": needs_start,
        "needs": needs_list,
        "needed_start": needed_start,
        "needed": needed,
    }
    return Part(fields, at.RULES if number else 0)


def unit_fields(compiled: Compiled, items: Items) -> Part:
    """Teams, then gangs: who is placed whole or not at all."""
    members: list[Int] = []
    rates: list[float] = []
    for team in compiled.teams:
        members.append(
            np.concatenate([np.arange(items.first[b], items.first[b + 1]) for b in team.blocks] or [np.zeros(0, int)])
        )
        rates.append(float(team.rate))
    rows: list[Int] = []
    row_of: dict[str, int] = {}
    slots = [-1] * len(members)
    for gang, level in zip(items.gangs, items.gang_levels, strict=True):
        if level not in row_of:
            row_of[level] = len(rows)
            slot = np.full(compiled.num_nodes, -1, dtype=np.int64)
            for domain in compiled.outermost(level):
                slot[domain.first_node : domain.end_node] = domain.index
            rows.append(slot)
        members.append(gang)
        rates.append(0.0)
        slots.append(row_of[level])
    unit = np.full(len(items.block), -1, dtype=np.int64)
    for index, found in enumerate(members):
        unit[found.astype(np.int64)] = index
    sizes = [len(found) for found in members]
    fields = {
        "unit": unit,
        "unit_start": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "unit_items": np.concatenate(members).astype(np.int64) if members else np.zeros(0, np.int64),
        "unit_gang": np.array([slot >= 0 for slot in slots], dtype=np.uint8),
        "unit_slot": np.array(slots, dtype=np.int64),
        "gang_slot": np.array(rows, dtype=np.int64).reshape(-1, compiled.num_nodes),
        "unit_rate": np.array(rates, dtype=np.float64),
    }
    return Part(fields, at.UNITS if members else 0)
