"""Method ``cpsat`` on tiny instances: hand values, agreed by the checker; limits, starts, refusals."""

from __future__ import annotations

import threading
import time
from fractions import Fraction
from typing import Any

import pytest

import allocator.solvers.cpsat.engine  # noqa: F401  # loads OR-Tools before any clock of a test starts
from allocator.checker.check import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.errors import MethodRefused, UnsupportedFamily
from allocator.instance.load import instance_from_dict
from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.budget import Budget, Limits
from allocator.solvers.cpsat.method import CpsatMethod
from allocator.solvers.recorder import Recorder

Document = dict[str, Any]


def model(*levels: GoalId | Level, ignore: frozenset[Family] = frozenset()) -> Model:
    return Model("test", "", tuple(x if isinstance(x, Level) else Level((Goal(x),)) for x in levels), ignore)


def nodes(count: int, **more: Any) -> list[Document]:
    return [{"level": "node", "name": "n", "count": count, "kind": "a", **more}]


def document(topology: list[Document], workloads: list[Document], **more: Any) -> Document:
    return {"format": "allocator/v1", "name": "t", "topology": topology, "workloads": workloads, **more}


def answer(
    doc: Document,
    wanted: Model,
    *,
    budget: Budget | None = None,
    start: Assignment | None = None,
    gap: float = 0.0,
    threads: int = 1,
    recorder: Recorder | None = None,
) -> Answer:
    """Solve; whatever plan comes back holds for the checker and is worth what is claimed."""
    instance = instance_from_dict(doc)
    compiled = compile_instance(instance, wanted)
    budget = budget or Limits(60).start()
    found = CpsatMethod().solve(
        compiled,
        budget=budget,
        recorder=recorder or Recorder(budget.elapsed),
        start=start,
        seed=0,
        threads=threads,
        gap=gap,
    )
    if found.assignment is not None:
        a = found.assignment
        evaluation = check(instance, wanted, plan_of(compiled, a.counts, a.shares, a.theta))
        assert evaluation.violations == ()
        assert evaluation.levels == found.claims
    return found


def values(doc: Document, wanted: Model, **more: Any) -> tuple[Fraction | None, ...]:
    """Optimal values of all levels, proven."""
    found = answer(doc, wanted, **more)
    assert found.status is Status.OPTIMAL
    assert found.bounds == found.claims
    return found.claims


PAIR = {"level": "node", "kind": "a", "capacity": {"cpu": 2}}


def test_a_byte_too_much_is_left_out() -> None:
    doc = document(
        nodes(1, capacity={"memory": 100_000_000}), [{"class": "c", "count": 1, "requests": {"memory": 100_000_200}}]
    )
    assert values(doc, model(GoalId.PLACED)) == (0,)
    assert answer(doc, model(GoalId.COST)).status is Status.INFEASIBLE


def test_tenths_and_ninths_fit_exactly() -> None:
    doc = document(nodes(1, capacity={"cpu": 1}), [{"class": "c", "count": 11, "requests": {"cpu": "0.1"}}])
    assert values(doc, model(GoalId.PLACED)) == (10,)


def test_a_team_is_counted_by_what_it_splits() -> None:
    """Five members on nodes of 3: 2 stay outside, 2 * 2 * 3 pairs cross two uplinks each."""
    doc = document(
        nodes(2, capacity={"cpu": 3}),
        [{"class": "c", "count": 5, "requests": {"cpu": 1}}],
        teams=[{"team": "t", "count": 1, "members": {"c": 5}, "traffic": {"pattern": "all-to-all", "rate": "2 bit/s"}}],
    )
    assert values(doc, model(GoalId.TRAFFIC)) == (48,)


def test_a_team_is_placed_whole_or_not_at_all() -> None:
    doc = document(
        nodes(2, capacity={"cpu": 2}),
        [{"class": "c", "count": 7, "requests": {"cpu": 1}}],
        teams=[{"team": "t", "count": 2, "members": {"c": 3}, "traffic": {"pattern": "all-to-all", "rate": "1 bit/s"}}],
    )
    assert values(doc, model(GoalId.PLACED, GoalId.TRAFFIC)) == (4, 8)


def test_a_ring_over_two_switches_crosses_twice() -> None:
    doc = document(
        [
            {"level": "rack", "name": name, "children": nodes(1, capacity={"cpu": room}, uplink={"weight": 0})}
            for name, room in (("a", 3), ("b", 2))
        ],
        [{"class": "c", "count": 5, "requests": {"cpu": 1}}],
        flows=[{"from": "c", "to": "c", "pattern": "ring", "rate": "1 bit/s"}],
    )
    assert values(doc, model(GoalId.TRAFFIC)) == (4,)


