"""Rows for rates of single members: the most that any set of them completes on one node, every flow of the set counted.

Nodes that hold the same are alike. Over all sets S that fit, sum z_S v_S under "every member once, as many sets as
there are nodes" bounds the throughput, and its duals pi give for each node h the row R_h - sum_i pi_i x_ih <= sigma,
valid when sigma >= v_S - sum of pi over S for every S. Owns enumeration and that program; knows no curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from allocator.solvers.budget import Budget
from allocator.solvers.milp.fabric.contents import Link, Member
from allocator.solvers.quiet import QuietHighs

__all__ = ["AlikeNodes", "prices_of_members", "values_by_size"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

MOST_SETS = 80_000
COLUMNS_A_ROUND = 150
MOST_ROUNDS = 60
SAME = 1e-7


@dataclass(frozen=True)
class AlikeNodes:
    """``number`` nodes of one kind: ``values[k]`` bounds what the sets ``members[k]`` (int64[P, k + 1]) complete."""

    number: int
    members: tuple[Int, ...]
    values: tuple[Float, ...]


def values_by_size(
    members: Sequence[Member], rates: Float, room: Sequence[int], link: Link | None, number: int
) -> AlikeNodes | None:
    """All sets whose floors fit, with the most they complete; None: they are too many.

    Parameters
    ----------
    rates : float64[n, n] bit/s from row to column; ``link``: uplink of the node, None without a bandwidth.
    """
    sets = []
    total = 0
    for each in _sets(members, room):
        total += len(each)
        if total > MOST_SETS:
            return None
        sets.append(each)
    return AlikeNodes(number, tuple(sets), tuple(_values(members, each, rates, room, link) for each in sets))


def _sets(members: Sequence[Member], room: Sequence[int]) -> Iterator[Int]:
    """Sets of 1, 2, 3, ... members whose floors fit, each ascending."""
    floors = np.array([member.floor for member in members], dtype=np.int64)
    bounds = np.array([each if each >= 0 else np.iinfo(np.int64).max for each in room], dtype=np.int64)
    sets = np.arange(len(members), dtype=np.int64)[:, None]
    while True:
        sets = sets[(floors[sets].sum(axis=1) <= bounds).all(axis=1)]
        if not len(sets):
            return
        yield sets
        longer = []
        for i in range(len(members)):
            shorter = sets[sets[:, -1] < i]
            longer.append(np.hstack([shorter, np.full((len(shorter), 1), i, dtype=np.int64)]))
        sets = np.vstack(longer)
        if len(sets) > 4 * MOST_SETS:
            yield sets  # too many by far, whether they fit or not
            return


def _values(members: Sequence[Member], sets: Int, rates: Float, room: Sequence[int], link: Link | None) -> Float:
    """The least over prices of compute and directions: compute at its price + a fractional knapsack of the link."""
    worth, offered, fastest = (
        np.array([getattr(member, name) for member in members]) for name in ("worth", "offered", "fastest")
    )
    loads = []
    for flows in (rates, rates.T):
        load = flows.sum(axis=1)[sets]
        for a in range(sets.shape[1]):
            for b in range(sets.shape[1]):
                load[:, a] -= flows[sets[:, a], sets[:, b]]
        loads.append(np.maximum(load, 0.0))
    best = (worth * fastest)[sets].sum(axis=1)
    for r, limit in enumerate(room):
        need = np.array([member.need[r] for member in members])
        if limit < 0 or not need.any():
            continue
        ratios = {float(w / c) for w, c in zip(worth, need, strict=True) if c > 0 and w > 0}
        for price in sorted({0.0, *ratios}):
            net = np.maximum(0.0, worth - price * need)
            full = (net * fastest)[sets]
            best = np.minimum(best, price * limit + full.sum(axis=1))
            if link is None:
                continue
            part = np.where(offered > 0, fastest / np.where(offered > 0, offered, 1.0), 0.0)[sets]
            for load in loads:
                best = np.minimum(best, price * limit + _knapsack(full, load * part, link.carried(load.sum(axis=1))))
    return np.asarray(best)


def _knapsack(full: Float, needed: Float, room: Float) -> Float:
    """Most of ``full[P, k]`` when parts of it take as much of ``needed[P, k]``, within ``room[P]``."""
    dense = np.where(needed > 0, full / np.where(needed > 0, needed, 1.0), np.inf)
    order = np.argsort(-dense, axis=1)
    needed, full = np.take_along_axis(needed, order, 1), np.take_along_axis(full, order, 1)
    before = np.cumsum(needed, axis=1) - needed
    part = np.where(needed > 0, np.clip((room[:, None] - before) / np.where(needed > 0, needed, 1.0), 0.0, 1.0), 1.0)
    return np.asarray((full * part).sum(axis=1))


def prices_of_members(num_members: int, groups: Sequence[AlikeNodes], budget: Budget) -> Float | None:
    """float64[n]: what each member is worth in the best mixture of sets, by column generation over the known sets."""
    program = QuietHighs()
    for _ in range(num_members):
        program.addRow(1.0, 1.0, 0, [], [])
    for group in groups:
        program.addRow(-highspy.kHighsInf, float(group.number), 0, [], [])
    program.changeObjectiveSense(highspy.ObjSense.kMaximize)
    highest = max((float(values.max(initial=0.0)) for group in groups for values in group.values), default=0.0)
    for i in range(num_members):
        program.addCol(-10.0 * (highest + 1.0), 0.0, highspy.kHighsInf, 1, [i], [1.0])
    for _ in range(MOST_ROUNDS):
        budget.check()
        program.run()
        if program.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        duals = np.array(program.getSolution().row_dual)
        improved = False
        for at, group in enumerate(groups):
            row = num_members + at
            for sets, values in zip(group.members, group.values, strict=True):
                gain = values - duals[sets].sum(axis=1) - duals[row]
                for found in np.argsort(-gain, kind="stable")[:COLUMNS_A_ROUND]:
                    if gain[found] <= SAME * (highest + 1.0):
                        break
                    improved = True
                    rows = [*sets[found].tolist(), row]
                    program.addCol(float(values[found]), 0.0, highspy.kHighsInf, len(rows), rows, [1.0] * len(rows))
        if not improved:
            return duals[:num_members]
    return duals[:num_members]
