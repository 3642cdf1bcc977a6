"""The method ``auto``: a first plan, a stage for structure, the exact model where it fits, integers if floats fail."""

from __future__ import annotations

from fractions import Fraction

import pytest

from allocator import solve
from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import assignment_of
from allocator.errors import MethodRefused, ModelTooLarge
from allocator.instance import instance_from_dict
from allocator.instance.entities import Conflict, Dependency, Flow, Instance, Spread
from allocator.model.entities import Model
from allocator.plan.result import Result, Status, TerminationReason
from allocator.solvers import auto
from allocator.solvers.auto import AutoMethod, first_plan
from allocator.solvers.budget import Limits
from allocator.solvers.milp.method import MilpMethod
from allocator.solvers.recorder import Event, Recorder
from tests.builders import build, model, node, workload
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import disagreement
from tests.oracle.random_instances import random_case
from tests.solvers.milp.slow_instances import hard_assignment, large_aggregated

F = Fraction


def run(instance: Instance, goals: Model, **arguments: object) -> tuple[Result, list[str]]:
    """Result and the phases that led to it."""
    heard: list[Event] = []
    result = solve(
        instance,
        goals,
        method="auto",
        threads=1,
        listeners=[heard.append],
        **{"time_limit": 20.0, **arguments},  # type: ignore[arg-type]
    )
    return result, [event.text for event in heard if event.kind == "phase"]


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every instance is too large for the exact model."""

    def refuse(self: MilpMethod, compiled: object) -> None:
        raise ModelTooLarge("method milp: too large for this test")

    monkeypatch.setattr(MilpMethod, "refuse", refuse)


def bins(sizes: list[int], count: int, room: int) -> Instance:
    return build(
        *(node(f"n{i}", capacity={"cpu": room}) for i in range(count)),
        workloads=[workload(f"c{i}", 1, {"cpu": size}) for i, size in enumerate(sizes)],
    )


def test_it_supports_whatever_the_exact_model_supports() -> None:
    assert AutoMethod.support == MilpMethod.support


def test_a_packing_is_proven_by_its_stage_without_the_exact_model(nothing_fits: None) -> None:
    """Case 10: the well-known packing needs 11 bins."""
    sizes = [48, 30, 19, 36, 36, 27, 42, 42, 36, 24, 30, *([33] * 5), 45, 45, 67, 27, 80, 44, 38, 77]
    result, phases = run(bins(sizes, 20, 100), model("nodes"))
    assert result.status is Status.OPTIMAL
    assert result.levels[0].value == result.levels[0].bound == 11
    assert "building the exact model" not in phases


def test_an_assignment_problem_gets_plan_and_bound_from_its_stage(nothing_fits: None) -> None:
    result, _ = run(hard_assignment(20, 4), model("cost"), time_limit=6.0)
    value, bound = result.levels[0].value, result.levels[0].bound
    assert value is not None
    assert bound is not None
    assert 0 < bound <= value <= bound * F(11, 10)


def test_without_the_exact_model_the_first_plan_is_kept_with_what_totals_prove(nothing_fits: None) -> None:
    """No stage knows conflicts; where the bound is reached, the plan is optimal.

    Three members of 6 fit two cheap nodes of 9 as amounts, but not one by one.
    """
    nodes = [node("n", capacity={"cpu": 9}), node("m", kind="dear", capacity={"cpu": 9})]
    rule = (Conflict("a", "host", 3),)
    costs = {"k": F(1), "dear": F(2)}
    cheap = build(*nodes, workloads=[workload("a", 3, {"cpu": 3}, cost=costs)], conflicts=rule)
    result, _ = run(cheap, model("cost", "moves"))
    assert result.status is Status.OPTIMAL
    assert result.termination.detail == "the totals prove it"
    assert [level.bound for level in result.levels] == [3, 0]
    more = [*nodes, node("n2", capacity={"cpu": 9})]
    large = [workload(name, 1, {"cpu": 6}, cost=costs) for name in "abc"]
    full = build(*more, workloads=large, conflicts=rule)
    short, _ = run(full, model("cost", "moves"))
    assert short.status is Status.FEASIBLE
    assert short.termination.reason is TerminationReason.CONVERGED
    assert "too large" in short.termination.detail
    assert (short.levels[0].value, short.levels[0].bound) == (4, 3)


def test_without_any_plan_the_answer_is_unknown_but_still_bounded(nothing_fits: None) -> None:
    """Greedy does not support ``spread``: no first plan."""
    instance = build(
        *(node(f"n{i}", capacity={"cpu": 9}) for i in range(2)),
        workloads=[workload("a", 2, {"cpu": 3}, cost={"default": F(4)})],
        spreads=(Spread("a", "host", 2),),
    )
    result, _ = run(instance, model("cost", "moves"))
    assert result.status is Status.UNKNOWN
    assert result.plan is None
    assert result.levels[0].bound == 8


def test_a_search_gives_the_plan_where_no_exact_model_takes_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes beside terabytes are too far apart for floats, their ratios too large for 64 bits; greedy has no rule."""
    rooms = (4 * 10**12, 6 * 10**12 + 1, 6 * 10**12 - 1, 12 * 10**12)
    instance = build(
        *(node(f"n{i}", capacity={"cpu": 4, "memory": room}) for i, room in enumerate(rooms)),
        workloads=[workload("a", 3, {"cpu": 2, "memory": 2}), workload("b", 2, {"cpu": 1, "memory": 3})],
        dependencies=(Dependency("a", "b", "node"),),
    )
    goals = model("placed", "peak")
    for method in ("milp", "cpsat"):
        with pytest.raises(MethodRefused):
            solve(instance, goals, method=method)
    solve(instance, goals, method="local-search", iterations=10)  # compiled from here on
    monkeypatch.setattr(auto, "SEARCH_SECONDS", 1.0)
    result, _ = run(instance, goals)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.levels[0].value == 4  # beside a b one a fits, beside both b one more does not