@pytest.mark.parametrize("pattern", ["spread", "broadcast"])
def test_flows_between_classes_are_products_of_counts(pattern: str) -> None:
    """Two sources and three targets on nodes of 3 and 2: the best split separates 3 of the 6 pairs."""
    doc = document(
        [{**PAIR, "name": "big", "capacity": {"cpu": 3}}, {**PAIR, "name": "small"}],
        [{"class": "s", "count": 2, "requests": {"cpu": 1}}, {"class": "t", "count": 3, "requests": {"cpu": 1}}],
        flows=[{"from": "s", "to": "t", "pattern": pattern, "rate": "3 bit/s"}],
    )
    pair = 1 if pattern == "spread" else 3
    assert values(doc, model(GoalId.TRAFFIC)) == (pair * 3 * 2,)


def test_distances_may_come_from_a_matrix() -> None:
    names = ["n0", "n1", "n2"]
    matrix = {a: {b: 0 if a == b else 1 + 4 * (a == "n0") + 2 * (b == "n0") for b in names} for a in names}
    doc = document(
        nodes(3, capacity={"cpu": 1}),
        [{"class": "s", "count": 1, "requests": {"cpu": 1}}, {"class": "t", "count": 1, "requests": {"cpu": 1}}],
        flows=[{"from": "s", "to": "t", "pattern": "pair", "rate": "2 bit/s"}],
        distances={"matrix": matrix},
    )
    assert values(doc, model(GoalId.TRAFFIC)) == (2,)
    doc["workloads"][0]["placement"] = {"within": ["n0"]}
    assert values(doc, model(GoalId.TRAFFIC)) == (10,)


def test_rates_use_part_of_a_unit_of_share() -> None:
    """Parallel 0.25 cores in units of 0.1: three members do 3 * 2.5 units' work, on 9 of the 10 units."""
    work = {"rate": "9/s", "cpu": "100 ms", "parallel": "0.25"}
    doc = document(
        nodes(1, capacity={"cpu": 1}), [{"class": "c", "count": 3, "requests": {"cpu": "0.1"}, "work": work}]
    )
    assert values(doc, model(GoalId.THROUGHPUT)) == (Fraction(15, 2),)


def test_fairness_is_the_worst_part() -> None:
    doc = document(
        nodes(1, capacity={"cpu": 3}),
        [
            {"class": "c", "count": 1, "requests": {"cpu": 1}, "work": {"rate": "4/s", "cpu": "1 s", "parallel": 4}},
            {"class": "d", "count": 1, "requests": {"cpu": 1}, "work": {"rate": "2/s", "cpu": "1 s", "parallel": 4}},
        ],
    )
    assert values(doc, model(GoalId.FAIRNESS)) == (Fraction(1, 2),)


def test_rates_that_depend_on_granted_bandwidth_are_refused() -> None:
    doc = document(
        nodes(2, capacity={"cpu": 2}, uplink={"bandwidth": "1 bit/s"}),
        [{"class": "c", "count": 2, "requests": {"cpu": 1}, "work": {"rate": "1/s", "cpu": "1 s"}}],
        teams=[{"team": "t", "count": 1, "members": {"c": 2}, "traffic": {"pattern": "all-to-all", "rate": "1 bit/s"}}],
    )
    with pytest.raises(UnsupportedFamily, match="milp") as refused:
        answer(doc, model(GoalId.THROUGHPUT))
    assert refused.value.families == (Family.FABRIC,)
    assert values(doc, model(GoalId.THROUGHPUT, ignore=frozenset({Family.FABRIC}))) == (2,)
    assert values(doc, model(GoalId.TRAFFIC)) == (0,)


def test_members_that_compete_for_two_resources_are_refused_unless_alone() -> None:
    work = {"rate": "4/s", "cpu": "1 s", "parallel": 4, "memory": 2, "residence": "1 s"}
    doc = document(
        nodes(1, capacity={"cpu": 5, "memory": 9}),
        [{"class": "c", "count": 2, "requests": {"cpu": 1, "memory": 2}, "work": work}],
    )
    with pytest.raises(UnsupportedFamily) as refused:
        answer(doc, model(GoalId.THROUGHPUT))
    assert refused.value.families == (Family.RATES,)
    doc["workloads"][0]["count"] = 1
    assert values(doc, model(GoalId.THROUGHPUT)) == (4,)
    doc["workloads"][0]["limits"] = {"memory": 5}
    assert values(doc, model(GoalId.THROUGHPUT)) == (Fraction(5, 2),)


def test_a_later_level_uses_the_slack_of_an_earlier_one_and_no_more() -> None:
    """Spreading the load costs 1 on each further node; slack 1 allows one step, 7/8 none."""
    doc = document(
        nodes(3, capacity={"cpu": 3}),
        [{"class": "c", "count": 3, "requests": {"cpu": 1}, "cost": {"n0": 0, "n1": 1, "n2": 1}}],
    )
    for slack, expected in ((Fraction(1), (1, Fraction(2, 3))), (Fraction(7, 8), (0, 1)), (Fraction(0), (0, 1))):
        found = answer(doc, model(Level((Goal(GoalId.COST),), Slack(slack)), GoalId.PEAK))
        assert found.status is Status.OPTIMAL
        assert found.claims == expected
        assert found.bounds == (0, expected[1])


