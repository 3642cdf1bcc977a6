"""The pricing problem: patterns of one bin worth more than a threshold, and an upper bound of what one bin is worth.

A vectorised branch and bound over partial patterns. Integers throughout: what is dropped (beam, time, number of
patterns) is accounted for in the bound, so the bound is valid however the search ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from allocator.solvers.bounds.patterns.copies import Copies
from allocator.solvers.bounds.patterns.problem import BinPacking, Int64
from allocator.solvers.budget import Budget

__all__ = ["Pricing", "price"]

CELLS = 1_500_000  # partial patterns times copies that are looked at in one step
MOST_KEPT = 5000  # patterns handed back by a search with a beam
LEAST_BEAM = 30


@dataclass(frozen=True)
class Pricing:
    """Patterns int64[P, I] worth more than the threshold, best first; ``upper``: no pattern is worth more.

    ``complete``: no pattern worth more than the threshold was dropped (of those asked for).
    """

    patterns: Int64
    upper: int
    complete: bool


@dataclass
class _Partial:
    """Partial patterns with the same number of copies; ``members``: positions in the list of copies, ascending."""

    bound: Int64
    value: Int64
    residual: Int64
    surrogate: Int64
    members: Int64

    def __len__(self) -> int:
        return len(self.value)

    def take(self, index: Int64 | slice) -> _Partial:
        return _Partial(
            self.bound[index], self.value[index], self.residual[index], self.surrogate[index], self.members[index]
        )


@dataclass
class _Found:
    """Patterns collected so far as rows of item types, with their values."""

    rows: list[Int64] = field(default_factory=list)
    values: list[Int64] = field(default_factory=list)
    number: int = 0

    def add(self, rows: Int64, values: Int64) -> None:
        self.rows.append(rows)
        self.values.append(values)
        self.number += len(rows)

    def dense(self, num_types: int, most: int | None) -> Int64:
        """int64[P, I], best first, at most so many."""
        if not self.rows:
            return np.zeros((0, num_types), dtype=np.int64)
        values = np.concatenate(self.values)
        ranked = np.argsort(-values, kind="stable")[:most]
        place = np.full(len(values), -1, dtype=np.int64)
        place[ranked] = np.arange(len(ranked))
        result = np.zeros((len(ranked), num_types), dtype=np.int64)
        begin = 0
        for part in self.rows:
            target = place[begin : begin + len(part)]
            begin += len(part)
            result[target[target >= 0]] = _counts(part[target >= 0], num_types)
        return result


def price(
    problem: BinPacking,
    values: Int64,
    threshold: int,
    budget: Budget,
    *,
    threads: int = 1,
    beam: int | None = None,
    maximal: bool = False,
    most_patterns: int = 1_000_000,
) -> Pricing:
    """Patterns worth more than a threshold.

    Parameters
    ----------
    values : int64[I], at least 0 and at most 2**24.
    threshold : a pattern worth no more is not looked for.
    beam : keep so many partial patterns of every length, those of the best bounds; None: all. Fewer where bins hold so
        many copies that one length would take too long.
    maximal : only patterns to which no further unit can be added. Then also types of value 0 are in them: an
        enumeration for a cover needs those types, and without them no pattern that they fit into would be maximal.
    most_patterns : give up after so many.
    """
    usable = values >= 0 if maximal else values > 0
    if not usable.any():
        return Pricing(np.zeros((0, problem.num_types), dtype=np.int64), max(0, threshold), complete=True)
    copies = Copies.of(problem, values, usable, threads)
    found = _Found()
    best = 0
    dropped: int | None = None  # largest bound of what was given up
    chunk = max(1, CELLS // len(copies.item))
    if beam is not None:
        beam = min(beam, max(LEAST_BEAM, 2 * chunk))
    stack = [_root(problem, copies)]
    waiting: list[_Partial] = []  # with a beam: the next length, before it is cut
    while stack:
        partial = stack.pop()
        if budget.exhausted or found.number > most_patterns:
            dropped = max(dropped or 0, *(int(p.bound.max()) for p in (partial, *stack, *waiting)))
            break
        if len(partial) > chunk:
            stack.append(partial.take(slice(chunk, None)))
            partial = partial.take(slice(0, chunk))
        children = _extend(partial, copies, threshold)
        if len(children):
            best = max(best, int(children.value.max()))
            _collect(found, problem, copies, children, threshold=threshold, cut=beam is not None, maximal=maximal)
            (stack if beam is None else waiting).append(children)
        if not stack and waiting:
            merged = _merge(waiting)
            waiting = []
            if beam is not None and len(merged) > beam:
                ranked = np.argpartition(-merged.bound, beam)
                dropped = max(dropped or 0, int(merged.bound[ranked[beam:]].max()))
                merged = merged.take(ranked[:beam])
            stack.append(merged)
    upper = max(best, threshold, dropped or 0)
    patterns = found.dense(problem.num_types, None if beam is None else MOST_KEPT)
    return Pricing(patterns, upper, complete=dropped is None)


def _root(problem: BinPacking, copies: Copies) -> _Partial:
    return _Partial(
        np.array([int(copies.value.sum())]),
        np.zeros(1, dtype=np.int64),
        problem.capacity[None, :].copy(),
        np.array([copies.surrogate_capacity]),
        np.zeros((1, 0), dtype=np.int64),
    )


def _extend(partial: _Partial, copies: Copies, threshold: int) -> _Partial:
    """Every way to add one later copy whose bound is above the threshold. A type's copies are taken in order."""
    num_copies = len(copies.item)
    last = partial.members[:, -1] if partial.members.shape[1] else np.full(len(partial), -1)
    start = int(last.min()) + 1
    positions = np.arange(start, num_copies)
    allowed = positions > last[:, None]
    allowed &= copies.first[None, start:] | (positions == last[:, None] + 1)
    for r in range(copies.size.shape[1]):
        allowed &= copies.size[None, start:, r] <= partial.residual[:, r, None]
    parent, copy = np.nonzero(allowed)
    copy = copy + start
    value = partial.value[parent] + copies.value[copy]
    surrogate = partial.surrogate[parent] - copies.surrogate[copy]
    bound = value + copies.bound(copy + 1, np.maximum(surrogate, 0))
    keep = bound > threshold
    parent, copy = parent[keep], copy[keep]
    return _Partial(
        bound[keep],
        value[keep],
        partial.residual[parent] - copies.size[copy],
        surrogate[keep],
        np.concatenate([partial.members[parent], copy[:, None]], axis=1),
    )


