"""P99, path delays and least shares by the solvers' arrays are what checker and oracle find, exactly."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import assignment_of, plan_of
from allocator.instance import instance_from_dict
from allocator.instance.entities import Flow, Slo, Uplink
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.delays import path_delays
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.response import LN_100, exact_sum, least_share, least_shares, p99_value, server_of
from tests.builders import build, group, model, node, team, workload
from tests.oracle.brute_force import row_plan
from tests.oracle.placements import TooMany, Usage, enumerate_placements
from tests.oracle.random_instances import random_case
from tests.oracle.response import delays as oracle_delays
from tests.oracle.tiny import Tiny
from tests.solvers.random_assignments import random_assignment

F = Fraction


def judged(seed: int) -> Compiled:
    """A random instance with response times, under its other goals and ``p99``, a level each."""
    case = random_case(seed, bent=True)
    goals = [goal for level in case.model.levels for goal in level.goals if goal.id is not GoalId.P99]
    levels = [Level((goal,)) for goal in goals] + [Level((Goal(GoalId.P99, worst=seed % 2 == 0),))]
    return compile_instance(instance_from_dict(case.document), Model("judged", "", tuple(levels)))


@pytest.mark.parametrize("block", range(3))
def test_p99_has_the_checkers_value_on_random_assignments(block: int) -> None:
    moved = 0
    for seed in range(block, 240, 3):
        compiled = judged(seed)
        assignment = random_assignment(compiled, random.Random(seed))
        plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
        found = level_values(compiled, assignment)
        assert found == check(compiled.instance, compiled.model, plan).levels, f"seed {seed}"
        moved += found[-1] > 0
    assert moved > 30


def test_delays_and_least_shares_are_the_oracles_on_random_placements() -> None:
    """The oracle goes pair by pair; a placement some member of which can never have enough has no least shares."""
    delayed = asked = never = 0
    for seed in range(160):
        compiled = judged(seed)
        tiny = Tiny(compiled.instance, compiled.model)
        try:
            usage = Usage(tiny, enumerate_placements(tiny), served=True)
        except TooMany:
            continue
        late, denominator = oracle_delays(tiny, usage.node)
        met = usage.met.all(axis=1)
        for row in random.Random(seed).sample(range(len(usage.rows)), min(4, len(usage.rows))):
            counts, _, _ = assignment_of(compiled, row_plan(tiny, usage.rows[row]))
            found = path_delays(compiled, counts)
            by_member = {}
            for member, where in enumerate(usage.node[row].tolist()):
                entity = tiny.members[member]
                if where >= 0:
                    by_member[entity.workload.index, entity.number] = F(int(late[row, member]), denominator)
            for block in {spot[0] for spot in counts}:
                entry = compiled.blocks[block]
                mine = {
                    by_member.get((entry.workload, n)) for first, c in entry.ranges for n in range(first, first + c)
                }
                assert mine - {None} == {found.get(block, F(0))}, f"seed {seed}"
            delayed += bool(found)
            least = least_shares(compiled, counts)
            assert (least is not None) == bool(met[row]), f"seed {seed}"
            never += least is None
            asked += bool(least)
    assert delayed > 20
    assert asked > 50
    assert never > 5


def test_the_least_share_is_the_fewest_units_that_the_checker_accepts() -> None:
    """At 2/s, 100 ms: a P99 of 1 s needs 0.1 (2 + K) = 660.6 millicores; with 250 ms on the way more."""
    classes = [workload("a", 1, {"cpu": 10}, rate=2, compute={"cpu": F(1, 10)}, slo=Slo(F(1)))]
    compiled = compile_instance(build(node("n", capacity={"cpu": 4000}), workloads=classes), model("nodes"))
    assert least_share(compiled, 0, 0) == 661
    assert least_share(compiled, 0, 0, F(1, 4)) == -(-1000 * (F(2) + LN_100 / F(3, 4)) // 10)
    assert least_share(compiled, 0, 0, F(1)) is None
    for share, feasible in ((660, False), (661, True)):
        plan = plan_of(compiled, {(0, 0, 0): 1}, {(0, 0, 0, 0): share}, {})
        assert check(compiled.instance, compiled.model, plan).feasible is feasible


@pytest.mark.parametrize(
    ("fields", "least"),
    [
        ({"rate": 2}, 202),
        ({"rate": 0}, 1),
        ({"rate": 2, "requests": {"cpu": 300}}, 300),
        ({"rate": 20}, None),
        ({"rate": 2, "limits": {"cpu": 201}}, None),
        ({"rate": 20, "parallel": 3}, 2020),
    ],
)
def test_a_critical_member_needs_a_hundredth_more_than_what_arrives(fields: dict[str, object], least: int) -> None:
    """One core at most by default, a whole unit where nothing arrives, never below the floor or above the ceiling."""
    classes = [workload("a", 1, compute={"cpu": F(1, 10)}, slo=Slo(critical=True), **fields)]  # type: ignore[arg-type]
    compiled = compile_instance(build(node("n", capacity={"cpu": 4000}), workloads=classes), model("p99"))
    assert least_share(compiled, 0, 0) == least
    assert least_share(compile_instance(compiled.instance, model("nodes")), 0, 0) == 0


def test_remainders_of_a_total_are_judged_member_by_member() -> None:
    """Three members with 1000 millicores: 334, 333, 333."""
    classes = [workload("a", 3, rate=1, weight=2, compute={"cpu": F(1, 10)}, slo=Slo(critical=True))]
    compiled = compile_instance(build(node("n", capacity={"cpu": 4000}), workloads=classes), model("p99"))
    assignment = Assignment({(0, 0, 0): 3}, {(0, 0, 0, 0): 1000})
    server = server_of(compiled, 0, 0)
    assert server is not None
    each = [LN_100 / (F(share, 100) - 1) for share in (334, 333)]
    assert p99_value(compiled, assignment, worst=False) == 2 * (each[0] + 2 * each[1])
    assert p99_value(compiled, assignment, worst=True) == 2 * each[1]


def test_delays_of_teams_pairs_and_entries_add_up_to_the_longest() -> None:
    """Latencies 1, 2, 4 ms of racks, 1 ms of nodes: a team over two racks waits longer than over one."""
    ms = F(1, 1000)
    racks = [
        group(
            "rack",
            f"r{i}",
            *(node(f"n{j}", capacity={"cpu": 9}, uplink=Uplink(latency=ms)) for j in range(2)),
            uplink=Uplink(latency=ms * 2**i),
        )
        for i in range(3)
    ]
    classes = [workload("a", 4), workload("b", 2), workload("c", 1)]
    flows = (Flow("b", "c", "broadcast", rate=F(3)), Flow("c", "b", "pairs", pairs=((0, 1, F(0)),)))
    instance = build(*racks, workloads=classes, teams=(team("t", 2, {"a": 2}, 1),), flows=flows)
    compiled = compile_instance(instance, model("nodes"))
    blocks = {(block.workload, block.ranges[0][0]): block.index for block in compiled.blocks}
    where = {blocks[0, 0]: [0, 1], blocks[0, 2]: [0, 5], blocks[1, 0]: [2, 2], blocks[2, 0]: [4]}
    if (1, 1) in blocks:
        where[blocks[1, 0]] = [2]
        where[blocks[1, 1]] = [2]
    counts: dict[tuple[int, int, int], int] = {}
    for block, nodes in where.items():
        for place in nodes:
            key = block, compiled.blocks[block].workload, place
            counts[key] = counts.get(key, 0) + 1
    found = path_delays(compiled, counts)
    assert found[blocks[0, 0]] == 2 * ms
    assert found[blocks[0, 2]] == (1 + 1 + 4 + 1) * ms
    assert found[blocks[2, 0]] == found[blocks[1, 0]] == (1 + 2 + 4 + 1) * ms


def test_many_fractions_are_added_exactly() -> None:
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 3, 7, 40):
        terms = [F(int(a), int(b)) for a, b in rng.integers(1, 10**6, (size, 2))]
        assert exact_sum(terms) == sum(terms, F(0))
