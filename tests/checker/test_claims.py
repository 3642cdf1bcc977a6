"""Claimed against recomputed values: exact where whole, 1e-9 otherwise, and no shape of a document is trusted."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from allocator.checker import check_claims
from allocator.checker.families import DERIVED, RULES
from allocator.model.families import Family, GoalId
from allocator.plan.evaluation import Evaluation

F = Fraction


def evaluation(value: Fraction, goal: GoalId = GoalId.TRAFFIC) -> Evaluation:
    return Evaluation((), (), {goal: value}, (value,), (), (), ())


def document(value: Any, bound: Any = None, goal: str = "traffic") -> dict[str, Any]:
    return {
        "status": "feasible",
        "violations": [],
        "goals": [{"id": goal, "value": value, "bound": bound}],
        "levels": [{"goals": {goal: 1}, "value": value, "bound": bound}],
    }


@pytest.mark.parametrize(
    ("true", "claimed", "holds"),
    [
        (F(10**12), 10**12, True),
        (F(10**12), 10**12 + 1, False),
        (F(1, 3), 1 / 3, True),
        (F(1, 3), 0.33333333, False),
        (F(1, 3), 0.3333333333, True),
        (F(1, 3), Decimal("0.33333333333"), True),
        (F(0), 0, True),
        (F(0), 1e-300, False),
        (F(5), 5.0, True),
        (F(5), "5", False),
        (F(1), True, False),
        (F(5), None, False),
        (F(5), float("inf"), False),
        (F(5), float("nan"), False),
    ],
)
def test_whole_numbers_must_be_equal_and_others_to_a_billionth(true: Fraction, claimed: Any, holds: bool) -> None:
    assert (check_claims(evaluation(true), document(claimed)) == []) == holds


@pytest.mark.parametrize(
    ("goal", "bound", "holds"),
    [
        ("traffic", 5, True),
        ("traffic", 4, True),
        ("traffic", 6, False),
        ("throughput", 6, True),
        ("throughput", 4, False),
        ("traffic", None, True),
        ("traffic", "4", False),
    ],
)
def test_a_bound_worse_than_the_plans_value_is_refuted(goal: str, bound: Any, holds: bool) -> None:
    """A minimised goal of 5 cannot have the lower bound 6, a maximised one not the upper bound 4."""
    assert (check_claims(evaluation(F(5), GoalId(goal)), document(5, bound, goal)) == []) == holds


SHAPES: list[Any] = [
    {},
    {"status": "optimal"},
    {**document(5), "status": "infeasible"},
    {**document(5), "status": None},
    {**document(5), "goals": None},
    {**document(5), "goals": {}},
    {**document(5), "goals": [1]},
    {**document(5), "goals": []},
    {**document(5), "goals": document(5)["goals"] * 2},
    {**document(5), "goals": [*document(5)["goals"], {"id": "cost", "value": 1}]},
    {**document(5), "levels": None},
    {**document(5), "levels": []},
    {**document(5), "levels": [{}]},
    {**document(5), "levels": document(5)["levels"] * 2},
    {**document(5), "violations": [{"family": "capacity"}]},
]


@pytest.mark.parametrize("shape", SHAPES, ids=range(len(SHAPES)))
def test_any_other_shape_is_a_mismatch_and_never_a_traceback(shape: Any) -> None:
    assert check_claims(evaluation(F(5)), shape)
    assert check_claims(evaluation(F(5)), document(5)) == []


def test_an_unknown_goal_in_a_level_leaves_its_bound_unjudged() -> None:
    claimed = document(5, 9)
    claimed["goals"][0]["bound"] = None
    claimed["levels"][0]["goals"] = {"ghost": 1}
    assert check_claims(evaluation(F(5)), claimed) == []


def test_every_family_has_a_rule_or_is_derived() -> None:
    assert set(RULES) | DERIVED == set(Family)
    assert not set(RULES) & DERIVED


@pytest.mark.parametrize(
    ("goal", "true", "claimed", "told"),
    [
        ("throughput", F(23), 99, "99 tasks/s is claimed, it is 23 tasks/s"),
        ("traffic", F(5), 6, "6 bit/s x hops is claimed, it is 5 bit/s x hops"),
        ("peak", F(1, 2), 0.25, "25 % is claimed, it is 50 %"),
        ("p99", F(3, 2), 1, "1 s is claimed, it is 1.5 s"),
        ("placed", F(3), 4, "4 is claimed, it is 3"),
    ],
)
def test_differences_name_the_unit_and_count_levels_from_one(
    goal: str, true: Fraction, claimed: Any, told: str
) -> None:
    texts = check_claims(evaluation(true, GoalId(goal)), document(claimed, goal=goal))
    assert texts == [f"goal {goal}: {told}", f"level 1: {told}"]


@pytest.mark.parametrize("goals", [{"p99": 2}, {"p99": 1, "cost": 1}, {"ghost": 1}, [], None])
def test_a_level_that_is_no_goal_alone_has_no_unit(goals: Any) -> None:
    claimed = document(1, goal="p99")
    claimed["levels"][0]["goals"] = goals
    assert check_claims(evaluation(F(3), GoalId.P99), claimed)[1] == "level 1: 1 is claimed, it is 3"