def _collect(
    found: _Found,
    problem: BinPacking,
    copies: Copies,
    children: _Partial,
    *,
    threshold: int,
    cut: bool,
    maximal: bool,
) -> None:
    good = np.flatnonzero(children.value > threshold)
    if cut and len(good) > MOST_KEPT:
        good = good[np.argpartition(-children.value[good], MOST_KEPT)[:MOST_KEPT]]
    rows = copies.item[children.members[good]]
    if maximal and len(good):
        full = _is_maximal(problem, rows, children.residual[good])
        good, rows = good[full], rows[full]
    if len(good):
        found.add(rows, children.value[good])


def _is_maximal(problem: BinPacking, rows: Int64, residual: Int64) -> npt.NDArray[np.bool_]:
    """bool[P]: no further unit of any type with demand left fits beside the pattern."""
    result = np.ones(len(rows), dtype=np.bool_)
    step = max(1, CELLS // problem.num_types)
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        addable = _counts(rows[part], problem.num_types) < problem.demand[None, :]
        for r in range(problem.num_resources):
            addable &= problem.sizes[None, :, r] <= residual[part, r, None]
        result[part] = ~addable.any(axis=1)
    return result


def _counts(rows: Int64, num_types: int) -> Int64:
    """Counts by item type of rows of item types."""
    dense = np.zeros((len(rows), num_types), dtype=np.int64)
    index = np.arange(len(rows))
    for column in range(rows.shape[1]):
        dense[index, rows[:, column]] += 1  # one entry a row: no clash
    return dense


def _merge(parts: list[_Partial]) -> _Partial:
    return _Partial(
        np.concatenate([p.bound for p in parts]),
        np.concatenate([p.value for p in parts]),
        np.concatenate([p.residual for p in parts]),
        np.concatenate([p.surrogate for p in parts]),
        np.concatenate([p.members for p in parts]),
    )
