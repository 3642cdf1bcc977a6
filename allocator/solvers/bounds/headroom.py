"""How many more whole copies of the placed mix can fit at most: a bound from summed capacities, no packing."""

from __future__ import annotations

from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.plan.result import Headroom
from allocator.solvers.base import Assignment
from allocator.solvers.bounds.room import aggregates

__all__ = ["headroom"]


def headroom(compiled: Compiled, assignment: Assignment) -> Headroom | None:
    """Bound of the number of further copies of what the assignment places.

    For every set of classes confined to common nodes, with D the least that its placed members need of a resource and C
    what those nodes hold of it, k more copies need (k + 1) D <= C. The bound is the least k over sets and resources,
    never below 0; it holds for every plan, also for those that move what is placed now. None when nothing is placed or
    nothing that is placed is limited.
    """
    placed = [0] * len(compiled.instance.workloads)
    for (block, _, _), count in assignment.counts.items():
        placed[compiled.blocks[block].workload] += count
    best: tuple[Fraction, str] | None = None
    for total in aggregates(compiled, placed):
        copies = Fraction(total.room, total.demand)  # parts of a copy tell which resource is the scarcest
        if best is None or copies < best[0]:
            best = copies, compiled.resources[total.resource]
    return None if best is None else Headroom(Fraction(max(0, best[0] // 1 - 1)), "bound", best[1])
