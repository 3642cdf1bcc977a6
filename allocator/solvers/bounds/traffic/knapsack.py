"""The best content of one bin for given prices: whole teams, parts of teams and loose members, one resource.

Dynamic programme over the amount of the resource, in integers throughout. The best
profit is exact for the resource it looks at, and no less than that of any content that fits in every resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Content", "TeamItem", "best_content"]

Int64 = npt.NDArray[np.int64]
NONE = -(1 << 60)


@dataclass(frozen=True)
class TeamItem:
    """A team type in a bin.

    Attributes
    ----------
    roles : parts of the members.
    weights, most : of one member and most members, by role.
    whole : weight of a whole team; 0 where one of its roles may not stand there: then ``roles`` are the others.
    worth : of a members together, by a from 0 to all of these roles.
    """

    roles: tuple[int, ...]
    weights: tuple[int, ...]
    most: tuple[int, ...]
    whole: int
    worth: tuple[int, ...]

    @property
    def size(self) -> int:
        """Members of all roles."""
        return sum(self.most)

    @property
    def num_pieces(self) -> int:
        """Numbers of members that a piece may have, 0 among them; all roles together are a piece unless ``whole``."""
        return self.size if self.whole else self.size + 1


@dataclass(frozen=True)
class Content:
    """``profit``: the best. Of the content that has it: ``members`` by part, ``pieces`` by (team item, its members)."""

    profit: int
    members: dict[int, int]
    pieces: dict[tuple[int, int], int]


def best_content(
    capacity: int, teams: Sequence[TeamItem], loose: Sequence[tuple[int, int]], price: Mapping[int, int]
) -> Content:
    """Best sum of profits within the capacity; a piece of a members of a team earns ``worth[a]`` and their prices.

    Parameters
    ----------
    loose : (part, weight) of members without a team; each earns its price.
    price : by part, of either sign.
    """
    weights: list[Int64] = []
    profits: list[Int64] = []
    origin: list[int] = []
    tables = []
    for number, team in enumerate(teams):
        table = _compositions(team, [price[role] for role in team.roles], capacity)
        tables.append(table)
        best, _ = table[-1]
        worth = np.array(team.worth, dtype=np.int64)[:, None]
        earned = np.where(best > NONE, best + worth, NONE)[: team.num_pieces].max(axis=0)
        kept = _undominated(earned)
        weights.append(kept)
        profits.append(earned[kept])
        origin += [2 * number] * len(kept)
        if team.whole:
            weights.append(np.array([team.whole], dtype=np.int64))
            together = sum(price[role] * most for role, most in zip(team.roles, team.most, strict=True))
            profits.append(np.array([team.worth[team.size] + together], dtype=np.int64))
            origin.append(2 * number + 1)
    plain = [(part, weight) for part, weight in loose if price[part] > 0]
    if plain:
        weights.append(np.array([weight for _, weight in plain], dtype=np.int64))
        profits.append(np.array([price[part] for part, _ in plain], dtype=np.int64))
        origin += [-1 - index for index in range(len(plain))]
    if not origin:
        return Content(0, {}, {})
    all_weights, all_profits = np.concatenate(weights), np.concatenate(profits)
    free = all_weights == 0
    if (all_profits[free] > 0).any():
        raise ValueError("a member that needs nothing of the resource must not earn")
    keep = ~free & (all_profits > 0)
    all_weights, all_profits = all_weights[keep], all_profits[keep]
    sources = [source for source, kept_item in zip(origin, keep.tolist(), strict=True) if kept_item]
    best_at, choice = _fill(capacity, all_weights, all_profits)
    members: dict[int, int] = {}
    pieces: dict[tuple[int, int], int] = {}
    for item in _taken(choice, all_weights):
        source, weight = sources[item], int(all_weights[item])
        if source < 0:
            part = plain[-1 - source][0]
            members[part] = members.get(part, 0) + 1
            continue
        team, whole = teams[source // 2], source % 2 == 1
        found = team.most if whole else _composition(team, tables[source // 2], weight)
        piece = source // 2, sum(found)
        pieces[piece] = pieces.get(piece, 0) + 1
        for role, number in zip(team.roles, found, strict=True):
            if number:
                members[role] = members.get(role, 0) + number
    return Content(int(best_at[capacity]), members, pieces)


def _compositions(team: TeamItem, prices: Sequence[int], capacity: int) -> list[tuple[Int64, Int64]]:
    """After each role: best prices by (members, weight), int64[a, w], and how many of the role that takes."""
    size = sum(team.most)
    span = min(capacity, sum(w * m for w, m in zip(team.weights, team.most, strict=True))) + 1
    best = np.full((size + 1, span), NONE, dtype=np.int64)
    best[0, 0] = 0
    found = []
    for weight, most, price in zip(team.weights, team.most, prices, strict=True):
        fresh = best.copy()
        taken = np.zeros_like(best)
        for number in range(1, most + 1):
            shift = number * weight
            if shift >= span:
                break
            moved = np.full_like(best, NONE)
            moved[number:, shift:] = best[: size + 1 - number, : span - shift]
            moved = np.where(moved > NONE, moved + number * price, NONE)
            better = moved > fresh
            fresh[better] = moved[better]
            taken[better] = number
        best = fresh
        found.append((best, taken))
    return found


def _undominated(earned: Int64) -> Int64:
    """Weights that earn more than every smaller one."""
    before = np.concatenate([[0], np.maximum.accumulate(earned)[:-1]])
    return np.nonzero(earned > np.maximum(before, 0))[0].astype(np.int64)


def _fill(capacity: int, weights: Int64, profits: Int64) -> tuple[Int64, Int64]:
    """Unbounded knapsack: best by weight used at most, and the item taken last (-1: none)."""
    best = np.zeros(capacity + 1, dtype=np.int64)
    choice = np.full(capacity + 1, -1, dtype=np.int64)
    order = np.argsort(weights, kind="stable")
    sorted_weights, sorted_profits = weights[order], profits[order]
    ends = np.searchsorted(sorted_weights, np.arange(capacity + 1), side="right").tolist()
    for room in range(1, capacity + 1):
        best[room] = best[room - 1]
        end = ends[room]
        if not end:
            continue
        candidates = best[room - sorted_weights[:end]] + sorted_profits[:end]
        top = int(candidates.argmax())
        if candidates[top] > best[room]:
            best[room] = candidates[top]
            choice[room] = order[top]
    return best, choice


def _taken(choice: Int64, weights: Int64) -> list[int]:
    """Items behind the best profit."""
    found = []
    room = len(choice) - 1
    while room > 0:
        item = int(choice[room])
        if item < 0:
            room -= 1
        else:
            found.append(item)
            room -= int(weights[item])
    return found


def _composition(team: TeamItem, table: list[tuple[Int64, Int64]], weight: int) -> Sequence[int]:
    """Members by role of the best part of a team with that weight."""
    column = table[-1][0][: team.num_pieces, weight]
    worth = np.array(team.worth[: team.num_pieces], dtype=np.int64)
    a = int(np.where(column > NONE, column + worth, NONE).argmax())
    found = [0] * len(team.roles)
    for role in range(len(team.roles) - 1, -1, -1):
        found[role] = number = int(table[role][1][a, weight])
        a, weight = a - number, weight - number * team.weights[role]
    return found
