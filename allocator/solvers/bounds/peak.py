"""Bound of the goal ``peak`` from whole members: so many large ones make some domain full.

Of the members that need at least x of a resource, domain d holds at most floor(t C_d / x) at utilisation t. The least t
at which all of them have a place is a bound, for every x; with one member it is the largest member over the largest
domain. Exact; no solver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal
from allocator.solvers.bounds.orbits import Orbits
from allocator.solvers.bounds.relaxation.cells import Cell, Part

__all__ = ["peak_bound"]

HALVINGS = 40


def peak_bound(
    compiled: Compiled, goal: Goal, orbits: Orbits, parts: Sequence[Part], cells: Sequence[Cell]
) -> Fraction:
    """Lower bound of the goal where everybody is placed."""
    names = goal.resources or tuple(name for name in compiled.resources if name != "power")
    if goal.at_level is None:
        level = set(compiled.node_domain.tolist())
    else:
        level = {domain.index for domain in compiled.outermost(goal.at_level)}
    holder = [-1] * orbits.num_groups
    for number, orbit in enumerate(orbits.domains):
        if orbit.domain in level:
            for group in orbit.groups:
                holder[group] = number
    best = Fraction(0)
    for name in names:
        r = compiled.resources.index(name)
        least = [min((cell.need[r] for cell in cells if cell.part == p), default=0) for p in range(len(parts))]
        for x in sorted({need for need in least if need}):
            large = {p for p, need in enumerate(least) if need >= x}
            used = {holder[cell.group] for cell in cells if cell.part in large}
            rooms = [
                (int(compiled.capacity[orbits.domains[number].domain, r]), orbits.domains[number].size)
                for number in used
                if number >= 0
            ]
            if -1 not in used and all(capacity > 0 for capacity, _ in rooms):
                best = max(best, _least_use(rooms, x, sum(parts[p].count for p in large)))
    return best


def _least_use(rooms: Sequence[tuple[int, int]], x: int, count: int) -> Fraction:
    """Least t with sum of size * floor(t * capacity / x) >= count."""
    low, high = Fraction(0), Fraction(count * x, max(capacity for capacity, _ in rooms))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if sum(size * math.floor(middle * capacity / x) for capacity, size in rooms) >= count:
            high = middle
        else:
            low = middle
    # too few have a place at ``low``, nor before the next multiple of a member is reached
    return min((math.floor(low * capacity / x) + 1) * Fraction(x, capacity) for capacity, _ in rooms)
