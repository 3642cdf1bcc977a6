"""Every method on every case: solved to the truth, or refused by name where the method does not claim support."""

from __future__ import annotations

import pytest

from allocator import solve
from allocator.checker import check
from allocator.errors import UnsupportedFamily
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status
from allocator.solvers.registry import METHODS
from tests.conformance.bent_cases import BENT, RESPONSES
from tests.conformance.building import Case, document, node, rack, workload
from tests.conformance.cases import CASES, REFUSED
from tests.conformance.goal_cases import GOALS
from tests.oracle.brute_force import Truth, brute_force
from tests.oracle.comparing import bound_is_valid, disagreement, wrongly_refused
from tests.oracle.in_use import ids_in_use

EXACT = ("milp", "cpsat")
TIME_LIMIT = 20.0
ITERATIONS = {"local-search": 2000, "genetic": 2000, "lns": 5}  # of methods that would go on to their time limit


def run(instance: Instance, model: Model, method: str):  # type: ignore[no-untyped-def]
    return solve(
        instance,
        model,
        method=method,
        time_limit=TIME_LIMIT,
        iterations=ITERATIONS.get(method),
        seed=0,
        threads=1,
        gap=0.0,
    )


def supported(method: str) -> set[Family | GoalId]:
    support = METHODS[method]().support
    return {*support.families, *support.goals}


def solved_or_refused(instance: Instance, model: Model, truth: Truth, method: str) -> None:
    used = ids_in_use(instance, model)
    try:
        result = run(instance, model, method)
    except UnsupportedFamily as error:
        refused = set(error.families)
        assert refused, "a refusal names what is not supported"
        wrong = wrongly_refused(method, error.families, METHODS[method]().support, model)
        assert not wrong, f"{method} refuses {wrong}, which it claims to support"
        # a name may say in brackets what of a family it is about
        families = {str(name).partition(" (")[0] for name in refused}
        assert families <= used, f"{method} refuses {refused}, which is not in use"
        return
    if method in EXACT:
        assert disagreement(result, truth, model) is None, disagreement(result, truth, model)
    else:
        assert result.status is not Status.INFEASIBLE or not truth.feasible
        assert result.status is not Status.OPTIMAL or disagreement(result, truth, model) is None
        kept = True
        for level, true in zip(result.levels, truth.values, strict=False):
            # a later bound is over the plans that keep what the method reached, not what is best
            assert not kept or bound_is_valid(level.bound, true, level.level.sense)
            kept = kept and level.value == true
    if result.plan is not None:
        assert check(instance, model, result.plan).feasible


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_with_the_subject(case: Case, method: str) -> None:
    instance = instance_from_dict(case.document)
    truth = brute_force(instance, case.model())
    solved_or_refused(instance, case.model(), truth, method)


@pytest.mark.parametrize("method", sorted(set(METHODS) & set(EXACT)))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_without_the_subject(case: Case, method: str) -> None:
    stripped, model = case.without()
    instance = instance_from_dict(stripped)
    solved_or_refused(instance, model, brute_force(instance, model), method)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_milp_refuses_nothing_of_the_table(case: Case) -> None:
    assert case.subject in supported("milp")


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("goal", REFUSED)
def test_what_no_method_supports_is_refused_by_name(goal: GoalId, method: str) -> None:
    plain = document([rack("r0", node("n0"))], [workload("c", 1)])
    model = Model("refused", "", (Level((Goal(goal),)),))
    with pytest.raises(UnsupportedFamily) as caught:
        run(instance_from_dict(plain), model, method)
    assert goal in caught.value.families
    assert goal.value in str(caught.value)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("case", BENT, ids=lambda case: case.name)
def test_what_bends_is_solved_or_refused_by_name_before_building(case: Case, method: str) -> None:
    """A method that does not list a subject names it; one that lists it may refuse a curve, and then names that."""
    if case.subject in supported(method):
        return  # solved to the truth by the tests above
    with pytest.raises(UnsupportedFamily) as caught:
        run(instance_from_dict(case.document), case.model(), method)
    assert any(str(name).startswith(case.subject.value) for name in caught.value.families)


@pytest.mark.parametrize("case", [*GOALS, *RESPONSES], ids=lambda case: case.name)
def test_the_bound_of_every_goal_is_near_the_truth_and_not_trivial(case: Case) -> None:
    instance = instance_from_dict(case.document)
    truth = brute_force(instance, case.model())
    result = run(instance, case.model(), "milp")
    bound, true = result.levels[0].bound, float(truth.values[0])
    assert bound is not None
    assert true != 0, "a value of 0 would make the trivial bound right"
    assert abs(float(bound) - true) <= 0.05 * abs(true)
    assert bound_is_valid(bound, truth.values[0], case.levels[0].sense)
