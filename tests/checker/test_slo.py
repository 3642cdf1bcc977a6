"""Equations (13) and (27): response times, path delays, targets, stability, and who may have more than its floor."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from allocator.checker import check
from allocator.checker.flows import flows_of
from allocator.checker.latency import delays_of, slowest
from allocator.checker.response import LN_100
from allocator.checker.standing import read_standing
from allocator.checker.usage import chains
from allocator.errors import UnsupportedFamily
from allocator.instance.entities import Demand, Flow, Instance, Mode, Slo, Uplink, Work
from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import Family, GoalId
from allocator.plan.evaluation import Evaluation
from tests.builders import Tree, build, group, model, node, plan, team, workload

F = Fraction
MS = F(1, 1000)


def server(**fields: Any) -> Instance:
    """One member: 1 task/s of 0.1 core-seconds, two cores usable."""
    fields = {"rate": 1, "parallel": 2, "compute": {"cpu": F(1, 10)}, **fields}
    return build(node("x", capacity={"cpu": 4000}), workloads=[workload("a", 1, **fields)])


def judged(instance: Instance, cpu: int, *goals: str, ignore: tuple[Family, ...] = ()) -> Evaluation:
    found = plan(instance, {"a": ["x"]}, shares={("a", 0): {"cpu": cpu}})
    return check(instance, model(*goals, ignore=ignore), found)


def families(evaluation: Evaluation) -> set[Family]:
    return {violation.family for violation in evaluation.violations}


def test_the_constant_is_ln_100_rounded_up_in_the_40th_digit() -> None:
    exact = Fraction(Context(prec=60).ln(Decimal(100)))
    assert exact < LN_100 < exact + F(1, 10**39)


@pytest.mark.parametrize(("share", "fits"), [(1053, False), (1054, True)])
def test_a_target_needs_compute_beyond_the_offer(share: int, fits: bool) -> None:
    """With c = 0.1, lambda = 1, T = 0.483 s: x >= 0.1 (1 + 4.60517 / 0.483) = 1.05345 cores."""
    instance = server(slo=Slo(F(483, 1000)))
    evaluation = judged(instance, share, "throughput")
    assert families(evaluation) == (set() if fits else {Family.SLO})
    assert evaluation.classes[0].p99 == LN_100 / (F(share, 100) - 1)
    assert evaluation.classes[0].target == F(483, 1000)
    assert judged(instance, share, "throughput", ignore=(Family.SLO,)).feasible


def test_compute_beyond_parallel_does_not_answer_faster() -> None:
    """One core usable: 4.605 / (10 - 1) = 0.512 s, whatever the share."""
    instance = server(parallel=1, slo=Slo(F(1, 2)))
    assert families(judged(instance, 3000, "throughput")) == {Family.SLO}
    assert judged(instance, 3000, "throughput").classes[0].p99 == LN_100 / 9


@pytest.mark.parametrize(("share", "stable"), [(100, False), (101, True)])
def test_a_member_serves_one_percent_more_than_arrives(share: int, stable: bool) -> None:
    """A target of an hour needs less than 1 % headroom; stability asks for it all the same."""
    evaluation = judged(server(slo=Slo(F(36_000))), share, "throughput")
    assert families(evaluation) == (set() if stable else {Family.SLO})
    assert (evaluation.classes[0].p99 is None) == (not stable)


def test_where_nothing_arrives_one_unit_is_stable() -> None:
    """C = 0.1, one millicore: ln(100) * 0.1 / 0.001 = 460.5 s."""
    instance = server(rate=0, slo=Slo(F(500)))
    assert judged(instance, 1, "throughput").classes[0].p99 == LN_100 * 100
    assert judged(instance, 1, "throughput").feasible
    assert families(judged(instance, 0, "throughput")) == {Family.SLO}


def test_a_target_may_lift_a_share_above_its_floor_in_any_model_and_nothing_else() -> None:
    """Without a rate goal only the compute of a class with a target that holds may exceed its floor."""
    instance = server(slo=Slo(F(1)), memory={"memory": 1}, residence=1)
    assert judged(instance, 700, "cost").feasible
    assert families(judged(instance, 700, "cost", ignore=(Family.SLO,))) == {Family.SHARES}
    assert families(judged(server(slo=Slo(critical=True)), 700, "cost")) == {Family.SHARES}
    memory = plan(instance, {"a": ["x"]}, shares={("a", 0): {"cpu": 700, "memory": 1}})
    assert Family.SHARES in families(check(instance, model("cost"), memory))


# ------------------------------------------------------------------ path delays


def racks(**traffic: Any) -> Instance:
    """Two racks of two nodes; latency 1 ms at a node, 5 ms at rack r, 7 ms at rack s."""

    def leaf(name: str) -> Tree:
        return node(name, capacity={"cpu": 4000}, uplink=Uplink(latency=MS))

    return build(
        group("rack", "r", leaf("x"), leaf("y"), uplink=Uplink(latency=5 * MS)),
        group("rack", "s", leaf("x"), leaf("y"), uplink=Uplink(latency=7 * MS)),
        workloads=[
            workload("a", 3, rate=1, compute={"cpu": F(1, 10)}, slo=Slo(critical=True)),
            workload("b", 2),
        ],
        **traffic,
    )


def delays(instance: Instance, a: list[str | None], b: list[str | None]) -> list[Fraction]:
    """Path delay of every member of class a."""
    standing, _ = read_standing(instance, plan(instance, {"a": a, "b": b}))
    found = delays_of(instance, standing, flows_of(instance), chains(instance))
    return [found.of(0, member) for member in range(3)]


NOBODY: list[str | None] = [None, None]


def test_a_team_waits_for_its_slowest_pair() -> None:
    """r/x and r/y are 2 ms apart, r and s 14 ms; the third member is of no team. Half a team alone waits for nobody."""
    instance = racks(teams=(team("t", 1, {"a": 2, "b": 1}, 1),))
    assert delays(instance, ["r/x", "r/y", "s/x"], ["r/x", None]) == [2 * MS, 2 * MS, 0]
    assert delays(instance, ["r/x", "r/y", "s/x"], ["s/y", None]) == [14 * MS, 14 * MS, 0]
    assert delays(instance, ["r/x", "r/x", "s/x"], ["r/x", None]) == [0, 0, 0]
    assert delays(instance, ["r/x", None, None], NOBODY) == [0, 0, 0]


def test_a_pair_counts_at_both_ends_and_only_when_both_are_placed() -> None:
    instance = racks(flows=(Flow("b", "a", "pairs", pairs=((0, 1, F(1)), (1, 0, F(0)))),))
    assert delays(instance, ["r/x", "r/x", None], ["s/x", "s/x"]) == [0, 14 * MS, 0]
    assert delays(instance, ["r/x", "r/x", None], [None, "s/x"]) == [0, 0, 0]


@pytest.mark.parametrize("pattern", ["spread", "broadcast"])
def test_an_entry_counts_as_a_whole(pattern: Any) -> None:
    """One member of a far from b slows all of a; the far one unplaced, nobody."""
    instance = racks(flows=(Flow("a", "b", pattern, F(1)),))
    assert delays(instance, ["r/x", "r/x", "s/y"], ["r/x", "r/y"]) == [14 * MS] * 3
    assert delays(instance, ["r/x", "r/x", None], ["r/x", "r/y"])[:2] == [2 * MS] * 2
    silent = racks(flows=(Flow("a", "b", pattern, F(0)),))
    assert delays(silent, ["r/x", "r/x", "s/y"], ["r/x", "r/y"]) == [0, 0, 0]


def test_the_slowest_pair_is_the_slowest_of_all_pairs() -> None:
    """Random trees of three levels with random latencies, against every pair of nodes one by one."""
    rng = random.Random(0)
    for _ in range(60):
        tree = build(
            *(
                group(
                    "rack",
                    f"r{i}",
                    *(
                        group("host", f"h{j}", *(node(f"n{k}") for k in range(rng.choice([1, 2, 3]))))
                        if rng.random() < 0.6
                        else node(f"m{j}")
                        for j in range(rng.choice([1, 2, 3]))
                    ),
                )
                for i in range(rng.choice([1, 2, 3]))
            )
        )
        latency = {domain.index: F(rng.randrange(9)) for domain in tree.domains[1:]}
        above = chains(tree)
        ends = [rng.sample(range(len(above)), rng.randint(1, len(above))) for _ in range(2)]

        def apart(a: int, b: int, above: Any = above, latency: Any = latency) -> Fraction:
            return sum((latency[domain] for domain in set(above[a]) ^ set(above[b])), F(0))

        true = max(apart(a, b) for a, b in product(*ends))
        assert slowest(ends[0], ends[1], above, latency, zero=0) == true
        assert slowest(ends[0], ends[0], above, latency, zero=0) == max(
            apart(a, b) for a, b in product(ends[0], ends[0])
        )


@pytest.mark.parametrize(("cpu", "far", "fits"), [(567, "s/x", False), (568, "s/x", True), (561, "r/x", True)])
def test_a_target_counts_the_path(cpu: int, far: str, fits: bool) -> None:
    """T = 1 s, D = 14 ms to rack s: x >= 0.1 (1 + 4.60517 / 0.986) = 0.56706; on one node 0.56052."""
    instance = racks(flows=(Flow("a", "b", "pairs", pairs=((0, 0, F(1)),)),))
    quick = replace(instance, workloads=(replace(instance.workloads[0], slo=Slo(F(1))), *instance.workloads[1:]))
    where: dict[str, list[str | None]] = {"a": ["r/x", None, None], "b": [far, None]}
    found = plan(quick, where, shares={("a", 0): {"cpu": cpu}})
    assert check(quick, model("placed", "throughput"), found).feasible == fits


def test_a_target_at_or_below_the_path_delay_is_out_of_reach() -> None:
    instance = racks(flows=(Flow("a", "b", "pairs", pairs=((0, 0, F(1)),)),))
    slow = replace(instance, workloads=(replace(instance.workloads[0], slo=Slo(14 * MS)), *instance.workloads[1:]))
    where: dict[str, list[str | None]] = {"a": ["r/x", None, None], "b": ["s/x", None]}
    found = plan(slow, where, shares={("a", 0): {"cpu": 1000}})
    (violation,) = check(slow, model("placed", "throughput"), found).violations
    assert violation.family is Family.SLO
    assert "path delay alone" in violation.message


# ------------------------------------------------------------------ the goal


def two(*, worst: bool = False, **slo: Any) -> tuple[Instance, Model]:
    """Members a/0, a/1 of weight 3 (2 tasks/s of 0.1) and b/0 of weight 1 (1 task/s of 0.2), c not critical."""
    classes = [
        workload("a", 2, rate=2, weight=3, compute={"cpu": F(1, 10)}, slo=Slo(critical=True, **slo)),
        workload("b", 1, rate=1, compute={"cpu": F(1, 5)}, slo=Slo(critical=True)),
        workload("c", 1, rate=1, compute={"cpu": F(1, 5)}),
    ]
    instance = build(node("x", capacity={"cpu": 4000}), workloads=classes)
    return instance, Model("m", "", (Level((Goal(GoalId.PLACED),)), Level((Goal(GoalId.P99, worst=worst),))))


def valued(instance: Instance, goals: Model, cpu: list[int], *, first: bool = True) -> Evaluation:
    shares = {key: {"cpu": amount} for key, amount in zip([("a", 0), ("a", 1), ("b", 0)], cpu, strict=True)}
    where: dict[str, list[str | None]] = {"a": ["x" if first else None, "x"], "b": ["x"], "c": ["x"]}
    return check(instance, goals, plan(instance, where, shares=shares))


def test_p99_is_the_weighted_sum_over_placed_critical_members() -> None:
    """a: 1/(5 - 2) and 1/(7 - 2), weight 3; b: 1/(4 - 1)."""
    instance, goals = two()
    evaluation = valued(instance, goals, [500, 700, 800])
    assert evaluation.levels[1] == LN_100 * (3 * (F(1, 3) + F(1, 5)) + F(1, 3))
    assert [outcome.p99 for outcome in evaluation.classes] == [LN_100 / 3, LN_100 / 3, None]
    assert valued(instance, goals, [500, 700, 800], first=False).levels[1] == LN_100 * (F(3, 5) + F(1, 3))


def test_the_worst_p99_is_the_largest_weighted_one() -> None:
    instance, goals = two(worst=True)
    assert valued(instance, goals, [500, 700, 800]).levels[1] == LN_100
    assert valued(instance, goals, [800, 700, 300]).levels[1] == LN_100 * 2


def test_the_goal_needs_stability_and_says_so_once() -> None:
    """2 tasks/s of 0.1 need 0.202 cores; ignoring slo does not make an unstable plan one."""
    instance, goals = two()
    evaluation = valued(instance, goals, [201, 700, 800])
    (violation,) = evaluation.violations
    assert violation.family is Family.SLO
    assert violation.amount == F(1, 1000)
    assert evaluation.classes[0].p99 is None
    assert valued(instance, replace(goals, ignore=frozenset({Family.SLO})), [201, 700, 800]).violations
    assert valued(instance, goals, [202, 700, 800]).feasible
    both, goals = two(p99=F(1000))
    assert len(valued(both, goals, [201, 700, 800]).violations) == 1


def test_no_critical_member_is_worth_0() -> None:
    instance = build(node("x"), workloads=[workload("a", 1)])
    for worst in (False, True):
        goals = Model("m", "", (Level((Goal(GoalId.P99, worst=worst),)),))
        assert check(instance, goals, plan(instance, {"a": ["x"]})).levels == (0,)


P99, PLACED, COST = Goal(GoalId.P99), Goal(GoalId.PLACED), Goal(GoalId.COST)


@pytest.mark.parametrize(
    ("levels", "sound"),
    [
        ([Level((P99,))], True),
        ([Level((PLACED,)), Level((COST,)), Level((P99,))], True),
        ([Level((P99,)), Level((PLACED,))], False),
        ([Level((P99, PLACED))], False),
        ([Level((PLACED, COST)), Level((P99,))], False),
        ([Level((PLACED,), Slack(F(1))), Level((P99,))], False),
    ],
)
def test_nobody_may_be_left_out_for_p99(levels: list[Level], sound: bool) -> None:
    """An unplaced member has no response time: leaving it out must not pay."""
    instance, _ = two()
    goals = Model("m", "", tuple(levels))
    if sound:
        assert valued(instance, goals, [500, 700, 800]).feasible
    else:
        with pytest.raises(UnsupportedFamily, match=r"p99 \(members may be left out for it\)"):
            valued(instance, goals, [500, 700, 800])


@pytest.mark.parametrize(("compute", "name"), [({}, "no compute"), ({"cpu": 1, "gpu": 1}, "several compute")])
def test_a_class_must_work_on_one_compute_resource(compute: dict[str, int], name: str) -> None:
    """Refused by name where a target or the goal asks for its response time, and nowhere else."""
    instance = server(compute=compute, slo=Slo(F(9)))
    with pytest.raises(UnsupportedFamily, match=f"slo \\({name}"):
        judged(instance, 500, "cost")
    ignored = judged(instance, 0, "cost", ignore=(Family.SLO,))
    assert ignored.classes[0].p99 is None
    with pytest.raises(UnsupportedFamily, match="slo"):
        judged(server(compute=compute, slo=Slo(critical=True)), 500, "p99")


def test_the_kinds_that_are_there_decide() -> None:
    """On kind b a task needs two resources; no node is of it."""
    one = Demand({}, {}, Work({"cpu": F(1)}))
    both = Demand({}, {}, Work({"cpu": F(1), "gpu": F(1)}))
    instance = server(modes=[Mode("m", one, {"b": both})], slo=Slo(F(9)))
    assert judged(instance, 2000, "throughput").feasible
