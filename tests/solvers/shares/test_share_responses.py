"""Shares for targets and goals on response times: as good as an independent convex program, exact in whole units."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import assignment_of, plan_of
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance, Power, Slo, Uplink
from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.shares.cohorts import cohorts_of
from allocator.solvers.shares.easy import Hard, easy_shares
from allocator.solvers.shares.grants import links_of
from allocator.solvers.shares.lexicographic import programmed_shares
from allocator.solvers.shares.optimum import optimal_shares
from allocator.solvers.shares.share_plan import SharePlan
from tests.builders import build, group, model, node, team, workload
from tests.oracle.brute_force import row_plan
from tests.oracle.goals import MOVED_BY_SHARES, RATE_GOALS, goal_values
from tests.oracle.placements import TooMany, Usage, enumerate_placements, feasibility
from tests.oracle.random_instances import random_case
from tests.oracle.share_problem import ShareProblem
from tests.oracle.tiny import Tiny

Counts = dict[tuple[int, int, int], int]
F = Fraction
WORST = Goal(GoalId.P99, worst=True)


def bent_placements(seeds: range, each: int) -> Iterator[tuple[int, Compiled, Counts, ShareProblem]]:
    """Feasible placements of random instances with curves and response times, with the oracle's program of each."""
    for seed in seeds:
        case = random_case(seed, bent=True)
        instance = instance_from_dict(case.document)
        compiled = compile_instance(instance, case.model)
        tiny = Tiny(instance, case.model)
        try:
            usage = Usage(tiny, enumerate_placements(tiny), served=True)
        except TooMany:
            continue
        rows = np.nonzero(np.logical_and.reduce(list(feasibility(usage).values())))[0]
        fixed = {
            goal.id: goal_values(usage, goal)
            for level in case.model.levels
            for goal in level.goals
            if goal.id not in RATE_GOALS | MOVED_BY_SHARES
        }
        for row in random.Random(seed).sample(rows.tolist(), min(each, len(rows))):
            known = {goal: values.exact(row) for goal, values in fixed.items()}
            counts, _, _ = assignment_of(compiled, row_plan(tiny, usage.rows[row]))
            if counts:
                yield seed, compiled, counts, ShareProblem(tiny, usage, row, known)


def checked(compiled: Compiled, found: SharePlan) -> tuple[Fraction, ...]:
    """Values of the levels, which the checker finds too, in a plan that it calls feasible."""
    assignment = found.assignment
    plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
    evaluation = check(compiled.instance, compiled.model, plan)
    assert evaluation.feasible, evaluation.violations[:2]
    values = level_values(compiled, assignment)
    assert values == evaluation.levels
    return values


@pytest.mark.parametrize("block", range(3))
def test_the_first_level_is_as_good_as_scipys_convex_program_says_and_every_limit_holds(block: int) -> None:
    compared = 0
    for seed, compiled, counts, problem in bent_placements(range(block, 150, 3), 2):
        found = optimal_shares(compiled, counts)
        assert found is not None, f"seed {seed}"
        values = checked(compiled, found)
        level = compiled.model.levels[0]
        best = problem.minimise(level, [])
        assert best is not None
        sign = -1 if level.sense == "max" else 1
        assert sign * float(values[0]) == pytest.approx(best.value, rel=2e-8, abs=1e-9), f"seed {seed}"
        compared += 1
    assert compared > 40


def test_closed_forms_and_programs_agree() -> None:
    """Where floors decide, the linear program with its tangents finds the same values of all levels."""
    agreed = bent = 0
    for seed, compiled, counts, _ in bent_placements(range(130), 2):
        links = links_of(compiled, counts)
        cohorts = cohorts_of(compiled, counts, links)
        assert cohorts is not None
        try:
            easy = easy_shares(cohorts, links, ())
        except Hard:
            continue
        programmed = programmed_shares(cohorts, links, ())
        assert easy is not None
        assert programmed is not None
        for level, mine, other in zip(
            compiled.model.levels, checked(compiled, easy), checked(compiled, programmed), strict=True
        ):
            assert float(mine) == pytest.approx(float(other), rel=1e-8, abs=1e-9), f"seed {seed}: {level}"
            bent += GoalId.P99 in {goal.id for goal in level.goals}
        agreed += 1
    assert agreed > 40
    assert bent > 15


