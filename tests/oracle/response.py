"""Response times as the oracle reads equation (13): path delays pair by pair, least shares, and P99.

Owns the delays and the least shares of whole arrays of placements. Exact: delays are integers over one denominator,
least shares whole units.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from allocator.instance.entities import WorkloadClass
from allocator.model.families import Family, GoalId
from tests.oracle.tiny import Option, Tiny, scaled

__all__ = ["LN_100", "delays", "is_critical", "least_shares", "single_compute", "target_of"]

LN_100 = Fraction("4.605170185988091368035982909368728415203")


def target_of(tiny: Tiny, workload: WorkloadClass) -> Fraction | None:
    """Target that holds, s."""
    return workload.slo.p99 if tiny.holds(Family.SLO) else None


def is_critical(tiny: Tiny, workload: WorkloadClass) -> bool:
    """Whether the class counts in the goal ``p99`` of the model."""
    return workload.slo.critical and GoalId.P99 in tiny.model.goal_ids


def single_compute(tiny: Tiny, option: Option) -> tuple[int, Fraction]:
    """Resource and core-seconds of the one compute resource that tasks need."""
    ((name, seconds),) = ((n, each) for n, each in option.demand.work.compute.items() if each > 0)
    return tiny.resources.index(name), seconds


def delays(tiny: Tiny, node: np.ndarray) -> tuple[np.ndarray, int]:
    """Path delay of every member: int64[P, members] over a denominator. ``node``: int[P, members], -1 unplaced."""
    size = len(tiny.nodes)
    messages = sorted({Fraction(0), *tiny.messages.values()})
    exact = [_way(tiny, a, b, message) for message in messages for a in range(size) for b in range(size)]
    numbers, denominator = scaled(exact)
    tables = np.zeros((len(messages), size + 1, size + 1), dtype=np.int64)  # the last row, column: unplaced
    tables[:, :-1, :-1] = np.array(numbers, dtype=np.int64).reshape(-1, size, size)
    found = np.zeros(node.shape, dtype=np.int64)
    for key, pairs in tiny.flows.items():
        talking = [pair for pair, rate in pairs.items() if rate > 0]
        table = tables[messages.index(tiny.messages.get(key, Fraction(0)))]
        if talking:
            slowest = np.max([table[node[:, i], node[:, j]] for i, j in talking], axis=0)
            for member in {member for pair in talking for member in pair}:
                found[:, member] = np.maximum(found[:, member], slowest)
    return found, denominator


def _way(tiny: Tiny, source: int, target: int, message: Fraction) -> Fraction:
    """Seconds between two nodes: latencies, and the message on each link as busy as ``link_load`` lets it be."""
    up, down, _ = tiny.crossed(source, target)
    part = tiny.instance.link_load if tiny.holds(Family.LINK_LOAD) else None
    total = Fraction(0)
    for uplink in (tiny.instance.domains[index].uplink for index in up + down):
        total += Fraction(0) if uplink is None else uplink.latency
        if part is not None and uplink is not None and uplink.bandwidth:
            spare = uplink.bandwidth - part * uplink.bandwidth
            total += Fraction(math.ceil(10**9 * LN_100 * message / spare), 10**9)
    return total


def least_shares(tiny: Tiny, rows: np.ndarray, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least whole share of its compute that each member needs, int64[P, members], and whether it can have that.

    0 where nothing is needed or no share is enough.
    """
    least = np.zeros(rows.shape, dtype=np.int64)
    met = np.ones(rows.shape, dtype=bool)
    asking = [c for c, m in enumerate(tiny.members) if target_of(tiny, m.workload) or is_critical(tiny, m.workload)]
    if not asking:
        return least, met
    late, denominator = delays(tiny, node)
    for column in asking:
        kinds, where = np.unique(np.stack([rows[:, column], late[:, column]]), axis=1, return_inverse=True)
        found = [_least(tiny, tiny.options[number], Fraction(int(delay), denominator)) for number, delay in kinds.T]
        least[:, column] = np.array([units or 0 for units in found], dtype=np.int64)[where.ravel()]
        met[:, column] = np.array([units is not None for units in found])[where.ravel()]
    return least, met


def _least(tiny: Tiny, option: Option, delay: Fraction) -> int | None:
    if option.node < 0:
        return 0
    workload = tiny.instance.workloads[option.workload]
    r, seconds = single_compute(tiny, option)
    unit = tiny.unit[r]
    need = workload.rate * seconds * Fraction(101, 100) if workload.rate else unit
    target = target_of(tiny, workload)
    if target is not None:
        if target <= delay:
            return None
        need = max(need, seconds * (workload.rate + LN_100 / (target - delay)))
    units = -(-need // unit)
    return int(units) if need <= workload.parallel and units <= tiny.ceiling(option, r) else None
