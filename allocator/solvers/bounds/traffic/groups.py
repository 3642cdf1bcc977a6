"""Traffic of ``spread`` and ``broadcast`` flows that has to leave the bins of a layer: all pairs of two classes.

The pairs within bins are at most sum_d a_d B_d with a_d of one class in bin d and B_d the most of the other that fits
there; the bins with most room are filled first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.bounds.relaxation.cells import Part
from allocator.solvers.bounds.traffic.layers import Bin, Layer

__all__ = ["groups_cut"]


def groups_cut(compiled: Compiled, layer: Layer, parts: Sequence[Part]) -> Fraction:
    """Least sum of rates over ordered pairs of members in different bins, everyone placed."""
    workloads = compiled.instance.workloads
    total = Fraction(0)
    for flow in compiled.groups:
        ends = [[p for p, part in enumerate(parts) if part.workload == end] for end in (flow.source, flow.target)]
        if not all(layer.covered[p] for p in (*ends[0], *ends[1])):
            continue
        counts = [workloads[end].count for end in (flow.source, flow.target)]
        if flow.source == flow.target:
            together = _together(layer, ends[0], ends[0], counts[0], counts[0]) - counts[0]
            pairs = counts[0] * (counts[0] - 1)
        else:
            together = min(
                _together(layer, ends[0], ends[1], *counts), _together(layer, ends[1], ends[0], *reversed(counts))
            )
            pairs = counts[0] * counts[1]
        total += flow.rate * max(0, pairs - together)
    return total


def _together(layer: Layer, first: Sequence[int], second: Sequence[int], count: int, other: int) -> int:
    """At least sum a_d b_d over bins: a_d of the first class beside as many of the second as fit."""
    room = sorted(
        ((_most(each, second, other), _most(each, first, count), each.size) for each in layer.bins), reverse=True
    )
    left, total = count, 0
    for beside, most, size in room:
        taken = min(left, most * size)
        total += taken * beside
        left -= taken
    return total


def _most(each: Bin, members: Sequence[int], count: int) -> int:
    """Most members of a class in one bin; its parts have the same needs."""
    return max((each.most(part, count) for part in members), default=0)
