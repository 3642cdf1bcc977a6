"""Flows between members that no bin can hold together: fractional packing of trees too heavy for a bin.

In a plan, of any tree of flows grown from member v all but ``capacity`` of the weight stands outside of v's bin, and
every path to a member outside is cut. With x_f = 1 for the flows cut and n_T(f) the weight beyond flow f in tree T,

    sum_f n_T(f) x_f >= weight of T - capacity        (spreading constraints: Even, Naor, Rao, Schieber 1999).

So any y_T >= 0 with sum_T y_T n_T(f) <= rate_f prove a cut of sum_T y_T (weight of T - capacity). The y are found by
growing trees along the lengths of flows and raising lengths as flows fill (Garg and Könemann 2007); they are integers,
and what they prove is exact. Knows one resource: the fullest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.solvers.bounds.traffic.layers import Layer
from allocator.solvers.budget import Budget

__all__ = ["spread_cut", "weights_of"]

Int64 = npt.NDArray[np.int64]

FINE = 1 << 40  # of the largest rate; what is proven is no more than all rates together, and fits int64
CAPACITY = 1 << 14  # steps of a bin's capacity
REACH = 4  # capacities at which a tree stops to grow
PART = 0.3  # of what fits is packed at once
SHARP = 6.0  # how much longer full flows are than empty ones, as an exponent
SHARE = 0.25  # of the time left
SECONDS_A_MEMBER = 1e-4  # at most; trees of large domains take long
CHUNK = 500  # trees between looks at the clock
ENOUGH = 0.005  # relative growth in a chunk at which the packing ends
SEED = 1


def weights_of(layer: Layer, r: int, part: Int64) -> tuple[Int64, int]:
    """Weight of each vertex and of what a bin holds at most, in steps, from needs of a resource; (0, 0) if unlimited.

    Parameters
    ----------
    part : int64[V], part of each vertex.
    """
    held = [each.capacity[r] for each in layer.bins]
    if any(amount is None for amount in held):
        return np.zeros(len(part), dtype=np.int64), 0
    capacity = max(amount for amount in held if amount is not None)
    least = [
        min((each.needs[p][r] for each in layer.bins if p in each.needs), default=0) for p in range(len(layer.covered))
    ]
    step = max(1, capacity // CAPACITY)
    # sums of amounts rounded down stay below the capacity rounded down
    return np.array([need // step for need in least], dtype=np.int64)[part], capacity // step


def spread_cut(weight: Int64, capacity: int, ends: Int64, rates: Sequence[Fraction], budget: Budget) -> Fraction:
    """Least sum of rates of flows between different bins.

    Parameters
    ----------
    weight : int64[V], by vertex; what stands in one bin weighs ``capacity`` at most.
    ends : int64[E, 2], two vertices by flow; ``rates`` : by flow, positive.
    """
    from allocator.solvers.bounds.traffic.spreading_kernel import pack_trees

    if not len(ends) or int(weight.sum()) <= capacity:
        return Fraction(0)
    unit = max(rates) / FINE
    known = {rate: int(rate / unit) for rate in set(rates)}
    full = np.array([known[rate] for rate in rates], dtype=np.int64)
    graph = _neighbours(len(weight), ends)
    left, length = full.copy(), 1.0 / np.maximum(full, 1)
    roots = np.random.default_rng(SEED).permutation(len(weight)).astype(np.int64)
    edges, limits, pace = (full, left, length), (capacity, REACH * capacity), (PART, SHARP)
    pack_trees(roots[:0], graph, weight, limits, edges, pace)  # the first call on a machine compiles
    share = budget.portion(SHARE).at_most(max(1.0, SECONDS_A_MEMBER * len(weight)))
    gained = 0
    for first in range(0, len(roots), CHUNK):
        if share.exhausted:
            break
        more = int(pack_trees(roots[first : first + CHUNK], graph, weight, limits, edges, pace))
        gained += more
        if more < gained * ENOUGH:
            break
    return gained * unit


def _neighbours(size: int, ends: Int64) -> tuple[Int64, Int64, Int64]:
    """Start of each vertex's neighbours, the neighbours and the edges to them."""
    source = np.concatenate([ends[:, 0], ends[:, 1]])
    target = np.concatenate([ends[:, 1], ends[:, 0]])
    number = np.concatenate([np.arange(len(ends)), np.arange(len(ends))])
    order = np.argsort(source, kind="stable")
    begin = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=size), out=begin[1:])
    return begin, target[order].astype(np.int64), number[order].astype(np.int64)
