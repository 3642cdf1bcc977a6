"""Which sets of nodes keep everybody who talks nearer than a delay: cliques and bicliques of a tree metric.

Owns the latencies between nodes and the sets. Knows no member, variable or solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.solvers.evaluation.delays import link_delays

__all__ = ["Latencies", "bicliques", "cliques", "latencies"]

Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
CHUNK = 1 << 22
MOST_TICKS = 1 << 61  # from the root to a node: twice as much and sums of two fit int64


@dataclass(frozen=True)
class Latencies:
    """Summed one-way latency between sites; nodes at no latency from each other are one site.

    Attributes
    ----------
    table : int64[S, S], in 1/``denominator`` seconds.
    site : int64[N], the site of every node.
    """

    table: Int64
    denominator: int
    site: Int64

    def seconds(self, ticks: int) -> Fraction:
        """A delay of the table in seconds."""
        return Fraction(ticks, self.denominator)

    def levels(self, first: Bool, second: Bool) -> list[int]:
        """Delays other than 0 between a site of the first and one of the second set, rising; sets as bool[S]."""
        return [int(ticks) for ticks in np.unique(self.table[np.ix_(first, second)]) if ticks]


def latencies(compiled: Compiled, message: Fraction = Fraction(0)) -> Latencies | None:
    """Latencies for messages of so many bits; None where no uplink takes any time.

    Raises
    ------
    MethodRefused
        They differ by more than an integer holds.
    """
    domains = compiled.instance.domains
    stated = link_delays(compiled, message)
    if not any(stated) or not compiled.num_nodes:
        return None
    denominator = math.lcm(*(latency.denominator for latency in stated))
    ticks = [0] * len(domains)
    for domain in domains:
        if domain.parent is not None:
            ticks[domain.index] = ticks[domain.parent] + int(stated[domain.index] * denominator)
    if max(ticks) > MOST_TICKS:
        raise MethodRefused(
            f"method milp: a path delay of {float(Fraction(max(ticks), denominator)):g} s, in units of 1/{denominator} "
            "s, is more than an integer holds"
        )
    depth = np.array(ticks, dtype=np.int64)
    meeting = np.zeros((compiled.num_nodes, compiled.num_nodes), dtype=np.int64)
    for domain in domains:  # preorder: the deepest common domain of two nodes writes last
        meeting[domain.first_node : domain.end_node, domain.first_node : domain.end_node] = depth[domain.index]
    leaves = depth[compiled.node_domain]
    table = leaves[:, None] + leaves[None, :] - 2 * meeting
    first = np.argmax(table == 0, axis=1)  # at no latency: an equivalence
    representatives, site = np.unique(first, return_inverse=True)
    return Latencies(table[np.ix_(representatives, representatives)], denominator, site.reshape(-1).astype(np.int64))


def cliques(table: Int64, allowed: Bool, below: int) -> Bool:
    """bool[C, S]: the largest sets of allowed sites whose mutual delays are below a bound.

    In a tree, the sites within L of both ends of a longest way L of a set are at most L from each other, and the set
    is among them.
    """
    sites = np.nonzero(allowed)[0]
    found: list[Bool] = []
    for first, second in _pairs(sites, len(table)):
        near = table[first, second] < below
        i, j = first[near], second[near]
        length = table[i, j]
        found.append(_distinct((table[i] <= length[:, None]) & (table[j] <= length[:, None]) & allowed))
    return _largest(_distinct(np.concatenate(found))) if found else np.zeros((0, len(table)), dtype=np.bool_)


def bicliques(table: Int64, first: Bool, second: Bool, below: int) -> tuple[Bool, Bool]:
    """Two bool[C, S]: the largest pairs of sets, one of each side, whose delays across are below a bound.

    In a tree the farthest site of a set from anywhere is one of the two that are farthest apart. Where a side may be
    empty, the pair of it and the whole other side is not listed.
    """
    near = table < below
    sides: list[Bool] = []
    for i, j in _pairs(np.nonzero(first)[0], len(table)):
        sides.append(_distinct(near[i] & near[j] & second))
    if not sides:
        none = np.zeros((0, len(table)), dtype=np.bool_)
        return none, none
    there = _distinct(np.concatenate(sides))
    there = there[there.any(axis=1)]
    here = ((~near).astype(np.int64) @ there.T.astype(np.int64) == 0).T & first
    return here, there


def _pairs(sites: npt.NDArray[np.intp], width: int) -> Iterable[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Unordered pairs, a site with itself included, in pieces that make tables of a bounded size."""
    step = max(1, CHUNK // max(1, width * len(sites)))
    for start in range(0, len(sites), step):
        head = sites[start : start + step]
        i = np.repeat(head, len(sites))
        j = np.tile(sites, len(head))
        keep = i <= j
        yield i[keep], j[keep]


def _distinct(sets: Bool) -> Bool:
    """Every row once, in the order of their bits."""
    if not len(sets):
        return sets
    packed = np.packbits(sets, axis=1)
    _, where = np.unique(packed, axis=0, return_index=True)
    return sets[where]


def _largest(sets: Bool) -> Bool:
    """Rows that are no part of another row; all distinct."""
    count = sets.astype(np.int64)
    common = count @ count.T
    inside: Bool = common == count.sum(axis=1)[:, None]
    np.fill_diagonal(inside, val=False)
    largest: Bool = sets[~inside.any(axis=1)]
    return largest
