"""Path delays (equation 13): how long the slowest pair of what a member exchanges is on its way.

Owns the search over all flows at once. Delays are integers over one denominator until the end. Knows no response times.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.loads import FlowEnds, FlowKey, ancestor_table, flow_ends
from allocator.solvers.evaluation.spots import spot_table
from allocator.solvers.evaluation.use import LARGE, Counts

__all__ = ["link_delays", "path_delays"]

Numbers = npt.NDArray[Any]  # int64, or Python integers where these could overflow
Int64 = npt.NDArray[np.int64]


LN_100 = Fraction(4605170185988091368035982909368728415203, 10**39)  # rounded up
NANO = 10**9


def link_delays(compiled: Compiled, message: Fraction) -> list[Fraction]:
    """What it takes to cross the uplink of each domain, s: latency, and a message of so many bits (equation 13).

    Messages count only where ``link_load`` holds: at the largest load it allows, up to whole nanoseconds.
    """
    delays = [domain.uplink.latency if domain.uplink else Fraction(0) for domain in compiled.instance.domains]
    part = compiled.link_load
    for domain in compiled.instance.domains if part is not None and message else ():
        if part is not None and domain.uplink is not None and domain.uplink.bandwidth:
            seconds = message * LN_100 / (domain.uplink.bandwidth * (1 - part))
            delays[domain.index] += Fraction(math.ceil(seconds * NANO), NANO)
    return delays


def path_delays(compiled: Compiled, counts: Counts) -> dict[int, Fraction]:
    """D of every placed block, s; blocks that wait for nothing are left out (D = 0).

    All members of a block have the same flows, hence the same D.
    """
    messages = _messages(compiled)
    ways = {message: link_delays(compiled, message) for message in dict.fromkeys(messages)}
    if not any(map(any, ways.values())):
        return {}
    denominator = math.lcm(*(each.denominator for way in ways.values() for each in way))
    spots = spot_table(compiled, counts)
    ends = flow_ends(compiled, spots)
    delays: dict[int, Fraction] = {}
    of_flow: dict[FlowKey, Fraction] = {}
    for message, way in ways.items():
        numbers = [int(each * denominator) for each in way]
        depth = np.array(numbers, dtype=np.int64 if float(sum(numbers)) * 4 < LARGE else object)
        for domain in range(1, compiled.num_domains):  # preorder: parents come first
            depth[domain] += depth[compiled.parent[domain]]
        slowest = _slowest(compiled, ends, depth).tolist()
        for key, rate, own, number in zip(ends.keys, ends.rates, messages, slowest, strict=True):
            if number and rate and own == message:
                of_flow[key] = Fraction(int(number), denominator)
    by_class: dict[int, Fraction] = {}
    for (kind, index), delay in of_flow.items():
        if kind == "group":
            group = compiled.groups[index]
            for workload in (group.source, group.target):
                by_class[workload] = max(delay, by_class.get(workload, delay))
            continue
        pair = compiled.pairs[index] if kind == "pair" else None
        for block in compiled.teams[index].blocks if pair is None else (pair.source, pair.target):
            delays[block] = max(delay, delays.get(block, delay))
    placed = dict.fromkeys(spots.block.tolist())
    for block in placed if by_class else ():
        delay = by_class.get(compiled.blocks[block].workload, Fraction(0))
        if delay > delays.get(block, 0):
            delays[block] = delay
    return {block: delay for block, delay in delays.items() if block in placed}


def _messages(compiled: Compiled) -> list[Fraction]:
    """Bits of a message of every flow, in the order of ``flow_ends``; 0 where messages do not count."""
    messages = [team.message for team in compiled.teams]
    messages += [pair.message for pair in compiled.pairs]
    messages += [group.message for group in compiled.groups]
    return messages if compiled.link_load is not None else [Fraction(0)] * len(messages)


def _slowest(compiled: Compiled, ends: FlowEnds, depth: Numbers) -> Numbers:
    """Longest way between a sender and a receiver of every flow.

    In a tree the farthest of a set of vertices from any vertex is an end of the set's longest path, and that path ends
    at the vertex farthest from any one of the set: two sweeps find it among the receivers, a third joins the senders.
    """
    table = ancestor_table(compiled)
    below = depth[compiled.node_domain]
    num_flows = len(ends.keys)

    def length(a: Int64, b: Int64) -> Numbers:
        shared = (table[a] == table[b]) & (table[a] >= 0)
        meet = table[a, shared.sum(axis=1) - 1]
        ways: Numbers = below[a] + below[b] - 2 * depth[meet]
        return ways

    def farthest(flow: Int64, node: Int64, start: Int64) -> tuple[Int64, Numbers]:
        """Node of each flow farthest from its start, and how far; -1, 0 where it has no node."""
        found, far = np.full(num_flows, -1, dtype=np.int64), np.zeros(num_flows, dtype=depth.dtype)
        known = start[flow] >= 0
        flow, node = flow[known], node[known]
        if len(flow):
            ways = length(node, start[flow])
            first = np.flatnonzero(np.r_[True, flow[1:] != flow[:-1]])
            longest: Numbers = np.maximum.reduceat(ways, first)
            far[flow[first]] = longest
            spread = np.repeat(longest, np.diff(np.r_[first, len(flow)]))
            last = np.flatnonzero(ways == spread)
            found[flow[last]] = node[last]
        return found, far

    receiving, sending = ends.receivers > 0, ends.senders > 0
    flow, node = ends.flow[receiving], ends.node[receiving]
    start = np.full(num_flows, -1, dtype=np.int64)
    start[flow] = node
    one, _ = farthest(flow, node, start)
    other, _ = farthest(flow, node, one)
    flow, node = ends.flow[sending], ends.node[sending]
    slowest: Numbers = np.maximum(farthest(flow, node, one)[1], farthest(flow, node, other)[1])
    return slowest
