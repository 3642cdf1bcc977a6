"""Packing into several groups of nodes against enumeration and the checker."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.instance.entities import Demand, Instance, Mode
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget, Limits
from allocator.solvers.decomposition.packing.stage import Packing
from allocator.solvers.decomposition.stage import StageAnswer
from allocator.solvers.recorder import Recorder
from tests.builders import build, model, node, workload

NODES = model("nodes")


def random_instance(seed: int) -> Instance:
    """Up to five nodes of up to three kinds, weights, a zone that some classes need, up to six members."""
    rng = np.random.default_rng(seed)
    kinds = [("k0", 10), ("k1", 16), ("k2", 7)][: int(rng.integers(2, 4))]
    weight = {kind: Fraction(int(rng.integers(1, 6)), 2) for kind, _ in kinds}
    hosts = []
    for index in range(int(rng.integers(2, 6))):
        kind, cpu = kinds[index % len(kinds)]
        zone = {"zone": "ab"[int(rng.integers(2))]}
        hosts.append(
            node(f"h{index}", kind=kind, capacity={"cpu": cpu, "memory": 20}, labels=zone, weight=weight[kind])
        )
    classes = []
    for w in range(int(rng.integers(1, 4))):
        by_kind = {kind: Demand({"cpu": int(rng.integers(0, 8)), "memory": 3}) for kind, _ in kinds}
        require = {"zone": ("a",)} if rng.random() < 0.2 else {}
        modes = [Mode("default", Demand(), by_kind)]
        classes.append(workload(f"w{w}", int(rng.integers(1, 3)), modes=modes, require=require))
    return build(*hosts, workloads=classes)


def lightest(instance: Instance) -> tuple[Fraction | None, Assignment | None]:
    """Over all placements of members, in exact amounts straight from the instance; and the heaviest feasible one."""
    best: Fraction | None = None
    worst: tuple[Fraction, Assignment] | None = None
    compiled = compile_instance(instance, NODES)
    members = [block.index for block in compiled.blocks for _ in range(block.count)]
    for spots in itertools.product(range(len(instance.nodes)), repeat=len(members)):
        use = np.zeros((len(instance.nodes), 2), dtype=np.int64)
        counts: dict[tuple[int, int, int], int] = {}
        for block, spot in zip(members, spots, strict=True):
            entity = instance.workloads[compiled.blocks[block].workload]
            host = instance.nodes[spot]
            if any(host.labels[label] not in values for label, values in entity.placement.require.items()):
                break
            requests = entity.modes[0].demand(str(host.kind)).requests
            use[spot] += [requests["cpu"], requests["memory"]]
            counts[block, block, spot] = counts.get((block, block, spot), 0) + 1
        else:
            limits = [[host.capacity["cpu"], host.capacity["memory"]] for host in instance.nodes]
            if (use <= limits).all():
                weight = sum((instance.nodes[spot].weight for spot in set(spots)), Fraction(0))
                best = weight if best is None else min(best, weight)
                if worst is None or weight > worst[0]:
                    worst = weight, Assignment(counts)
    return best, None if worst is None else worst[1]


def run(instance: Instance, start: Assignment | None, budget: Budget) -> StageAnswer:
    compiled = compile_instance(instance, NODES)
    return Packing().run(compiled, budget=budget, recorder=Recorder(budget.elapsed), start=start, seed=0, threads=1)


def value_of(instance: Instance, assignment: Assignment) -> Fraction:
    plan = plan_of(compile_instance(instance, NODES), assignment.counts, assignment.shares, assignment.theta)
    evaluation = check(instance, NODES, plan)
    assert evaluation.feasible, evaluation.violations
    assert not plan.unplaced
    value = evaluation.levels[0]
    assert value is not None
    return value


@pytest.mark.parametrize("seed", range(120))
def test_bounds_never_exceed_the_optimum_and_plans_are_accepted(seed: int) -> None:
    instance = random_instance(seed)
    if not Packing().applies(compile_instance(instance, NODES)):
        pytest.skip("a member fits no node")
    best, heavy = lightest(instance)
    ticks = itertools.count()
    hurried = Limits(float(seed % 20 + 2)).start(clock=lambda: float(next(ticks)))
    for start in (None, heavy):
        for budget in (Limits(30).start(), hurried):
            answer = run(instance, start, budget)
            if best is None:
                assert answer.assignment is None
                continue
            assert answer.bound is None or answer.bound <= best
            if answer.assignment is not None:
                value = value_of(instance, answer.assignment)
                assert value >= best
                assert answer.optimal == (value == answer.bound)
                assert heavy is None or start is None or value <= value_of(instance, heavy)
            else:
                assert start is None
                assert not answer.optimal


def test_two_kinds_are_mixed_and_proven() -> None:
    """Twelve of size 5: large nodes hold 3 at weight 2, small ones 1 at weight 1; there are only two large ones."""
    hosts = [node(f"l{i}", kind="large", capacity={"cpu": 15}, weight=Fraction(2)) for i in range(2)]
    hosts += [node(f"s{i}", kind="small", capacity={"cpu": 9}, weight=Fraction(1)) for i in range(9)]
    instance = build(*hosts, workloads=[workload("w", 12, {"cpu": 5})])
    answer = run(instance, None, Limits(30).start())
    assert answer.optimal
    assert answer.bound == 2 * 2 + 6
    assert answer.assignment is not None
    assert value_of(instance, answer.assignment) == 10


def test_a_node_without_any_limit_holds_only_those_that_need_nothing() -> None:
    hosts = [node("x", kind="bare", weight=Fraction(1)), node("h", capacity={"cpu": 9}, weight=Fraction(3))]
    for needs, best in (({"cpu": 5}, 3), ({}, 1)):
        instance = build(*hosts, workloads=[workload("a", 1, needs), workload("b", 4)])
        answer = run(instance, None, Limits(30).start())
        assert answer.optimal
        assert answer.assignment is not None
        assert value_of(instance, answer.assignment) == answer.bound == best
