"""Messages on loaded links: M K / (C - L) by hand, at the true load and at the limit; and the limit itself."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from allocator.checker import check
from allocator.checker.crossings import Ways
from allocator.checker.end_to_end import log_of_hundred, teams_end_to_end
from allocator.checker.flows import flows_of
from allocator.checker.link_delay import LN_100, spare_of
from allocator.checker.standing import read_standing
from allocator.checker.traffic import traffic_of
from allocator.checker.usage import chains
from allocator.instance.entities import Flow, Instance, Slo, Uplink
from allocator.model.families import Family
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation
from tests.builders import build, model, node, plan, team, workload

F = Fraction
MILLION = 10**6
APART = {"a": ["x", "y"]}
MEAN = F(1, 4)  # 1 core of 200 ms tasks at 1/s: 1 / (5 - 1) s


def pair_of_nodes(rate: int = 2 * MILLION, message: int = 8000, **more: object) -> Instance:
    """Two members that exchange messages of 1 kB; node x has an uplink of 10 Mbit/s, node y none to speak of."""
    served = workload(
        "a", 2, {"cpu": 1000}, rate=1, compute={"cpu": F(1, 5)}, slo=more.pop("slo", Slo(F(3), critical=True))
    )
    return build(
        node("x", capacity={"cpu": 4000}, uplink=Uplink(F(10 * MILLION), latency=F(1, 1000))),
        node("y", capacity={"cpu": 4000}, uplink=Uplink(latency=F(2, 1000))),
        workloads=[served],
        teams=(replace(team("t", 1, {"a": 2}, rate), message=F(message)),),
        **more,
    )


def judged(instance: Instance, where: dict[str, list[str]] = APART, **ignore: object) -> Evaluation:
    return check(instance, model("placed", "p99", **ignore), plan(instance, where))


def test_a_crossing_at_the_true_load_by_hand() -> None:
    """8,000 bits over 10 - 2 Mbit/s: 4.605 ms, each way, and a latency of 1 ms."""
    links = {(link.domain, link.direction): link for link in judged(pair_of_nodes()).links}
    wait = 8000 * LN_100 / (8 * MILLION)
    for direction in ("up", "down"):
        assert links["x", direction].message == 8000
        assert links["x", direction].delay == wait + F(1, 1000)
    assert links["y", "up"].delay == F(2, 1000), "an unlimited link takes its latency"


def test_end_to_end_counts_one_exponential_time_more_a_crossing() -> None:
    """Two members and, for each, one crossing of the link of x: four times at the quantile 1 - 0.01 / 4."""
    instance = pair_of_nodes()
    ends = teams_end_to_end(instance, plan(instance, APART))["t"]
    longer = log_of_hundred(4) / LN_100
    way = F(3, 1000) + 8000 * LN_100 / (8 * MILLION) * longer
    assert (ends.stages, ends.crossings) == (2, 2)
    assert ends.in_a_row == 2 * (LN_100 * MEAN * longer + way)
    assert ends.branches == LN_100 * MEAN * longer + way


def test_on_one_node_nothing_is_crossed() -> None:
    instance = pair_of_nodes()
    ends = teams_end_to_end(instance, plan(instance, {"a": ["x", "x"]}))["t"]
    assert (ends.crossings, ends.in_a_row) == (0, 2 * log_of_hundred(2) * MEAN)
    assert all(link.message is None and link.delay is None for link in judged(instance, {"a": ["x", "x"]}).links)


@pytest.mark.parametrize(("rate", "bounded"), [(9_900_000, True), (9_900_001, False), (10**8, False)])
def test_above_99_percent_there_is_no_bound_and_no_number(rate: int, *, bounded: bool) -> None:
    instance = pair_of_nodes(rate)
    link = next(link for link in judged(instance).links if link.domain == "x")
    assert (link.delay is not None) is bounded
    assert link.message == 8000
    ends = teams_end_to_end(instance, plan(instance, APART))["t"]
    assert (ends.in_a_row is not None) is (ends.branches is not None) is (ends.crossings is not None) is bounded
    assert ends.stages == 2


def test_a_link_that_carries_nothing_has_no_bound() -> None:
    instance = pair_of_nodes()
    dead = [replace(d, uplink=Uplink(F(0))) if d.path == "x" else d for d in instance.domains]
    instance = replace(instance, domains=tuple(dead))
    assert teams_end_to_end(instance, plan(instance, APART))["t"].in_a_row is None


def test_without_a_limit_messages_count_in_no_p99_and_a_warning_says_so() -> None:
    evaluation = judged(pair_of_nodes())
    assert evaluation.classes[0].p99 == LN_100 * MEAN + F(3, 1000)
    assert any("messages" in text for text in evaluation.warnings)
    assert not any("messages" in text for text in judged(pair_of_nodes(message=0)).warnings)
    assert not any("messages" in text for text in judged(pair_of_nodes(slo=Slo())).warnings)


def test_with_a_limit_messages_count_as_at_the_limit_in_whole_nanoseconds() -> None:
    """8,000 bits over the 2 Mbit/s that 0.8 leaves: 18.421 ms."""
    evaluation = judged(pair_of_nodes(link_load=F(4, 5)))
    wait = F(ceil(8000 * LN_100 / (2 * MILLION) * 10**9), 10**9)
    assert evaluation.feasible
    assert evaluation.classes[0].p99 == LN_100 * MEAN + F(3, 1000) + wait
    assert not any("messages" in text for text in evaluation.warnings)


def test_the_target_counts_them_and_the_model_may_ignore_the_limit() -> None:
    tight = LN_100 * MEAN + F(3, 1000) + F(1, 100)
    instance = pair_of_nodes(link_load=F(4, 5), slo=Slo(tight, critical=True))
    assert {v.family for v in judged(instance).violations} == {Family.SLO}
    assert judged(instance, ignore=[Family.LINK_LOAD]).feasible
    assert judged(instance, {"a": ["x", "x"]}).feasible


@pytest.mark.parametrize(("rate", "fits"), [(8 * MILLION, True), (8 * MILLION + 1, False)])
def test_a_link_may_be_offered_its_part_and_no_more(rate: int, *, fits: bool) -> None:
    found = judged(pair_of_nodes(rate, message=0, link_load=F(4, 5))).violations
    assert [(v.family, v.where, v.amount) for v in found] == ([] if fits else [(Family.LINK_LOAD, "x", 1)] * 2)


def test_each_direction_has_its_own_load() -> None:
    """X sends 9, y sends 2: on the uplink of x messages of y find 8 to spare, those of x find 1."""
    pairs = ((0, 1, F(9 * MILLION)), (1, 0, F(2 * MILLION)))
    flow = Flow("a", "a", "pairs", pairs=pairs, message=F(8000))
    instance = replace(pair_of_nodes(), teams=(), flows=(flow,))
    links = {(link.domain, link.direction): link.delay for link in judged(instance).links}
    assert links["x", "up"] == 8000 * LN_100 / MILLION + F(1, 1000)
    assert links["x", "down"] == 8000 * LN_100 / (8 * MILLION) + F(1, 1000)


def test_of_parallel_flows_the_largest_message_that_is_sent_counts() -> None:
    def flow(rate: int, message: int, pattern: str) -> Flow:
        if pattern == "pairs":
            return Flow("a", "a", "pairs", pairs=((0, 1, F(rate)),), message=F(message))
        return Flow("a", "a", "broadcast", F(rate), message=F(message))

    for pattern in ("pairs", "broadcast"):
        flows = tuple(flow(*each, pattern) for each in ((5, 100), (7, 300), (0, 9999), (6, 200)))
        instance = replace(pair_of_nodes(), teams=(), flows=flows)
        assert {link.message for link in judged(instance).links if link.domain == "x" and link.message} == {300}


@pytest.mark.parametrize("seed", range(20))
def test_ways_equal_those_of_all_pairs_of_every_flow(seed: int) -> None:
    instance, where = random_instance(random.Random(seed))
    ways, flows = ways_of(instance, plan(instance, where))
    for member, place in enumerate(where["a"]):
        mine = [pair for members, pairs in flows if member in members for pair in pairs]
        if place is None:
            continue
        endless = any(seconds is None for seconds, _ in mine)
        assert (ways.crossings(0, member) is None) is endless
        if not endless:
            assert ways.delay(0, member) == max((seconds for seconds, _ in mine), default=0)
            assert ways.crossings(0, member) == max((crossed for _, crossed in mine), default=0)


def random_instance(rng: random.Random) -> tuple[Instance, dict[str, list[str | None]]]:
    """Two racks of two nodes, two teams and some pairs of one class."""
    from tests.builders import group

    def uplink() -> Uplink:
        bandwidth = None if rng.random() < 0.2 else F(rng.choice([30, 60, 200]))
        return Uplink(bandwidth, latency=F(rng.choice([0, 1, 3]), 10))

    racks = [
        group("rack", f"r{i}", *(node(f"n{j}", uplink=uplink()) for j in range(2)), uplink=uplink()) for i in (0, 1)
    ]
    pairs = tuple(
        (i, j, F(rng.choice([0, 2, 5]))) for i, j in product(range(6), repeat=2) if i != j and rng.random() < 0.2
    )
    flows = (
        Flow("a", "a", "pairs", pairs=pairs, message=F(rng.choice([0, 4]))),
        Flow("a", "a", "broadcast", F(rng.choice([0, 1])), message=F(rng.choice([0, 7]))),
    )
    teams = (replace(team("t", 2, {"a": 2}, rng.choice([0, 3])), message=F(rng.choice([0, 5]))),)
    paths = [None, "r0/n0", "r0/n1", "r1/n0", "r1/n1"]
    return build(*racks, workloads=[workload("a", 6)], teams=teams, flows=flows), {
        "a": [rng.choice(paths) for _ in range(6)]
    }


Walked = list[tuple[set[int], list[tuple[Fraction | None, int]]]]


def ways_of(instance: Instance, found: Plan) -> tuple[Ways, Walked]:
    """The ways; and of every flow its members, and of each pair the seconds (None: no bound) and links waited at."""
    standing, _ = read_standing(instance, found)
    flows, above = flows_of(instance), chains(instance)
    spare = spare_of(instance, traffic_of(instance, standing, flows, {}, above))
    talking = [(both(range(f, f + n)), t.message) for t in flows.teams if t.rate for _, f, n in t.parts]
    talking += [
        ([(i, j)], flows.messages.get((0, i, 0, j), F(0))) for (_, i, _, j), rate in flows.pairs.items() if rate
    ]
    talking += [(both(range(6)), group.message) for group in flows.groups if group.rate]
    walked: Walked = []
    for pairs, message in talking:
        seconds: list[tuple[Fraction | None, int]] = []
        for i, j in pairs:
            ends = standing.nodes_of[0][i], standing.nodes_of[0][j]
            if min(ends) >= 0:
                sides = (ends, spare.up), (ends[::-1], spare.down)
                seconds.append(_walk(instance, above, message, sides))
        walked.append(({member for pair in pairs for member in pair}, seconds))
    return Ways(instance, standing, flows, above, spare), walked


def _walk(instance: Instance, above: Any, message: Fraction, sides: Any) -> tuple[Fraction | None, int]:
    total: Fraction | None = F(0)
    crossed = 0
    for (end, other), side in sides:
        for domain in set(above[end]) - set(above[other]):
            uplink = instance.domains[domain].uplink
            assert uplink is not None
            left = side.get(domain, F(0))
            crossed += domain in side and bool(message)
            if message and left is None:
                total = None
            elif total is not None:
                total += uplink.latency + (message * LN_100 / left if message and left else 0)
    return total, crossed


def both(members: range) -> list[tuple[int, int]]:
    return [(i, j) for i, j in product(members, repeat=2) if i != j]


@pytest.mark.parametrize("parts", [2, 3, 5, 8])
def test_the_sum_of_the_p99_of_independent_parts_is_on_the_safe_side(parts: int) -> None:
    """Exponential times with any means, by the phases of a Markov chain: at most one in a hundred exceeds the sum."""
    rng = random.Random(parts)
    for means in ([1.0] * parts, *([rng.expovariate(1) + 1e-3 for _ in range(parts)] for _ in range(20))):
        rates = np.array([1 / mean for mean in means])
        left = np.diag(-rates) + np.diag(rates[:-1], 1)
        alive = expm(left * math.log(100) * sum(means))[0].sum()
        assert alive <= 0.01
        if max(means) > 0.99 * sum(means):
            assert alive > 0.009
