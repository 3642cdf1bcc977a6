"""Layers of the topology: domains of one height, none inside another, and what each of them can hold.

A domain's height is that of the highest leaf-to-it chain; the leaves are layer 0. Every uplink is of one layer, so that
bounds of layers add up. Owns capacities of bins and least needs of members there; knows nothing of flows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.solvers.bounds.orbits import Orbits
from allocator.solvers.bounds.relaxation.cells import Cell, Part

__all__ = ["Bin", "Layer", "layers_of"]


@dataclass(frozen=True)
class Bin:
    """``size`` domains alike.

    Attributes
    ----------
    capacity : by resource; None: no limit known.
    needs : least need by resource, by part that may stand there.
    weight, bandwidth : of their uplinks.
    """

    size: int
    capacity: tuple[int | None, ...]
    needs: Mapping[int, tuple[int, ...]]
    weight: Fraction
    bandwidth: Fraction | None

    def most(self, part: int, count: int) -> int:
        """Most members of a part that fit into one of the domains, at most ``count``."""
        if part not in self.needs:
            return 0
        for each, held in zip(self.needs[part], self.capacity, strict=True):
            if each and held is not None:
                count = min(count, held // each)
        return count


@dataclass(frozen=True)
class Layer:
    """``bins`` that members may stand in; ``covered``: by part, whether it can stand nowhere else."""

    bins: tuple[Bin, ...]
    covered: tuple[bool, ...]

    def holding(self, wanted: Collection[int]) -> Layer:
        """The bins that some of these parts may stand in."""
        inside = tuple(each for each in self.bins if any(part in each.needs for part in wanted))
        outside = [each for each in self.bins if not any(part in each.needs for part in wanted)]
        covered = tuple(
            known and not any(part in each.needs for each in outside) for part, known in enumerate(self.covered)
        )
        return Layer(inside, covered)


def layers_of(compiled: Compiled, orbits: Orbits, parts: tuple[Part, ...], cells: tuple[Cell, ...]) -> list[Layer]:
    """Layers from the leaves upwards, those without a domain that can be told apart left out."""
    height = np.zeros(compiled.num_domains, dtype=np.int64)
    for domain in range(compiled.num_domains - 1, 0, -1):
        parent = int(compiled.parent[domain])
        height[parent] = max(height[parent], height[domain] + 1)
    totals = _totals(compiled)
    needs: list[dict[int, tuple[int, ...]]] = [{} for _ in range(orbits.num_groups)]
    for cell in cells:
        known = needs[cell.group].get(cell.part)
        needs[cell.group][cell.part] = cell.need if known is None else tuple(map(min, known, cell.need))
    at_height: dict[int, list[Bin]] = {}
    groups_at: dict[int, set[int]] = {}
    for orbit in orbits.domains:
        uplink = compiled.instance.domains[orbit.domain].uplink
        if uplink is None:
            continue
        mine: dict[int, tuple[int, ...]] = {}
        for group in orbit.groups:
            for part, need in needs[group].items():
                mine[part] = need if part not in mine else tuple(map(min, mine[part], need))
        level = int(height[orbit.domain])
        groups_at.setdefault(level, set()).update(orbit.groups)
        if mine:
            bandwidth = uplink.bandwidth
            at_height.setdefault(level, []).append(
                Bin(orbit.size, totals[orbit.domain], mine, uplink.weight, bandwidth)
            )
    layers = []
    for level in sorted(at_height):
        outside = [needs[group] for group in range(orbits.num_groups) if group not in groups_at[level]]
        covered = tuple(not any(number in each for each in outside) for number in range(len(parts)))
        layers.append(Layer(tuple(at_height[level]), covered))
    return layers


def _totals(compiled: Compiled) -> list[tuple[int | None, ...]]:
    """By domain and resource, what can be used there at most: own limit, or the sum below with pools, if less."""
    by_resource = []
    for r, name in enumerate(compiled.resources):
        below: list[int | None] = [0] * compiled.num_domains
        leaf = [True] * compiled.num_domains
        result: list[int | None] = [None] * compiled.num_domains
        pooled = [False] * compiled.num_domains
        for domain in range(compiled.num_domains):
            parent = int(compiled.parent[domain])
            pooled[domain] = bool(compiled.pool_limit[domain, r] >= 0) or (parent >= 0 and pooled[parent])
        for domain in range(compiled.num_domains - 1, -1, -1):
            total: int | None
            own = int(compiled.limit[domain, r])
            pool = int(compiled.pool_limit[domain, r])
            if leaf[domain]:
                total = max(0, int(compiled.capacity[domain, r])) if pooled[domain] else None
            else:
                total = below[domain]
            if pool >= 0 and total is not None:
                total += pool
            if own >= 0:
                total = own if total is None else min(total, own)
            result[domain] = None if name == "power" else total
            parent = int(compiled.parent[domain])
            if parent >= 0:
                leaf[parent] = False
                sofar = below[parent]
                below[parent] = None if total is None or sofar is None else sofar + total
        for domain in range(1, compiled.num_domains):  # a pool above lends to one node what it has
            parent = int(compiled.parent[domain])
            above = result[parent]
            own_total = result[domain]
            if pooled[domain] and int(compiled.pool_limit[domain, r]) < 0:
                result[domain] = above
            elif above is not None:
                result[domain] = above if own_total is None else min(above, own_total)
        by_resource.append(result)
    return [
        tuple(by_resource[r][domain] for r in range(len(compiled.resources))) for domain in range(compiled.num_domains)
    ]