def test_a_gang_stands_on_distinct_nodes_of_one_domain() -> None:
    racks = [
        {"level": "rack", "name": f"r{i}", "children": nodes(size, capacity={"cpu": 4})}
        for i, size in enumerate((2, 3))
    ]
    gang = {"gang": {"size": 3, "level": "rack"}}
    doc = document(racks, [{"class": "c", "count": 9, "requests": {"cpu": 1}, "placement": gang}])
    assert values(doc, model(GoalId.PLACED, GoalId.NODES)) == (9, 3)


def test_nothing_to_place_is_worth_nothing() -> None:
    wanted = model(GoalId.COST, GoalId.PEAK, GoalId.MOVES)
    assert values(document(nodes(1, capacity={"cpu": 1}), []), wanted) == (0, 0, 0)


def hard_pairs() -> Document:
    count = 30
    flows = [
        {"from": f"c{i}", "to": f"c{(i * k + k) % count}", "pattern": "pair", "rate": f"{1 + (i * k) % 7} bit/s"}
        for i in range(count)
        for k in (3, 7)
        if (i * k + k) % count != i
    ]
    return document(
        nodes(6, capacity={"cpu": 6}),
        [{"class": f"c{i}", "count": 1, "requests": {"cpu": 1}} for i in range(count)],
        flows=flows,
    )


def test_the_time_limit_holds_and_keeps_the_best_plan_with_a_bound() -> None:
    began = time.monotonic()
    recorder = Recorder(lambda: time.monotonic() - began)
    found = answer(hard_pairs(), model(GoalId.TRAFFIC), budget=Limits(4).start(), recorder=recorder)
    assert time.monotonic() - began < 6
    assert found.status is Status.FEASIBLE
    assert found.termination.reason is TerminationReason.TIME_LIMIT
    assert found.bounds[0] is not None
    assert found.claims[0] is not None
    assert 0 <= found.bounds[0] < found.claims[0]
    seen = [event.value for event in recorder.trace if event.kind == "incumbent"]
    assert seen
    assert seen[-1] == pytest.approx(float(found.claims[0]))
    assert seen == sorted(seen, reverse=True)


def test_an_interruption_returns_the_best_plan() -> None:
    budget = Limits().start()
    timer = threading.Timer(1.5, budget.interrupt)
    timer.start()
    began = time.monotonic()
    found = answer(hard_pairs(), model(GoalId.TRAFFIC), budget=budget)
    timer.join()
    assert time.monotonic() - began < 4
    assert found.termination.reason is TerminationReason.INTERRUPTED
    assert found.assignment is not None


def test_no_time_at_all_is_unknown_not_infeasible() -> None:
    found = answer(hard_pairs(), model(GoalId.TRAFFIC), budget=Limits(1e-6).start())
    assert (found.status, found.assignment, found.bounds) == (Status.UNKNOWN, None, (None,))


def test_the_answer_is_never_worse_than_the_start() -> None:
    first = answer(hard_pairs(), model(GoalId.TRAFFIC), budget=Limits(4).start())
    again = answer(hard_pairs(), model(GoalId.TRAFFIC), budget=Limits(1).start(), start=first.assignment)
    assert again.claims[0] is not None
    assert first.claims[0] is not None
    assert again.claims[0] <= first.claims[0]


def test_a_start_that_breaks_a_rule_does_no_harm() -> None:
    doc = document(nodes(2, capacity={"cpu": 1}), [{"class": "c", "count": 2, "requests": {"cpu": 1}}])
    assert values(doc, model(GoalId.NODES), start=Assignment({(0, 0, 0): 2})) == (2,)


def test_same_seed_one_thread_and_an_iteration_limit_give_the_same_plan() -> None:
    found = [
        answer(hard_pairs(), model(GoalId.TRAFFIC), budget=Limits(iterations=300).start()).assignment for _ in range(2)
    ]
    assert found[0] is not None
    assert found[0] == found[1]


def test_within_the_gap_is_said_to_be_feasible() -> None:
    found = answer(hard_pairs(), model(GoalId.TRAFFIC), gap=0.999)
    assert found.status is Status.FEASIBLE
    assert found.termination.reason is TerminationReason.GAP


def test_what_does_not_fit_64_bits_is_refused_by_name() -> None:
    doc = document(
        [
            {"level": "node", "name": f"n{i}", "kind": "a", "capacity": {"cpu": 10**9 + prime}}
            for i, prime in enumerate((7, 9, 21, 33, 87, 93))
        ],
        [{"class": "c", "count": 6, "requests": {"cpu": 1}}],
    )
    with pytest.raises(MethodRefused, match="peak"):
        answer(doc, model(GoalId.PEAK))


@pytest.mark.parametrize("goal", [GoalId.P99, GoalId.QUALITY])
def test_goals_it_does_not_know_are_refused_by_name(goal: GoalId) -> None:
    compiled = compile_instance(instance_from_dict(document(nodes(1), [])), model(goal))
    with pytest.raises(UnsupportedFamily, match=str(goal)):
        CpsatMethod().refuse(compiled)