def test_talk_of_pairs_makes_an_instance_large_enough_for_a_search_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of 6 on 2 nodes: 12 placements, and 6 pairs that each of 3 domains may cut; without the ring 2 counts."""
    ring = Flow("a", "a", "pairs", pairs=tuple((i, (i + 1) % 6, F(1)) for i in range(6)))
    nodes = [node(f"n{i}", capacity={"cpu": 3}) for i in range(2)]
    talking = build(*nodes, workloads=[workload("a", 6, {"cpu": 1})], flows=(ring,))
    quiet = build(*nodes, workloads=[workload("a", 6, {"cpu": 1})])
    solve(talking, model("traffic"), method="local-search", iterations=10)  # compiled from here on
    monkeypatch.setattr(auto, "SEARCH_SECONDS", 0.5)
    for limit, instance, searched in ((30, talking, True), (30, quiet, False), (31, talking, False)):
        monkeypatch.setattr(auto, "SEARCH_FROM", limit)
        result, phases = run(instance, model("traffic"))
        assert result.status is Status.OPTIMAL
        assert result.levels[0].value == (4 if instance is talking else 0)
        assert ("searching" in phases[: phases.index("building the exact model")]) == searched


def test_a_small_instance_ends_with_the_exact_model_and_its_proof() -> None:
    result, phases = run(hard_assignment(12, 3), model("cost", "nodes"))
    assert result.status is Status.OPTIMAL
    assert "building the exact model" in phases


def test_where_floats_leave_a_gap_integers_settle_it() -> None:
    """Balance in bytes of GiB: the exact model alone calls it as near as floating point can tell."""
    settled = 0
    for seed in range(60):
        case = random_case(seed)
        if "gib" not in case.features:
            continue
        instance = instance_from_dict(case.document)
        floats = solve(instance, case.model, method="milp", threads=1, time_limit=20)
        if floats.termination.reason is not TerminationReason.GAP:
            continue
        result, _ = run(instance, case.model)
        assert result.status is Status.OPTIMAL, f"seed {seed}"
        assert disagreement(result, brute_force(instance, case.model), case.model) is None, f"seed {seed}"
        settled += 1
    assert settled > 0


def test_a_first_plan_is_feasible_or_none() -> None:
    found = 0
    for seed in range(60):
        case = random_case(seed)
        compiled = compile_instance(instance_from_dict(case.document), case.model)
        plan = first_plan(compiled, Limits(5).start(), Recorder(lambda: 0.0), 0)
        if plan is not None:
            found += 1
            assert sum(plan.counts.values()) <= compiled.instance.num_members
    assert found > 10


def test_a_small_instance_gets_a_plan_when_its_reading_took_all_the_time() -> None:
    instance = build(
        node("n0", capacity={"cpu": 3}), node("n1", capacity={"cpu": 3}), workloads=[workload("a", 4, {"cpu": 1})]
    )
    result = solve(instance, model("placed"), budget=Limits(1.0).start(spent=1.5), threads=1)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.levels[0].value == 4
    stopped = Limits(1.0).start(spent=1.5)
    stopped.interrupt()
    compiled = compile_instance(instance, model("placed"))
    assert first_plan(compiled, stopped, Recorder(stopped.elapsed), seed=0) is None


def test_a_start_is_kept_where_nothing_better_is_found(nothing_fits: None) -> None:
    """Greedy would not find the two cheap members that fit together instead of the dear one."""
    instance = build(
        node("n", capacity={"cpu": 4}),
        workloads=[workload("dear", 1, {"cpu": 4}, value=3), workload("cheap", 2, {"cpu": 2}, value=2)],
    )
    goals = model("placed", "moves")
    best = solve(instance, goals, method="cpsat", threads=1).plan
    assert best is not None
    result, _ = run(instance, goals, warm_start=best)
    assert result.levels[0].value == 4
    alone, _ = run(instance, goals)
    assert alone.levels[0].value == 3


def test_a_large_instance_gets_plan_and_bound_within_its_time() -> None:
    instance = large_aggregated(60, 100)
    goals = model("cost")
    result, _ = run(instance, goals, time_limit=5.0)
    assert result.plan is not None
    assert check(instance, goals, result.plan).feasible
    assert result.levels[0].bound is not None
    assert result.levels[0].gap is not None
    counts, _, _ = assignment_of(compile_instance(instance, goals), result.plan)
    assert sum(counts.values()) == instance.num_members