def queue_node(capacity: int, members: int = 3, **fields: Any) -> Instance:
    """One node of ``capacity`` millicores; quick critical members, a slow one with a target of 8 s, and another."""
    classes = [
        workload("quick", members, rate=2, weight=2, compute={"cpu": F(1, 10)}, slo=Slo(critical=True)),
        workload("slow", 1, rate=F(1, 2), compute={"cpu": F(1, 2)}, slo=Slo(F(8), critical=True)),
        workload("other", 1, {"cpu": 100}, rate=1, compute={"cpu": F(3, 10)}),
    ]
    return build(node("n", capacity={"cpu": capacity}, **fields), workloads=classes)


EVERYBODY: Counts = {(0, 0, 0): 3, (1, 1, 0): 1, (2, 2, 0): 1}


def value_of(compiled: Compiled, quick: int, slow: int) -> Fraction:
    """Sum of response times at totals of the two critical classes."""
    return level_values(compiled, Assignment(EVERYBODY, {(0, 0, 0, 0): quick, (1, 1, 0, 0): slow}))[0]


@pytest.mark.parametrize("capacity", [1300, 1500, 2100, 2777])
def test_whole_units_are_divided_as_well_as_trying_all_says(capacity: int) -> None:
    compiled = compile_instance(queue_node(capacity), model("p99"))
    found = optimal_shares(compiled, EVERYBODY)
    assert found is not None
    (value,) = checked(compiled, found)
    least_slow = -(-500 * (F(1, 2) + LN_100 / 8) // 1)
    slow = range(int(least_slow), min(1000, capacity - 100 - 606) + 1)
    assert value == min(value_of(compiled, min(3000, capacity - 100 - units), units) for units in slow)
    shares = found.assignment.shares
    assert shares[0, 0, 0, 0] + shares[1, 1, 0, 0] == capacity - 100


def test_the_price_of_a_core_is_what_one_more_saves() -> None:
    """The closed form: A^2 / S^2, where no floor of a target binds."""
    instance = queue_node(2500)
    compiled = compile_instance(instance, model("p99"))
    found = optimal_shares(compiled, EVERYBODY)
    more = optimal_shares(compile_instance(queue_node(2520), model("p99")), EVERYBODY)
    assert found is not None
    assert more is not None
    saved = checked(compiled, found)[0] - checked(compile_instance(queue_node(2520), model("p99")), more)[0]
    assert found.prices[1, "cpu"] == pytest.approx(float(saved) / 0.02, rel=0.02)
    spread = 3 * (2 * 0.1 * float(LN_100)) ** 0.5 + (0.5 * float(LN_100)) ** 0.5
    slack = 2.4 - 3 * 0.2 - 0.25
    assert found.prices[1, "cpu"] == pytest.approx((spread / slack) ** 2, rel=1e-3)


def test_the_price_of_a_watt_is_what_one_more_saves() -> None:
    """2.2 of 4 cores may be used: 230 W of the 410 W that a busy node draws."""
    inner = node("n", capacity={"cpu": 4000}, power=Power(F(10), F(410)))
    values = []
    for watts in (230, 231):
        rack = group("rack", "r", inner, capacity={"power": watts})
        compiled = compile_instance(build(rack, workloads=queue_node(4000).workloads), model("p99"))
        found = optimal_shares(compiled, EVERYBODY)
        assert found is not None
        values.append((checked(compiled, found)[0], found.prices))
    (value, prices), (after, _) = values
    assert prices[1, "power"] == pytest.approx(float(value - after), rel=0.02)
    assert prices[2, "cpu"] == 0


def test_the_smallest_worst_response_time_is_the_best_of_all_whole_units() -> None:
    compiled = compile_instance(queue_node(1700), model(WORST))
    found = optimal_shares(compiled, EVERYBODY)
    assert found is not None
    (value,) = checked(compiled, found)
    best = min(
        max(2 * LN_100 / (F(quick, 100) - 2), LN_100 / (F(slow, 500) - F(1, 2)))
        for quick, slow in itertools.product(range(202, 534), range(254, 1001))
        if 3 * quick + slow <= 1600
    )
    assert value == best
    compiled = compile_instance(queue_node(1720), model(WORST))
    more = optimal_shares(compiled, EVERYBODY)
    assert more is not None
    assert found.prices[1, "cpu"] == pytest.approx(float(value - checked(compiled, more)[0]) / 0.02, rel=0.15)


def test_worst_response_times_count_the_way_and_stop_at_what_one_member_can_use() -> None:
    """A pair over two racks of 1 s latency: 2 s on the way; with cores to spare the use of one core is the limit."""
    racks = [group("rack", f"r{i}", node("n", capacity={"cpu": 5000}), uplink=Uplink(latency=F(1))) for i in range(2)]
    classes = [workload("a", 2, rate=2, compute={"cpu": F(1, 10)}, slo=Slo(critical=True))]
    instance = build(*racks, workloads=classes, teams=(team("t", 1, {"a": 2}, 1),))
    compiled = compile_instance(instance, model(WORST))
    found = optimal_shares(compiled, {(0, 0, 0): 1, (0, 0, 1): 1})
    assert found is not None
    assert checked(compiled, found) == (LN_100 / 8 + 2,)
    assert not any(found.prices.values())


@pytest.mark.parametrize("goal", [Goal(GoalId.P99), WORST])
def test_a_later_level_gets_what_an_earlier_response_time_gives_away(goal: Goal) -> None:
    """With 10 % to give, the other class completes more tasks; with nothing, what is left over at best."""
    gained = []
    for slack in (Slack(), Slack(F(1, 10), True)):
        levels = (Level((goal,), slack), Level((Goal(GoalId.THROUGHPUT),)))
        compiled = compile_instance(queue_node(1500), Model("m", "", levels))
        best = optimal_shares(compiled, EVERYBODY)
        assert best is not None
        reached = checked(compiled, best)[0]
        found = optimal_shares(compiled, EVERYBODY, [reached])
        assert found is not None
        first, second = checked(compiled, found)
        assert first <= (reached + slack.allowance(reached)) * (1 + F(1, 10**9))
        gained.append(second)
        assert optimal_shares(compiled, EVERYBODY, [reached * F(4, 5)]) is None
    assert gained[1] > gained[0] + F(1, 100)


def test_rates_first_and_response_times_from_what_is_left() -> None:
    compiled = compile_instance(queue_node(1500), model("throughput", "p99"))
    found = optimal_shares(compiled, EVERYBODY)
    assert found is not None
    tasks, waited = checked(compiled, found)
    assert tasks == 2 * 3 * 2 + F(1, 2) + 1
    alone = optimal_shares(compile_instance(queue_node(1300), model("p99")), EVERYBODY)
    assert alone is not None
    assert waited == checked(compile_instance(queue_node(1300), model("p99")), alone)[0]


@pytest.mark.parametrize("goals", [model("p99"), model("throughput", "p99"), model(WORST), model("nodes")])
def test_floors_of_targets_fill_the_node_or_do_not_fit(goals: Model) -> None:
    """Quick members need 202 each, the slow one 500 (1/2 + K/8), the other 100; with one unit less there is no plan."""
    least = (0 if goals.goal_ids == (GoalId.NODES,) else 3 * 202) + int(-(-500 * (F(1, 2) + LN_100 / 8) // 1)) + 100
    compiled = compile_instance(queue_node(least), goals)
    found = optimal_shares(compiled, EVERYBODY)
    assert found is not None
    checked(compiled, found)
    assert optimal_shares(compile_instance(queue_node(least - 1), goals), EVERYBODY) is None


def test_targets_raise_shares_where_no_goal_is_about_rates() -> None:
    """And nothing else: critical members without a target stay at their floor of nothing."""
    compiled = compile_instance(queue_node(4000), model("power"))
    found = optimal_shares(compiled, EVERYBODY)
    assert found is not None
    checked(compiled, found)
    assert found.assignment.shares == {(1, 1, 0, 0): int(-(-500 * (F(1, 2) + LN_100 / 8) // 1))}
    assert not found.assignment.theta
    without = compile_instance(compiled.instance, replace(model("power"), ignore=frozenset({Family.SLO})))
    plain = optimal_shares(without, EVERYBODY)
    assert plain is not None
    assert not plain.assignment.shares


def test_grants_that_no_goal_feels_are_shared_in_proportion() -> None:
    """Under ``p99`` alone a link at twice its bandwidth grants half to everybody."""
    racks = [group("rack", f"r{i}", node("n", capacity={"cpu": 9000}), uplink=Uplink(F(4))) for i in range(2)]
    classes = [workload("a", 4, rate=1, compute={"cpu": F(1, 10)}, slo=Slo(critical=True))]
    instance = build(*racks, workloads=classes, teams=(team("t", 1, {"a": 4}, 2),))
    compiled = compile_instance(instance, model("p99"))
    found = optimal_shares(compiled, {(0, 0, 0): 2, (0, 0, 1): 2})
    assert found is not None
    checked(compiled, found)
    assert found.assignment.theta == {("team", 0): F(1, 2)}


def claims(teams: int) -> Instance:
    """Teams of five on hosts of 8 cores with links that carry everything."""
    hosts = [
        node(f"n{i}", capacity={"cpu": 8 * 10**12}, uplink=Uplink(F(10**9), latency=F(1, 10**6))) for i in range(40)
    ]
    racks = [group("rack", f"r{i}", *hosts[i::4], uplink=Uplink(F(10**10))) for i in range(4)]
    names = {"a": 3, "b": 2}
    classes = [
        workload(name, teams * size, {"cpu": 10**11}, rate=1, compute={"cpu": F(1, 5)}, slo=Slo(critical=name == "a"))
        for name, size in names.items()
    ]
    resources = {"cpu": replace(build().resources["cpu"], exponent=-12)}
    return build(*racks, workloads=classes, teams=(team("t", teams, names, 1000),), resources=resources)


@pytest.mark.parametrize("goals", [model("throughput"), model("fairness", "throughput"), model("p99"), model(WORST)])
def test_what_fits_in_full_needs_no_program(goals: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large instances are answered by arrays: a linear program would be seen here."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a linear program")

    monkeypatch.setattr("allocator.solvers.shares.lexicographic.programmed_shares", refuse)
    compiled = compile_instance(claims(160), goals)
    counts = {
        (block, compiled.blocks[block].workload, (entry.index + number) % 40): compiled.blocks[block].count
        for entry in compiled.teams
        for number, block in enumerate(entry.blocks)
    }
    found = optimal_shares(compiled, counts)
    assert found is not None
    values = checked(compiled, found)
    if GoalId.THROUGHPUT in goals.goal_ids:
        assert values[-1] == 160 * 5
    assert set(found.assignment.theta.values()) == {F(1)}


def test_what_no_goal_needs_lets_everybody_work_at_full_rate() -> None:
    """The worst response time stops at what one member can use; the other class, not critical, gets its cores too."""
    compiled = compile_instance(queue_node(9000), model(WORST))
    found = optimal_shares(compiled, EVERYBODY)
    assert found is not None
    checked(compiled, found)
    assert found.assignment.shares[2, 2, 0, 0] == 300
