"""How often flows cross uplinks, or meet inside a domain, under an assignment in counts. Exact integers.

Owns the arrays of all flows at once and the view of one flow. Must not know grants, curves or goals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.spots import SpotTable, spot_table
from allocator.solvers.evaluation.use import Counts

__all__ = [
    "Crossings",
    "FlowCrossings",
    "FlowEnds",
    "FlowKey",
    "Side",
    "ancestor_table",
    "crossings_of",
    "flow_crossings",
    "flow_ends",
    "flow_keys",
]

FlowKey = tuple[str, int]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FlowCrossings:
    """Ordered member pairs of one flow: ``up[d]``, ``down[d]`` over the uplink of d, ``met[d]`` lowest common domain d.

    Multiply by ``rate`` for bit/s.
    """

    key: FlowKey
    rate: Fraction
    up: Mapping[int, int]
    down: Mapping[int, int]
    met: Mapping[int, int]


@dataclass(frozen=True)
class FlowEnds:
    """Where the ends of every flow stand: one entry for each flow and node, flows ascending.

    Attributes
    ----------
    keys, rates : of flow f, bit/s per ordered pair.
    same : bool[F], whether senders and receivers are the same members (nobody sends to himself).
    flow, node, senders, receivers : int64[E].
    """

    keys: tuple[FlowKey, ...]
    rates: tuple[Fraction, ...]
    same: npt.NDArray[np.bool_]
    flow: Int64
    node: Int64
    senders: Int64
    receivers: Int64


@dataclass(frozen=True)
class Side:
    """Ordered pairs by flow and domain, only positive ones: int64[n], sorted by flow, then domain."""

    flow: Int64
    domain: Int64
    number: Int64


@dataclass(frozen=True)
class Crossings:
    """All flows at once. ``up``, ``down``: over the uplink of a domain; ``met``: lowest common domain."""

    keys: tuple[FlowKey, ...]
    rates: tuple[Fraction, ...]
    up: Side
    down: Side
    met: Side

    def side(self, name: str) -> Side:
        """Side "up", "down" or "met"."""
        found: Side = getattr(self, name)
        return found

    def totals(self, name: str, factors: Iterable[Fraction]) -> dict[int, Fraction]:
        """Sum over flows of factor times number, by domain; exact. ``factors``: one for each flow."""
        side = self.side(name)
        index: dict[Fraction, int] = {}
        of_flow = np.array([index.setdefault(factor, len(index)) for factor in factors], dtype=np.int64)
        if not len(side.flow):
            return {}
        size = int(side.domain.max()) + 1
        keys = of_flow[side.flow] * size + side.domain
        found, where = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(found), dtype=np.int64)
        np.add.at(sums, where, side.number)
        values = list(index)
        total: dict[int, Fraction] = {}
        for key, number in zip(found.tolist(), sums.tolist(), strict=True):
            factor, domain = divmod(key, size)
            total[domain] = total.get(domain, Fraction(0)) + values[factor] * number
        return total

    def loads(self, name: str) -> dict[int, Fraction]:
        """Offered load by domain, bit/s."""
        return self.totals(name, self.rates)


def flow_keys(compiled: Compiled) -> Iterator[tuple[FlowKey, Fraction, list[int], list[int]]]:
    """Key, rate per ordered pair, source blocks and target blocks of every flow."""
    for team in compiled.teams:
        yield ("team", team.index), team.rate, list(team.blocks), list(team.blocks)
    for index, pair in enumerate(compiled.pairs):
        yield ("pair", index), pair.rate, [pair.source], [pair.target]
    by_class: dict[int, list[int]] = {}
    for block in compiled.blocks if compiled.groups else ():
        by_class.setdefault(block.workload, []).append(block.index)
    for index, group in enumerate(compiled.groups):
        yield ("group", index), group.rate, by_class.get(group.source, []), by_class.get(group.target, [])


def flow_crossings(compiled: Compiled, counts: Counts) -> list[FlowCrossings]:
    """Crossings of every flow, one by one."""
    every = crossings_of(compiled, flow_ends(compiled, spot_table(compiled, counts)))
    found: list[FlowCrossings] = []
    split = [_by_flow(every.side(name), len(every.keys)) for name in ("up", "down", "met")]
    for index, (key, rate) in enumerate(zip(every.keys, every.rates, strict=True)):
        found.append(FlowCrossings(key, rate, split[0][index], split[1][index], split[2][index]))
    return found


def _by_flow(side: Side, num_flows: int) -> list[dict[int, int]]:
    found: list[dict[int, int]] = [{} for _ in range(num_flows)]
    for flow, domain, number in zip(side.flow.tolist(), side.domain.tolist(), side.number.tolist(), strict=True):
        found[flow][domain] = number
    return found


def flow_ends(compiled: Compiled, spots: SpotTable) -> FlowEnds:
    """Senders and receivers of every flow by node."""
    teams, pairs, groups = compiled.teams, compiled.pairs, compiled.groups
    keys: list[FlowKey] = [("team", team.index) for team in teams]
    keys += [("pair", index) for index in range(len(pairs))]
    keys += [("group", index) for index in range(len(groups))]
    rates = (*(team.rate for team in teams), *(pair.rate for pair in pairs), *(group.rate for group in groups))
    same = np.array([True] * len(teams) + [False] * len(pairs) + [g.source == g.target for g in groups], dtype=bool)
    flow, node, senders, receivers = [], [], [], []

    def add(flows: Int64, nodes: Int64, sent: Int64, received: Int64) -> None:
        flow.append(flows)
        node.append(nodes)
        senders.append(sent)
        receivers.append(received)

    if teams:
        team_of = np.array([block.team for block in compiled.blocks], dtype=np.int64)[spots.block]
        inside = team_of >= 0
        add(team_of[inside], spots.node[inside], spots.count[inside], spots.count[inside])
    if pairs:
        where = np.full(len(compiled.blocks), -1, dtype=np.int64)
        where[spots.block] = spots.node
        for ends, (sent, received) in (
            (where[[pair.source for pair in pairs]], (1, 0)),
            (where[[pair.target for pair in pairs]], (0, 1)),
        ):
            (found,) = np.nonzero(ends >= 0)
            ones = np.ones(len(found), dtype=np.int64)
            add(len(teams) + found, ends[found], ones * sent, ones * received)
    for index, group in enumerate(groups, len(teams) + len(pairs)):
        for workload, sends, receives in ((group.source, True, False), (group.target, False, True)):
            mine = spots.workload == workload
            number = spots.count[mine]
            flows = np.full(len(number), index, dtype=np.int64)
            add(flows, spots.node[mine], number * sends, number * receives)
    empty = np.zeros(0, dtype=np.int64)
    merged = _merge(
        np.concatenate([empty, *flow]),
        np.concatenate([empty, *node]),
        np.concatenate([empty, *senders]),
        np.concatenate([empty, *receivers]),
    )
    return FlowEnds(tuple(keys), rates, same, *merged)


def _merge(flow: Int64, place: Int64, *amounts: Int64) -> tuple[Int64, ...]:
    """Sum amounts of equal (flow, place), sorted."""
    size = int(place.max(initial=0)) + 1
    keys, where = np.unique(flow * size + place, return_inverse=True)
    sums = []
    for amount in amounts:
        total = np.zeros(len(keys), dtype=np.int64)
        np.add.at(total, where, amount)
        sums.append(total)
    return (keys // size, keys % size, *sums)


def ancestor_table(compiled: Compiled) -> Int64:
    """Domains at or above every node, the root first: int64[N, deepest + 1], -1 beyond the node itself."""
    chains = []
    for domain in compiled.node_domain.tolist():
        chain = [domain]
        while compiled.parent[chain[-1]] >= 0:
            chain.append(int(compiled.parent[chain[-1]]))
        chains.append(chain[::-1])
    table = np.full((len(chains), max(map(len, chains), default=1)), -1, dtype=np.int64)
    for row, chain in zip(table, chains, strict=True):
        row[: len(chain)] = chain
    return table


def crossings_of(compiled: Compiled, ends: FlowEnds) -> Crossings:
    """Pairs over every uplink and inside every domain, for all flows at once (equation 7, exact counts)."""
    table = ancestor_table(compiled)[ends.node]  # [E, depth]
    deep = table >= 0
    repeat = deep.sum(axis=1)
    flow, domain, senders, receivers = _merge(
        np.repeat(ends.flow, repeat),
        table[deep],
        np.repeat(ends.senders, repeat),
        np.repeat(ends.receivers, repeat),
    )
    num_flows = len(ends.keys)
    all_senders, all_receivers = (
        np.bincount(ends.flow, weights=amount, minlength=num_flows).astype(np.int64)
        for amount in (ends.senders, ends.receivers)
    )
    up = senders * (all_receivers[flow] - receivers)
    down = receivers * (all_senders[flow] - senders)
    # pairs with both ends in the domain, less those with both ends in one of its children
    inside = senders * receivers - np.where(ends.same[flow], senders, 0)
    parent = compiled.parent[domain]
    below = np.zeros(len(flow), dtype=np.int64)
    (child,) = np.nonzero(parent >= 0)
    size = compiled.num_domains
    place = np.searchsorted(flow * size + domain, flow[child] * size + parent[child])
    np.add.at(below, place, inside[child])
    return Crossings(
        ends.keys,
        ends.rates,
        _side(flow, domain, up),
        _side(flow, domain, down),
        _side(flow, domain, inside - below),
    )


def _side(flow: Int64, domain: Int64, number: Int64) -> Side:
    some = number > 0
    return Side(flow[some], domain[some], number[some])
