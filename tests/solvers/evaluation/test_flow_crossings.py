"""Crossings of all flows at once are those that counting pair by pair finds."""

from __future__ import annotations

import random
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.loads import crossings_of, flow_crossings, flow_ends, flow_keys
from allocator.solvers.evaluation.spots import spot_table
from allocator.solvers.evaluation.use import node_use
from tests.solvers.random_assignments import compiled_case, random_assignment

Counts = dict[tuple[int, int, int], int]
Pairs = dict[int, int]


def path(compiled: Compiled, node: int) -> list[int]:
    found = [int(compiled.node_domain[node])]
    while compiled.parent[found[-1]] >= 0:
        found.append(int(compiled.parent[found[-1]]))
    return found


def one_by_one(compiled: Compiled, counts: Counts, sources: list[int], targets: list[int]) -> list[Pairs]:
    """Ordered pairs over uplinks up and down, and by lowest common domain, member by member."""
    where = [(block, node, option, i) for (block, option, node), count in counts.items() for i in range(count)]
    up: Pairs = {}
    down: Pairs = {}
    met: Pairs = {}
    for sender in where:
        for receiver in where:
            if sender[0] not in sources or receiver[0] not in targets or sender == receiver:
                continue
            here, there = path(compiled, sender[1]), path(compiled, receiver[1])
            for domain in here:
                if domain in there:
                    met[domain] = met.get(domain, 0) + 1
                    break
                up[domain] = up.get(domain, 0) + 1
            for domain in there:
                if domain in here:
                    break
                down[domain] = down.get(domain, 0) + 1
    return [up, down, met]


def test_crossings_of_random_assignments_are_those_of_every_pair_of_members() -> None:
    crossing = meeting = 0
    for seed in range(150):
        compiled, _ = compiled_case(seed)
        counts: Counts = dict(random_assignment(compiled, random.Random(seed)).counts)
        flows = flow_crossings(compiled, counts)
        for flow, (key, rate, sources, targets) in zip(flows, flow_keys(compiled), strict=True):
            assert (flow.key, flow.rate) == (key, rate)
            assert [flow.up, flow.down, flow.met] == one_by_one(compiled, counts, sources, targets), f"seed {seed}"
            crossing += bool(flow.up)
            meeting += bool(flow.met)
    assert crossing > 40
    assert meeting > 60


def test_loads_are_the_sums_of_rates_times_pairs() -> None:
    for seed in range(60):
        compiled, _ = compiled_case(seed)
        counts: Counts = dict(random_assignment(compiled, random.Random(seed)).counts)
        every = crossings_of(compiled, flow_ends(compiled, spot_table(compiled, counts)))
        flows = flow_crossings(compiled, counts)
        for side in ("up", "down", "met"):
            expected: dict[int, Fraction] = {}
            for flow in flows:
                for domain, number in getattr(flow, side).items():
                    expected[domain] = expected.get(domain, Fraction(0)) + flow.rate * number
            assert every.loads(side) == expected


def test_use_of_nodes_is_exact_where_64_bits_are_not_enough() -> None:
    """Sums that cannot be proven to fit are added as Python integers."""
    compiled, _ = compiled_case(3)
    counts: Counts = dict(random_assignment(compiled, random.Random(3)).counts)
    spot = next(iter(counts))
    r = next(r for r in range(len(compiled.resources)) if compiled.floor[spot[1], compiled.node_kind[spot[2]], r] > 0)
    floor = int(compiled.floor[spot[1], compiled.node_kind[spot[2]], r])
    huge = {spot: 2**62}
    assert node_use(compiled, huge, {})[spot[2]][r] == 2**62 * floor
    assert node_use(compiled, {spot: 1}, {(*spot, r): 2**70})[spot[2]][r] == 2**70
