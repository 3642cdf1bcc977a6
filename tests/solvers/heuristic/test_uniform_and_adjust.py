"""The even split and its adjustment: what is dealt where, what moves off a bottleneck, rules that hold throughout."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from allocator import solve
from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.instance import instance_from_dict
from allocator.instance.entities import Conflict, Dependency, Instance, Power, Slo, Spread, Uplink
from allocator.model.entities import Model
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.loads import flow_crossings
from allocator.solvers.heuristic.adjust_links import LinkLoads
from allocator.solvers.heuristic.adjust_rules import MoveRules
from allocator.solvers.heuristic.room import Room
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import METHODS
from allocator.solvers.support import used_families
from tests.builders import build, group, model, node, team, workload
from tests.solvers.random_assignments import compiled_case, random_assignment

F = Fraction
PLACE, COST, PEAK = model("placed"), model("cost"), model("peak")


def by_node(instance: Instance, goals: Model, method: str) -> dict[str, Counter[str]]:
    """Members on each node by class."""
    result = solve(instance, goals, method=method, seed=0, threads=1)
    assert result.plan is not None
    found: dict[str, Counter[str]] = {}
    for name, _, _, path in result.plan.members():
        found.setdefault(name, Counter())[path] += 1
    return found


@pytest.mark.parametrize("method", ["uniform", "adjust"])
@pytest.mark.parametrize("block", range(3))
def test_a_plan_is_feasible_or_there_is_none(method: str, block: int) -> None:
    plans = tried = 0
    for seed in range(block, 420, 3):
        compiled, _ = compiled_case(seed)
        chosen = METHODS[method]()
        if not used_families(compiled.instance, compiled.model) <= chosen.support.families:
            continue
        answer = chosen.solve(
            compiled, budget=Limits().start(), recorder=Recorder(lambda: 0.0), start=None, seed=0, threads=1, gap=0.0
        )
        tried += 1
        assert answer.bounds == (None,) * len(compiled.model.levels), "neither proves anything"
        if answer.assignment is None:
            assert answer.status is Status.UNKNOWN
            continue
        found = answer.assignment
        evaluation = check(
            compiled.instance, compiled.model, plan_of(compiled, found.counts, found.shares, found.theta)
        )
        assert evaluation.feasible, f"seed {seed}: {evaluation.violations[0]}"
        assert answer.claims == evaluation.levels, f"seed {seed}"
        plans += 1
    assert tried > 80
    assert plans > 0.6 * tried


def test_members_are_dealt_evenly_and_the_next_class_goes_on_where_the_last_one_ended() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 100}) for i in range(4)]
    instance = build(*nodes, workloads=[workload("a", 10, {"cpu": 1}), workload("b", 3, {"cpu": 1})])
    found = by_node(instance, COST, "uniform")
    assert found["a"] == {"n0": 3, "n1": 3, "n2": 2, "n3": 2}
    assert found["b"] == {"n2": 1, "n3": 1, "n0": 1}


def test_what_does_not_fit_stays_out_only_where_it_may() -> None:
    nodes = [node("small", capacity={"cpu": 2}), group("rack", "r", node("large", capacity={"cpu": 20}))]
    instance = build(*nodes, workloads=[workload("a", 10, {"cpu": 1})])
    assert by_node(instance, PLACE, "uniform")["a"] == {"small": 2, "r/large": 5}
    assert by_node(instance, COST, "uniform")["a"] == {"small": 2, "r/large": 8}
    assert by_node(instance, PLACE, "adjust")["a"] == {"small": 1, "r/large": 9}, "room for all, and both less full"
    full = build(*nodes, workloads=[workload("a", 23, {"cpu": 1})])
    assert solve(full, COST, method="uniform").status is Status.UNKNOWN


def test_the_nearest_node_with_room_takes_what_does_not_fit() -> None:
    racks = [
        group("rack", f"r{i}", node("x", capacity={"cpu": size}), node("y", capacity={"cpu": 4}))
        for i, size in enumerate((1, 4))
    ]
    instance = build(*racks, workloads=[workload("a", 8, {"cpu": 1})])
    assert by_node(instance, COST, "uniform")["a"] == {"r0/x": 1, "r0/y": 3, "r1/x": 2, "r1/y": 2}


def test_load_moves_off_the_fullest_resource() -> None:
    nodes = [node("small", capacity={"cpu": 10, "gpu": 8}), node("large", capacity={"cpu": 40, "gpu": 8})]
    instance = build(*nodes, workloads=[workload("a", 20, {"cpu": 1}), workload("b", 4, {"gpu": 2})])
    even = solve(instance, PEAK, method="uniform").levels[0].value
    adjusted = solve(instance, PEAK, method="adjust", threads=1)
    assert even == 1
    assert adjusted.levels[0].value == F(1, 2), "four of ten cores, sixteen of forty, half of either's accelerators"
    assert adjusted.termination.reason is TerminationReason.CONVERGED


def test_members_of_a_team_move_together_where_an_uplink_is_the_bottleneck() -> None:
    racks = [
        group("rack", f"r{i}", *(node(f"n{j}", capacity={"cpu": 9}) for j in range(2)), uplink=Uplink(F(100)))
        for i in range(2)
    ]
    teams = team("t", 4, {"a": 2}, 20)
    instance = build(*racks, workloads=[workload("a", 8, {"cpu": 1})], teams=(teams,))
    goals = model("congestion")
    even, adjusted = (solve(instance, goals, method=name, threads=1).levels[0].value for name in ("uniform", "adjust"))
    assert even is not None
    assert adjusted is not None
    assert adjusted <= even


def test_an_iteration_limit_counts_moves_and_a_better_start_is_kept() -> None:
    nodes = [node("small", capacity={"cpu": 10}), node("large", capacity={"cpu": 40})]
    instance = build(*nodes, workloads=[workload("a", 20, {"cpu": 1})])
    few = solve(instance, PEAK, method="adjust", iterations=2, threads=1)
    assert few.termination.reason is TerminationReason.ITERATION_LIMIT
    assert few.levels[0].value == F(8, 10)
    whole = solve(instance, PEAK, method="milp", threads=1)
    for method in ("uniform", "adjust"):
        again = solve(instance, PEAK, method=method, warm_start=whole.plan, iterations=1, threads=1)
        assert again.levels[0].value == whole.levels[0].value


def test_loads_kept_while_moving_are_those_of_the_evaluation() -> None:
    compared = 0
    for seed in range(300):
        compiled, _ = compiled_case(seed)
        if not (compiled.teams or compiled.pairs or compiled.groups):
            continue
        rng = random.Random(seed)
        first, second = random_assignment(compiled, rng), random_assignment(compiled, rng)
        links = LinkLoads(compiled)
        members = [(block, node) for (block, _, node), count in first.counts.items() for _ in range(count)]
        for block, where in members:
            links.shift(block, where, 1)
        rng.shuffle(members)
        for block, where in members:
            links.shift(block, where, -1)
        assert np.allclose(links.up, 0, atol=1e-6)
        for (block, _, where), count in second.counts.items():
            for _ in range(count):
                links.shift(block, where, 1)
        up, down = np.zeros(compiled.num_domains), np.zeros(compiled.num_domains)
        for flow in flow_crossings(compiled, second.counts):
            for domain, number in flow.up.items():
                up[domain] += float(flow.rate) * number
            for domain, number in flow.down.items():
                down[domain] += float(flow.rate) * number
        assert np.allclose(links.up, up, atol=1e-6), f"seed {seed}"
        assert np.allclose(links.down, down, atol=1e-6), f"seed {seed}"
        compared += 1
    assert compared > 100


def test_room_for_many_nodes_is_room_at_each_and_taking_back_restores_it() -> None:
    for seed in range(150):
        compiled, _ = compiled_case(seed)
        rng = random.Random(seed)
        room = Room(compiled)
        before = room.free.copy()
        put: list[tuple[int, int, int]] = []
        for _ in range(12):
            if not compiled.blocks:
                break
            block = rng.randrange(len(compiled.blocks))
            option = rng.choice(list(compiled.options_of(compiled.blocks[block].workload)))
            mask = room.mask(block, option)
            each = [room.room_at(block, option, n) > 0 for n in range(compiled.num_nodes)]
            assert mask.tolist() == each, f"seed {seed}"
            if mask.any():
                put.append((block, option, int(rng.choice(np.nonzero(mask)[0].tolist()))))
                room.put(*put[-1])
        for spot in put:
            room.put(*spot, -1)
        assert (room.free == before).all()
        assert not room.counts


def test_power_caps_hold_while_dealing() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 10}, power=Power(F(10), F(30))) for i in range(3)]
    instance = build(group("rack", "r", *nodes, capacity={"power": 50}), workloads=[workload("a", 12, {"cpu": 2})])
    found = by_node(instance, PLACE, "uniform")["a"]
    watts = sum(10 + 20 * F(2 * count, 10) for count in found.values())
    assert watts <= 50
    assert watts + 4 > 50, "one more member draws 4 W"


def test_moves_that_break_a_spread_or_a_dependency_are_not_allowed() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 10}) for i in range(3)]
    classes = [workload("a", 2, {"cpu": 1}), workload("b", 1, {"cpu": 1})]
    instance = build(*nodes, workloads=classes)
    rules = replace(instance, spreads=(Spread("a", "node", 2),), dependencies=(Dependency("b", "a", "node"),))
    compiled = compile_instance(rules, COST)
    counts = {(0, 0, 0): 1, (0, 0, 1): 1, (1, 1, 0): 1}
    guard = MoveRules(compiled, counts)
    assert not guard.allow(0, 0, 1), "then a would stand on one node alone"
    assert not guard.allow(0, 0, 2), "then b would stand without a"
    assert guard.allow(0, 1, 2)
    assert guard.allow(1, 0, 1)
    assert not guard.allow(1, 0, 2)


def test_conflicts_and_gangs_hold() -> None:
    whole = {
        "format": "allocator/v1",
        "name": "rules",
        "topology": [
            {
                "level": "rack",
                "name": "r",
                "count": 2,
                "children": [{"level": "node", "name": "n", "count": 3, "capacity": {"cpu": 4}}],
            }
        ],
        "workloads": [
            {
                "class": "a",
                "count": 6,
                "requests": {"cpu": 1},
                "placement": {"conflict": {"level": "node", "at_most": 1}},
            },
            {"class": "g", "count": 6, "requests": {"cpu": 1}, "placement": {"gang": {"size": 3, "level": "rack"}}},
        ],
    }
    for method in ("uniform", "adjust"):
        result = solve(instance_from_dict(whole), {"uniform": COST, "adjust": PEAK}[method], method=method, threads=1)
        assert result.evaluation is not None
        assert result.evaluation.feasible


def test_conflict_is_kept_by_the_split() -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 10}) for i in range(2)]
    instance = replace(build(*nodes, workloads=[workload("a", 5, {"cpu": 1})]), conflicts=(Conflict("a", "node", 2),))
    assert by_node(instance, PLACE, "uniform")["a"] == {"n0": 2, "n1": 2}


@pytest.mark.parametrize("method", ["uniform", "adjust"])
def test_members_with_a_target_get_the_compute_it_needs(method: str) -> None:
    nodes = [node(f"n{i}", capacity={"cpu": 4000}) for i in range(2)]
    waiting = workload("a", 8, {"cpu": 100}, compute={"cpu": F(1, 2)}, rate=1, slo=Slo(F(6)))
    result = solve(build(*nodes, workloads=[waiting]), PLACE, method=method, threads=1)
    assert result.plan is not None
    assert result.evaluation is not None
    assert result.evaluation.feasible
    shares = [group.shares["cpu"] for group in result.plan.placements]
    assert min(shares) >= 884, "half a core of work a second, and ln 100 / 6 s times half a core on top"
    assert result.levels[0].value == 8
