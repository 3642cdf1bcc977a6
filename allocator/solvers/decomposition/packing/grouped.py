"""Least weight of nodes of several groups: column generation with one pricing problem a group, and a program over it.

A group is a set of nodes alike in limits, floors, eligibility and weight. For any integer prices u >= 0 of the items,
with P_k an upper bound of what one node of group k is worth and n_k such nodes of weight w_k, a packing weighs at least
sum d_i u_i - sum n_k max(0, P_k - w_k): the Lagrangian bound, in exact integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np

from allocator.solvers.bounds.patterns.pricing import Pricing, price
from allocator.solvers.bounds.patterns.problem import BinPacking, Float, Int64
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.programs import Columns, Rows, minimise
from allocator.solvers.quiet import QuietHighs

__all__ = ["Bin", "GroupedPacking", "Kind", "Weighed", "pack_groups"]

PRICE_SCALE = 1 << 24  # price of an item that the dear columns allow: no dual is above it
DEAR = 2  # cost of covering one unit without a node, in heaviest nodes
MAX_WEIGHT = 1 << 16
BEAM = 1000
MOST_ADDED = 100  # patterns of one group in one round
ROOT_SHARE = 0.6
MOST_SECONDS = 60.0  # for the program over the patterns, where the time is not limited
SLACK = 1e-6


@dataclass(frozen=True)
class Kind:
    """A group of alike nodes: ``problem`` over the item types ``types`` int64[T] that may stand there."""

    problem: BinPacking
    types: Int64
    weight: int
    number: int


@dataclass(frozen=True)
class GroupedPacking:
    """``demand`` int64[I]. Weights are at least 0, at most MAX_WEIGHT, and without a common divisor."""

    demand: Int64
    kinds: tuple[Kind, ...]


Bin = tuple[int, Int64]
"""A group and the content int64[I] of one of its nodes."""


@dataclass(frozen=True)
class Weighed:
    """Bins of a packing (None: none known), and a bound of the weight of every packing."""

    bins: tuple[Bin, ...] | None
    lower: int


class _Master:
    """min weight of patterns, demands covered, no more patterns of a group than nodes; dear columns stand in."""

    def __init__(self, packing: GroupedPacking, threads: int) -> None:
        self.packing = packing
        self.columns: list[Bin] = []
        self._known: set[tuple[int, bytes]] = set()
        self._solver = QuietHighs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", threads)
        nothing = (0, np.zeros(0, np.int32), np.zeros(0))
        for units in packing.demand:
            self._solver.addRow(float(units), highspy.kHighsInf, *nothing)
        for kind in packing.kinds:
            self._solver.addRow(-highspy.kHighsInf, float(kind.number), *nothing)
        dear = float(DEAR) * max(kind.weight for kind in packing.kinds)
        for i in range(len(packing.demand)):
            self._solver.addCol(dear, 0.0, highspy.kHighsInf, 1, np.array([i], np.int32), np.ones(1))

    def add(self, kind: int, pattern: Int64) -> bool:
        """Add a pattern int64[I]; whether it is new."""
        key = (kind, pattern.tobytes())
        if key in self._known or not pattern.any():
            return False
        self._known.add(key)
        self.columns.append((kind, pattern))
        index, values = _column(self.packing, kind, pattern)
        weight = float(self.packing.kinds[kind].weight)
        self._solver.addCol(weight, 0.0, highspy.kHighsInf, len(index), index, values)
        return True

    def duals(self, budget: Budget) -> Float | None:
        """float64[I + K]; None when the time ends before."""
        if budget.exhausted:
            return None
        if budget.remaining() != math.inf:
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(0.01, budget.remaining()))
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return np.asarray(self._solver.getSolution().row_dual, dtype=float)


def _column(
    packing: GroupedPacking, kind: int, pattern: Int64
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], Float]:
    types = np.flatnonzero(pattern)
    index = np.concatenate([types, [len(packing.demand) + kind]]).astype(np.int32)
    return index, np.concatenate([pattern[types], [1]]).astype(float)


def pack_groups(
    packing: GroupedPacking, start: tuple[Bin, ...] | None, budget: Budget, *, threads: int, seed: int
) -> Weighed:
    """A light packing and a bound, as good as the time allows; never heavier than the start."""
    master = _Master(packing, threads)
    for kind, pattern in start or ():
        master.add(kind, pattern)
    lower = _generate(master, budget.portion(ROOT_SHARE), threads)
    best = start
    if (best is None or _weight(packing, best) > lower) and master.columns and not budget.exhausted:
        found = _over_columns(master, start, budget.at_most(MOST_SECONDS), threads=threads, seed=seed)
        if found is not None and (best is None or _weight(packing, found) < _weight(packing, best)):
            best = found
    return Weighed(best, lower)


def _weight(packing: GroupedPacking, bins: tuple[Bin, ...]) -> int:
    return sum(packing.kinds[kind].weight for kind, _ in bins)


def _generate(master: _Master, budget: Budget, threads: int) -> int:
    """Add patterns until none improves; the best bound on the way."""
    packing = master.packing
    scale = PRICE_SCALE // (DEAR * max(kind.weight for kind in packing.kinds))
    lower = 0
    while True:
        duals = master.duals(budget)
        if duals is None:
            return lower
        prices = np.clip(np.floor(np.maximum(duals[: len(packing.demand)], 0.0) * scale), 0, PRICE_SCALE)
        rents = np.maximum(-duals[len(packing.demand) :], 0.0)
        fresh, upper = _price_all(master, prices.astype(np.int64), rents, scale, budget, threads=threads, beam=BEAM)
        lower = max(lower, _bound(packing, prices.astype(np.int64), upper, scale))
        if not fresh:
            fresh, upper = _price_all(master, prices.astype(np.int64), rents, scale, budget, threads=threads, beam=None)
            lower = max(lower, _bound(packing, prices.astype(np.int64), upper, scale))
            if not fresh:
                return lower


def _price_all(
    master: _Master, prices: Int64, rents: Float, scale: int, budget: Budget, *, threads: int, beam: int | None
) -> tuple[int, list[int]]:
    """Patterns added over all groups, and what a node of each is worth at most."""
    fresh, upper = 0, []
    for number, (kind, rent) in enumerate(zip(master.packing.kinds, rents, strict=True)):
        if not len(kind.types):
            upper.append(0)
            continue
        threshold = kind.weight * scale + math.ceil(rent * scale) + math.ceil(SLACK * scale)
        found: Pricing = price(
            kind.problem, prices[kind.types], threshold, budget, threads=threads, beam=beam, most_patterns=20_000
        )
        upper.append(found.upper)
        for pattern in found.patterns[:MOST_ADDED]:
            full = np.zeros_like(prices)
            full[kind.types] = pattern
            fresh += master.add(number, full)
    return fresh, upper


def _bound(packing: GroupedPacking, prices: Int64, upper: list[int], scale: int) -> int:
    """The better of the Lagrangian bound and the prices scaled down until no node is worth more than its weight."""
    total = sum(int(d) * int(u) for d, u in zip(packing.demand, prices, strict=True))
    excess = sum(
        kind.number * max(0, worth - kind.weight * scale) for kind, worth in zip(packing.kinds, upper, strict=True)
    )
    scaled = min(
        (Fraction(total * kind.weight, worth) for kind, worth in zip(packing.kinds, upper, strict=True) if worth),
        default=Fraction(0),
    )
    return max(0, -(-(total - excess) // scale), math.ceil(scaled))


def _over_columns(
    master: _Master, start: tuple[Bin, ...] | None, budget: Budget, *, threads: int, seed: int
) -> tuple[Bin, ...] | None:
    """The integer program over the patterns found."""
    packing = master.packing
    parts = [_column(packing, kind, pattern) for kind, pattern in master.columns]
    lengths = [len(index) for index, _ in parts]
    number = len(parts)
    columns = Columns(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        np.concatenate([index for index, _ in parts]),
        np.concatenate([values for _, values in parts]),
        np.array([float(packing.kinds[kind].weight) for kind, _ in master.columns]),
        np.array([float(packing.kinds[kind].number) for kind, _ in master.columns]),
    )
    free = np.full(len(packing.kinds), -np.inf)
    rows = Rows(
        np.concatenate([packing.demand.astype(float), free]),
        np.concatenate([np.full(len(packing.demand), np.inf), [float(kind.number) for kind in packing.kinds]]),
    )
    hint = None
    if start is not None:
        place = {(kind, pattern.tobytes()): c for c, (kind, pattern) in enumerate(master.columns)}
        hint = np.zeros(number)
        for kind, pattern in start:
            hint[place[kind, pattern.tobytes()]] += 1
    outcome = minimise(columns, rows, budget=budget, threads=threads, seed=seed, start=hint)
    if outcome.solution is None:
        return None
    left = packing.demand.copy()
    bins: list[Bin] = []
    for (kind, pattern), uses in zip(master.columns, np.rint(outcome.solution).astype(int).tolist(), strict=True):
        for _ in range(uses):
            taken = np.minimum(pattern, left)
            if taken.any():
                bins.append((kind, taken))
                left = left - taken
    used = np.bincount([kind for kind, _ in bins], minlength=len(packing.kinds))
    if left.any() or any(u > kind.number for u, kind in zip(used, packing.kinds, strict=True)):
        return None
    return tuple(bins)
