"""Flows and links: pairs, entries between classes, distances, bandwidths and goodput curves (equations 7, 14, 18)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.fields import Part, lists
from allocator.solvers.heuristic.kernels.items import Items

__all__ = ["traffic_fields"]

Float = npt.NDArray[np.float64]

LARGEST_MATRIX = 2048  # nodes up to which distances along the tree are tabled


def traffic_fields(compiled: Compiled, items: Items) -> Part:
    """Everything about flows."""
    model = compiled.model
    weights = {goal.id: (level.sense, float(goal.weight)) for level in model.levels for goal in level.goals}
    talks = bool(compiled.teams or compiled.pairs or compiled.groups)
    flags = 0
    if talks and GoalId.TRAFFIC in weights:
        flags |= at.TRAFFIC
    links = _links(compiled)
    limited = bool((links["link"] < np.inf).any() or (links["inside"] < np.inf).any())
    rated = {GoalId.THROUGHPUT, GoalId.FAIRNESS} & set(weights) and not {Family.FABRIC, Family.RATES} & model.ignore
    if talks and limited and (rated or GoalId.CONGESTION in weights):
        flags |= at.LINKS
    if compiled.pairs:
        flags |= at.PAIRS
    if compiled.groups:
        flags |= at.ENTRIES
    if compiled.instance.distances.matrix is not None:
        flags |= at.MATRIX
    fields: dict[str, object] = {
        **_pairs(compiled, items),
        **_entries(compiled),
        **links,
        "distance": _distances(compiled, tabled=bool(flags & at.TRAFFIC and (compiled.teams or compiled.pairs))),
        "lost": _worth_of_a_bit(compiled) if rated else 0.0,
        "jam": weights.get(GoalId.CONGESTION, ("min", 0.0))[1],
        "far": weights.get(GoalId.TRAFFIC, ("min", 0.0))[1],
        "nearness": 0.5 if flags & (at.TRAFFIC | at.LINKS) else 0.0,
    }
    return Part(fields, flags)


def _pairs(compiled: Compiled, items: Items) -> dict[str, object]:
    rates: dict[tuple[int, int], list[float]] = {}
    for pair in compiled.pairs:
        a, b = int(items.first[pair.source]), int(items.first[pair.target])
        rate = float(pair.rate)
        rates.setdefault((a, b), [0.0, 0.0])[0] += rate
        rates.setdefault((b, a), [0.0, 0.0])[1] += rate
    keys = np.array(sorted(rates), dtype=np.int64).reshape(-1, 2)
    both = np.array([rates[a, b] for a, b in keys.tolist()]).reshape(-1, 2)
    return {
        "pair_start": np.searchsorted(keys[:, 0], np.arange(len(items.block) + 1)).astype(np.int64),
        "pair_item": np.ascontiguousarray(keys[:, 1]),
        "pair_out": np.ascontiguousarray(both[:, 0]),
        "pair_in": np.ascontiguousarray(both[:, 1]),
    }


def _entries(compiled: Compiled) -> dict[str, object]:
    takes: list[tuple[int, int]] = []
    for index, entry in enumerate(compiled.groups):
        takes.append((entry.source, 2 * index))
        if entry.target != entry.source:
            takes.append((entry.target, 2 * index + 1))
    start, coded = lists(takes, len(compiled.instance.workloads))
    return {
        "entry_start": start,
        "entry": coded // 2,
        "entry_side": coded % 2,
        "entry_rate": np.array([float(entry.rate) for entry in compiled.groups]),
        "entry_same": np.array([entry.source == entry.target for entry in compiled.groups], dtype=np.uint8),
    }


def _links(compiled: Compiled) -> dict[str, npt.NDArray[Any]]:
    number = compiled.num_domains
    weight = np.zeros(number)
    link, inside = np.full(number, np.inf), np.full(number, np.inf)
    curve, bend = np.zeros(number, dtype=np.int64), np.ones(number)
    points: list[tuple[float, float]] = []
    start = [0]
    for domain in compiled.instance.domains:
        uplink = domain.uplink
        if domain.internal is not None:
            inside[domain.index] = float(domain.internal)
        if uplink is not None:
            weight[domain.index] = float(uplink.weight)
            if uplink.bandwidth is not None:
                link[domain.index] = float(uplink.bandwidth)
            if uplink.goodput.curve == "knee":
                curve[domain.index], bend[domain.index] = at.KNEE, float(uplink.goodput.p)
            elif uplink.goodput.curve == "table":
                curve[domain.index] = at.TABLE
                points.extend((float(x), float(y)) for x, y in uplink.goodput.points)
        start.append(len(points))
    tables = np.array(points).reshape(-1, 2)
    return {
        "weight": weight,
        "link": link,
        "inside": inside,
        "curve": curve,
        "bend": bend,
        "point_start": np.array(start, dtype=np.int64),
        "point_load": np.ascontiguousarray(tables[:, 0]),
        "point_carried": np.ascontiguousarray(tables[:, 1]),
    }


def _distances(compiled: Compiled, *, tabled: bool) -> Float:
    matrix = compiled.instance.distances.matrix
    if matrix is not None:
        index = compiled.instance.node_index
        found = np.zeros((compiled.num_nodes, compiled.num_nodes))
        for (a, b), value in matrix.items():
            found[index[a], index[b]] = float(value)
        return found if len(found) > 1 else np.zeros((1, 1)) + found
    if not tabled or not 1 < compiled.num_nodes <= LARGEST_MATRIX:
        return np.zeros((1, 1))
    found = np.zeros((compiled.num_nodes, compiled.num_nodes))
    for domain in compiled.instance.domains:
        if domain.uplink is not None and domain.uplink.weight:
            inside = np.zeros(compiled.num_nodes, dtype=bool)
            inside[domain.first_node : domain.end_node] = True
            found[np.ix_(inside, ~inside)] += float(domain.uplink.weight)
            found[np.ix_(~inside, inside)] += float(domain.uplink.weight)
    return found


def _worth_of_a_bit(compiled: Compiled) -> float:
    """Offered tasks/s by weight for each offered bit/s: what a bit that a link loses is worth."""
    talking = {b for team in compiled.teams for b in team.blocks}
    talking.update(b for pair in compiled.pairs for b in (pair.source, pair.target))
    classes = {entry.source for entry in compiled.groups} | {entry.target for entry in compiled.groups}
    workloads = compiled.instance.workloads
    tasks = sum(
        float(workloads[b.workload].weight * workloads[b.workload].rate) * b.count
        for b in compiled.blocks
        if b.index in talking or b.workload in classes
    )
    bits = sum(float(team.rate) * team.size * (team.size - 1) for team in compiled.teams)
    bits += sum(float(pair.rate) for pair in compiled.pairs)
    bits += sum(
        float(entry.rate) * workloads[entry.source].count * workloads[entry.target].count for entry in compiled.groups
    )
    return tasks / bits if bits > 0 else 0.0
