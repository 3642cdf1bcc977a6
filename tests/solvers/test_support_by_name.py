"""A method names everything in use that it lacks before it builds anything, and only that."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.errors import ArgumentError, MethodRefused, UnsupportedFamily
from allocator.instance.entities import Conflict, Flow, Gang, Goodput, Instance, Slo, Spread, Uplink
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.auto import choose
from allocator.solvers.registry import METHODS, method_named
from allocator.solvers.support import require_support, used_families
from tests.builders import build, model, node, workload

ALL = ["auto", *METHODS]
COST = model("cost")


def refusal(method: str, instance: Instance, goals: Model) -> UnsupportedFamily:
    with pytest.raises(UnsupportedFamily) as caught:
        require_support(choose(method), instance, goals)
    return caught.value


@pytest.mark.parametrize("method", ALL)
def test_a_latency_target_a_method_lacks_is_refused_by_name_with_a_way_out_and_accepted_when_ignored(
    method: str,
) -> None:
    instance = build(node("n"), workloads=[workload("a", slo=Slo(Fraction(1)))])
    if Family.SLO in choose(method).support.families:
        require_support(choose(method), instance, COST)
        return
    found = refusal(method, instance, COST)
    assert found.families == (Family.SLO,)
    assert str(found) == (f"method {method} does not support: slo; a model may leave out a family: ignore: [slo]")
    require_support(choose(method), instance, model("cost", ignore=[Family.SLO]))


LINK_LOADED = {"auto", "milp", "cpsat", "lns"}


@pytest.mark.parametrize("method", ALL)
def test_a_limit_on_the_load_of_links_a_method_lacks_is_refused_by_name(method: str) -> None:
    instance = build(node("n"), workloads=[workload("a")], link_load=Fraction(4, 5))
    assert (Family.LINK_LOAD in choose(method).support.families) is (method in LINK_LOADED)
    if method in LINK_LOADED:
        require_support(choose(method), instance, COST)
    else:
        assert refusal(method, instance, COST).families == (Family.LINK_LOAD,)
    require_support(choose(method), instance, model("cost", ignore=[Family.LINK_LOAD]))


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("goal", [GoalId.P99, GoalId.QUALITY])
def test_goals_a_method_lacks_are_refused_by_name_with_no_false_hint(method: str, goal: GoalId) -> None:
    instance = build(node("n"), workloads=[workload("a")])
    if goal in choose(method).support.goals:
        require_support(choose(method), instance, model(Goal(goal)))
        return
    found = refusal(method, instance, model(Goal(goal)))
    assert found.families == (goal,)
    assert "ignore" not in str(found)


@pytest.mark.parametrize("method", ["auto", "milp", "cpsat"])
def test_exact_methods_support_latency_targets_or_say_so(method: str) -> None:
    support = choose(method).support
    assert (Family.SLO in support.families) == (GoalId.P99 in support.goals) == (method != "cpsat")


def test_a_worst_response_time_weighed_against_another_goal_is_refused_by_name() -> None:
    from allocator.compiled.compile import compile_instance

    mixed = Model("mixed", "", (Level((Goal(GoalId.P99, worst=True), Goal(GoalId.COST))),))
    compiled = compile_instance(build(node("n"), workloads=[workload("a")]), mixed)
    with pytest.raises(MethodRefused, match=r"p99: worst.*cost"):
        choose("milp").refuse(compiled)


@pytest.mark.parametrize("method", ALL)
def test_leaving_members_out_for_their_response_times_is_refused_by_name(method: str) -> None:
    instance = build(node("n"), workloads=[workload("a")])
    found = refusal(method, instance, model("p99", "placed"))
    assert any(str(name).startswith("p99") for name in found.families)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("curve", ["knee", "table"])
def test_goodput_curves_a_method_lacks_are_refused_only_where_traffic_is_counted(method: str, curve: str) -> None:
    bent = node("n", uplink=Uplink(Fraction(1), goodput=Goodput(curve)))  # type: ignore[arg-type]
    quiet = build(bent, workloads=[workload("a", 2)])
    require_support(choose(method), quiet, COST)
    loud = replace(quiet, flows=(Flow("a", "a", "spread", Fraction(1)),))
    if curve in choose(method).support.curves:
        require_support(choose(method), loud, COST)
    else:
        assert refusal(method, loud, COST).families == (f"fabric (goodput curve {curve})",)
    require_support(choose(method), loud, model("cost", ignore=[Family.FABRIC]))


@pytest.mark.parametrize("method", ALL)
def test_services_are_refused_by_name(method: str) -> None:
    instance = build(node("n"), workloads=[workload("a")], services=({"name": "chat"},))
    assert "services" in refusal(method, instance, COST).families


def test_everything_that_is_lacking_is_named_at_once() -> None:
    instance = build(
        node("n"),
        workloads=[workload("a", slo=Slo(Fraction(1)))],
        spreads=(Spread("a", "host", 1),),
        services=({"name": "chat"},),
    )
    found = refusal("cpsat", instance, model("cost", "p99"))
    assert set(found.families) == {Family.SLO, GoalId.P99, "services"}
    assert "ignore: [slo]" in str(found)
    found = refusal("greedy", instance, model("cost", "quality"))
    assert set(found.families) == {Family.SPREAD, GoalId.QUALITY, "services"}
    assert "ignore: [spread]" in str(found)


def test_what_an_instance_uses_is_what_it_states() -> None:
    plain = build(node("n"), workloads=[workload("a")])
    assert used_families(plain, COST) == {Family.ASSIGNMENT, Family.SHARES}
    ruled = build(
        node("n", capacity={"cpu": 1}, taints=frozenset({"t"})),
        workloads=[workload("a", 2, rate=1, gang=Gang(1, "host"))],
        conflicts=(Conflict("a", "host", 1),),
        current={"a": ["n", None]},
    )
    used = {
        *used_families(plain, COST),
        *(Family.ELIGIBILITY, Family.CAPACITY, Family.RATES, Family.GANG, Family.CONFLICT, Family.TRANSIENT),
    }
    assert used_families(ruled, COST) == used
    assert used_families(ruled, model("cost", ignore=[Family.GANG])) == used - {Family.GANG}


def test_an_unknown_method_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ArgumentError, match="tabu: unknown; the methods are auto, milp, cpsat, greedy"):
        method_named("tabu")


@pytest.mark.parametrize("name", ALL)
def test_a_method_is_called_what_it_is_asked_for_by(name: str) -> None:
    assert choose(name).name == name


def test_a_model_that_is_too_large_is_refused_with_its_size_and_what_to_use_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from allocator.compiled.compile import compile_instance
    from allocator.solvers.milp import method as milp

    monkeypatch.setattr(milp, "MAX_PLACEMENT_VARIABLES", 5)
    nodes = [node(f"n{i}") for i in range(3)]
    small = compile_instance(build(*nodes, workloads=[workload("a", 9)]), COST)
    large = compile_instance(build(*nodes, workloads=[workload("a", 9), workload("b", 9)]), COST)
    milp.MilpMethod().refuse(small)
    with pytest.raises(MethodRefused, match=r"6 placement variables.*--method auto"):
        milp.MilpMethod().refuse(large)
