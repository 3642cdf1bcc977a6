"""Trees grown from many members and packed into the rates of the flows: the compiled loop of ``spreading``.

Owns the growing (Dijkstra 1959) and the packing; integers where the bound depends on them, floats where they only
choose. Knows no instance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["pack_trees"]

Int64 = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., object])


def _compiled(function: F) -> F:
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


@_compiled
def pack_trees(  # noqa: PLR0912, PLR0915, PLR0917 - one loop over flat arrays; calls would cost as much as what they do
    roots: Int64,
    graph: tuple[Int64, Int64, Int64],
    weight: Int64,
    limits: tuple[int, int],
    edges: tuple[Int64, Int64, Float],
    pace: tuple[float, float],
) -> int:
    """Sum of y_T * (weight of T - capacity) over the trees packed; lowers ``left`` by y_T times the weight beyond.

    Parameters
    ----------
    roots : vertices to grow a tree from, each once.
    graph : begin, other, edge: neighbours of vertex v are other[begin[v]:begin[v + 1]], by those edges.
    limits : capacity, and weight at which a tree stops to grow.
    edges : full, left, length: what each edge had, has, and its length; lengths grow as edges fill.
    pace : part of what still fits that is taken at once; how much longer full edges are, as an exponent.
    """
    begin, other, edge = graph
    capacity, reach = limits
    full, left, length = edges
    part, sharp = pace
    size = len(weight)
    distance = np.empty(size, dtype=np.float64)
    seen = np.full(size, -1, dtype=np.int64)
    done = np.full(size, -1, dtype=np.int64)
    parent_place = np.empty(size, dtype=np.int64)
    parent_edge = np.empty(size, dtype=np.int64)
    place_parent = np.empty(size, dtype=np.int64)
    place_edge = np.empty(size, dtype=np.int64)
    below = np.empty(size, dtype=np.int64)
    order = np.empty(size, dtype=np.int64)
    keys = np.empty(len(other) + 1, dtype=np.float64)
    values = np.empty(len(other) + 1, dtype=np.int64)
    gained = 0
    for run in range(len(roots)):
        root = roots[run]
        keys[0], values[0], heap = 0.0, root, 1
        seen[root], distance[root], parent_place[root] = run, 0.0, -1
        count, total, far, best, best_count, best_total = 0, 0, 0.0, 0.0, 0, 0
        while heap > 0 and total < reach:
            d, v = keys[0], values[0]
            heap -= 1
            key, value, at = keys[heap], values[heap], 0
            while True:  # sift down
                child = 2 * at + 1
                if child >= heap:
                    break
                if child + 1 < heap and keys[child + 1] < keys[child]:
                    child += 1
                if keys[child] >= key:
                    break
                keys[at], values[at] = keys[child], values[child]
                at = child
            keys[at], values[at] = key, value
            if done[v] == run:
                continue
            done[v] = run
            order[count], place_parent[count], place_edge[count] = v, parent_place[v], parent_edge[v]
            count += 1
            total += weight[v]
            far += weight[v] * d
            if total > capacity and far > 0.0 and (total - capacity) / far > best:
                best, best_count, best_total = (total - capacity) / far, count, total
            for position in range(begin[v], begin[v + 1]):
                u, e = other[position], edge[position]
                if done[u] == run or left[e] <= 0:
                    continue
                next_distance = d + length[e]
                if seen[u] == run and next_distance >= distance[u]:
                    continue
                seen[u], distance[u], parent_place[u], parent_edge[u] = run, next_distance, count - 1, e
                at = heap
                heap += 1
                while at > 0:  # sift up
                    above = (at - 1) // 2
                    if keys[above] <= next_distance:
                        break
                    keys[at], values[at] = keys[above], values[above]
                    at = above
                keys[at], values[at] = next_distance, u
        if best_count == 0:
            continue
        for place in range(best_count):
            below[place] = weight[order[place]]
        for place in range(best_count - 1, 0, -1):
            below[place_parent[place]] += below[place]
        fits = -1
        for place in range(1, best_count):
            if below[place] > 0:
                room = left[place_edge[place]] // below[place]
                if fits < 0 or room < fits:
                    fits = room
                if room == 0:
                    left[place_edge[place]] = 0
        if fits <= 0:
            continue
        taken = min(fits, max(1, int(part * fits)))
        for place in range(1, best_count):
            e = place_edge[place]
            left[e] -= taken * below[place]
            length[e] = math.exp(sharp * (1.0 - left[e] / full[e])) / full[e]
        gained += taken * (best_total - capacity)
    return gained
