"""What a domain can hold, and the most that its members complete then: patterns of clusters with an upper bound each.

A *cluster* is a set of members whose flows are looked at together: a whole team, two single members with flows between
them, or members of a class whose flows are left out. Its *state* in a domain is who of it stands there; a *pattern*
counts clusters by kind and state. Knows no rows and no solver. Bounds are floats, judged with ``MARGIN``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from allocator.instance.entities import Goodput

__all__ = ["MARGIN", "Link", "Member", "Patterns", "State", "enumerate_patterns"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

MARGIN = 1e-7  # relative, what floats may take from a bound


@dataclass(frozen=True)
class Member:
    """``worth`` of a task; tasks/s ``offered`` and at most ``fastest``; ``need[R]`` amounts a task/s; ``floor[R]``."""

    worth: float
    offered: float
    fastest: float
    need: tuple[float, ...]
    floor: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """``here`` of the ``among`` stand in the domain (which ones is open), and offer ``up`` and ``down`` on its link.

    ``kind``: clusters of one kind are exchanged freely; there are ``number`` of them.
    """

    kind: int
    number: int
    among: tuple[Member, ...]
    here: int
    up: float = 0.0
    down: float = 0.0


@dataclass(frozen=True)
class Link:
    """An uplink. ``whole``: the states count every flow that can cross it; else others only add to the load."""

    capacity: float
    goodput: Goodput
    whole: bool

    def carried(self, load: Float) -> Float:
        """Most that is carried when the states offer so much."""
        ratio = load / self.capacity
        if self.goodput.curve == "table":
            points = np.array([(0.0, 0.0), *((float(x), float(y)) for x, y in self.goodput.points)])
            share = np.interp(ratio, points[:, 0], points[:, 1])
            if not self.whole:
                for x, y in points:
                    share = np.where(ratio <= x, np.maximum(share, y), share)
        elif not self.whole:
            share = np.ones_like(ratio)
        elif self.goodput.curve == "knee":
            power = float(self.goodput.p)
            with np.errstate(over="ignore"):
                share = np.where(ratio > 0, ratio * np.exp(-np.log1p(ratio**power) / power), 0.0)
            share = np.where(np.isfinite(share), share, 1.0)
        else:
            share = np.minimum(ratio, 1.0)
        return np.asarray(self.capacity * share)


@dataclass(frozen=True)
class Patterns:
    """``counts[P, S]``: clusters in each state; ``most[P]``: no plan completes more, in worth a second."""

    counts: Int
    most: Float = field(repr=False)


def enumerate_patterns(
    states: Sequence[State], room: Sequence[int], link: Link | None, *, limit: int
) -> Patterns | None:
    """All patterns whose floors fit ``room[R]`` (negative: no limit); None: more than ``limit``."""
    counts = np.zeros((1, 0), dtype=np.int64)
    used = np.zeros((1, len(room)), dtype=np.int64)
    bounds = np.array([each if each >= 0 else np.iinfo(np.int64).max for each in room], dtype=np.int64)
    of_kind: dict[int, list[int]] = {}
    for column, state in enumerate(states):
        floors = np.sort(np.array([member.floor for member in state.among], dtype=np.int64), axis=0)
        need = floors[: state.here].sum(axis=0)
        others = of_kind.setdefault(state.kind, [])
        taken = counts[:, others].sum(axis=1)
        parts_counts, parts_used = [], []
        for number in range(state.number + 1):
            fits = (taken + number <= state.number) & (used + number * need <= bounds).all(axis=1)
            if not fits.any():
                break
            parts_counts.append(np.hstack([counts[fits], np.full((int(fits.sum()), 1), number, dtype=np.int64)]))
            parts_used.append(used[fits] + number * need)
        counts, used = np.vstack(parts_counts), np.vstack(parts_used)
        others.append(column)
        if len(counts) > limit:
            return None
    return Patterns(counts, _most(states, counts, room, link))


def _most(states: Sequence[State], counts: Int, room: Sequence[int], link: Link | None) -> Float:
    """The least over prices of compute, and both directions, of: compute at its price + the best grants of the link.

    Lagrangian: the constraint of one resource is priced, all others but the link are left out.
    """
    best = np.full(len(counts), np.inf)
    for r in range(len(room)):
        members = [member for state in states for member in state.among if member.need[r] > 0]
        if room[r] < 0 or not members:
            continue
        ratios = sorted({member.worth / member.need[r] for member in members if member.worth > 0})
        top = ratios[-1] if ratios else 0.0
        for price in sorted({0.0, *ratios, *(top * part / 8 for part in range(1, 8))}):
            best = np.minimum(best, price * room[r] + _granted(states, counts, link, r, price))
    if not np.isfinite(best).all():
        best = np.minimum(best, _granted(states, counts, link, -1, 0.0))
    return best


def _granted(states: Sequence[State], counts: Int, link: Link | None, r: int, price: float) -> Float:
    """Most net worth within the link alone: a fractional knapsack a direction, by worth a bit."""
    full, slope = (np.zeros(len(states)) for _ in range(2))
    for column, state in enumerate(states):
        net = [max(0.0, m.worth - (price * m.need[r] if r >= 0 else 0.0)) for m in state.among]
        full[column] = sum(sorted((n * m.fastest for n, m in zip(net, state.among, strict=True)))[-state.here :])
        slope[column] = sum(sorted((n * m.offered for n, m in zip(net, state.among, strict=True)))[-state.here :])
    best = counts @ full
    if link is None:
        return np.asarray(best)
    for side in ("up", "down"):
        offers = np.array([getattr(state, side) for state in states])
        room = link.carried(counts @ offers)
        value = counts @ np.where(offers > 0, 0.0, full)
        needed = np.where(slope > 0, offers * full / np.where(slope > 0, slope, 1.0), 0.0)
        paying = [column for column in range(len(states)) if offers[column] > 0 and full[column] > 0]
        for column in sorted(paying, key=lambda c: -full[c] / needed[c]):
            taken = np.minimum(room, counts[:, column] * needed[column])
            value = value + taken * (full[column] / needed[column])
            room = room - taken
        best = np.minimum(best, value)
    return np.asarray(best)
