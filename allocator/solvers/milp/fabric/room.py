"""What pairs of single members know of capacity: room of domains, least floors, rows of a capacity times a presence.

Every amount is an exact integer; rows come out with integer coefficients of at most ``LARGEST``. Knows no flow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.milp.formulation import Entry, Formulation

__all__ = ["domain_room", "entries_in", "floor_of", "least_floors", "times_presence"]

LARGEST = 10**6
LARGEST_SUBSET_SUM = 20_000
UNLIMITED = -1


def domain_room(compiled: Compiled) -> npt.NDArray[np.int64]:
    """int64[D, R]: most that members in a domain use of a resource, by every limit below or above; -1: no limit.

    Resource ``power`` has none here: nodes draw some of it themselves.
    """
    room = compiled.limit.copy()
    if "power" in compiled.resources:
        room[:, compiled.resources.index("power")] = UNLIMITED
    children: list[list[int]] = [[] for _ in range(compiled.num_domains)]
    for domain in range(1, compiled.num_domains):
        children[int(compiled.parent[domain])].append(domain)
    for domain in reversed(range(compiled.num_domains)):
        below = room[children[domain]]
        if len(below):
            total = np.where((below >= 0).all(axis=0), below.sum(axis=0), UNLIMITED)
            room[domain] = _smaller(room[domain], total)
    for domain in range(1, compiled.num_domains):
        room[domain] = _smaller(room[domain], room[compiled.parent[domain]])
    return room


def _smaller(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    least = np.minimum(first, second)
    return np.where(first < 0, second, np.where(second < 0, first, least))


def entries_in(form: Formulation, block: int, domain: int) -> list[Entry]:
    """Placement variables of a block in a domain."""
    low, high = int(form.compiled.first_node[domain]), int(form.compiled.end_node[domain])
    return [entry for entry in form.of_block[block] if low <= entry.node < high]


def floor_of(compiled: Compiled, entry: Entry) -> npt.NDArray[np.int64]:
    """int64[R]: floors of a member of the entry."""
    floors: npt.NDArray[np.int64] = compiled.floor[entry.option, compiled.node_kind[entry.node]]
    return floors


def least_floors(compiled: Compiled, entries: Sequence[Entry]) -> npt.NDArray[np.int64]:
    """int64[R]: the least floor over entries (one at least)."""
    floors: npt.NDArray[np.int64] = np.min([floor_of(compiled, entry) for entry in entries], axis=0)
    return floors


def times_presence(weights: Mapping[int, int], left: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]] | None:
    """The row sum_j weights[j] y_j <= sum_e left[e] x_e as integers (weights by y, left by x), or None if vacuous.

    ``left[e]``: what entry e of the member leaves of the room. y_j is 0 unless one x_e is 1, and then the y_j = 1 have
    weights that fit left[e]: hence at most the largest sum of some weights up to left[e].
    """
    weights = {key: weight for key, weight in weights.items() if weight > 0}
    if not weights or sum(weights.values()) <= min(left.values()):
        return None
    divisor = math.gcd(*weights.values())
    weights = {key: weight // divisor for key, weight in weights.items()}
    left = {key: room // divisor for key, room in left.items()}
    most = max(*left.values(), *weights.values())
    if most <= LARGEST_SUBSET_SUM:
        sums = 1
        for weight in weights.values():
            sums |= sums << weight
        return weights, {key: _reachable(sums, room) for key, room in left.items()}
    unit = most // LARGEST + 1
    if unit > 1:  # rounding down on the left and up on the right only widens the row
        weights = {key: weight // unit for key, weight in weights.items()}
        left = {key: -(-room // unit) for key, room in left.items()}
    return weights, left


def _reachable(sums: int, room: int) -> int:
    """The largest bit of ``sums`` at or below ``room``."""
    return (sums & ((1 << (room + 1)) - 1)).bit_length() - 1 if room >= 0 else 0
