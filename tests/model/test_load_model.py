"""Model files: found by name or path, checked as a whole."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from allocator.errors import ArgumentError, InputError
from allocator.model import list_models, load_model
from allocator.model.entities import Goal, Level, Linearization, Slack
from allocator.model.families import Family, GoalId


def problems(document: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_model(document)
    return "\n".join(str(problem) for problem in caught.value.problems)


def test_the_models_that_come_with_the_package() -> None:
    """The promised models are there; each is valid, named like its file, and says what it is for."""
    promised = {"throughput", "p99", "fairness", "traffic", "consolidate", "balance", "rebalance", "cost", "place"}
    assert promised <= set(list_models())
    for name in list_models():
        model = load_model(name)
        assert model.name == name
        assert model.about
        assert model.levels


def test_which_models_may_leave_members_out() -> None:
    """Only place, place-close and p99 weigh who is placed; all others need everybody placed."""
    assert {name for name in list_models() if load_model(name).may_leave_out} == {"p99", "place", "place-close"}


def test_rebalance_is_one_weighted_sum() -> None:
    """Machine reassignment adds up overload, balance and moves in one level."""
    (level,) = load_model("rebalance").levels
    assert {goal.id for goal in level.goals} == {GoalId.OVERLOAD, GoalId.BALANCE, GoalId.MOVES}
    assert {goal.weight for goal in level.goals} == {1}


def test_a_whole_document() -> None:
    """Goals as names, as weighted sums, with slack; ignored families; linearisation."""
    model = load_model(
        {
            "name": "mine",
            "about": "as in the design",
            "goals": [
                "placed",
                {"goals": {"p99": 1}, "slack": "1 %"},
                {"traffic": 1, "moves": 0.1},
                {"goals": {"cost": 2, "nodes": 1}, "slack": 5},
                {"peak": {"weight": 3, "resources": ["cpu"], "level": "node"}},
            ],
            "ignore": ["slo", "reserve"],
            "linearization": {"tolerance": "2 %", "method": "logarithmic"},
        }
    )
    assert model.levels == (
        Level((Goal(GoalId.PLACED),)),
        Level((Goal(GoalId.P99),), Slack(Fraction(1, 100), relative=True)),
        Level((Goal(GoalId.TRAFFIC), Goal(GoalId.MOVES, Fraction(1, 10)))),
        Level((Goal(GoalId.COST, Fraction(2)), Goal(GoalId.NODES)), Slack(Fraction(5))),
        Level((Goal(GoalId.PEAK, Fraction(3), ("cpu",), "node"),)),
    )
    assert model.ignore == {Family.SLO, Family.RESERVE}
    assert model.linearization == Linearization(Fraction(1, 50), "logarithmic")
    assert load_model(model) is model


def test_the_worst_p99_is_another_goal() -> None:
    """p99: worst is kept apart from the sum, so that a method can refuse or solve it."""
    (level,) = load_model({"goals": [{"p99": "worst"}]}).levels
    assert level.goals == (Goal(GoalId.P99, worst=True),)


def test_files_by_path(tmp_path: Path) -> None:
    """A path, or a name with a suffix, is a file; its name is the default name."""
    path = tmp_path / "mine.yaml"
    path.write_text("goals: [cost]\n")
    assert load_model(path).name == load_model(str(path)).name == "mine"
    with pytest.raises(InputError, match="No such file"):
        load_model("missing.yaml")


@pytest.mark.parametrize("name", ["nope", "", "README", "P99", "a\0b"])
def test_unknown_names_list_what_there_is(name: str) -> None:
    """A name that is no model is refused with the names that are."""
    with pytest.raises(ArgumentError, match="balance, consolidate, cost"):
        load_model(name)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, "goals: must be a list of at least one goal"),
        ({"goals": []}, "goals: must be a list"),
        ({"goals": "cost"}, "goals = cost: must be a list"),
        ({"goals": ["cots"]}, "goals[0] = cots: there is no such goal; did you mean 'cost'?"),
        ({"goals": [{"cots": 1}]}, "goals[0].cots: there is no such goal"),
        ({"goals": ["cost", {"cost": 1}]}, "goals[1]: names the goal cost again, after goals[0]"),
        ({"goals": [{"cost": 0}]}, "goals[0].cost = 0: must be more than 0"),
        ({"goals": [{"cost": -1}]}, "must be more than 0"),
        ({"goals": [{"cost": float("nan")}]}, "goals[0].cost = nan: must be a finite number"),
        ({"goals": [{"cost": ""}]}, "must not be empty"),
        ({"goals": [{"cost": None}]}, "goals[0].cost: must be a number"),
        ({"goals": [{"cost": "worst"}]}, "only p99 has a worst"),
        ({"goals": [{"cost": {"level": "node"}}]}, "goals[0].cost.level: there is no such key"),
        ({"goals": [{"peak": {"resources": "cpu"}}]}, "goals[0].peak.resources = cpu: must be a list"),
        ({"goals": [{"peak": {"level": ""}}]}, "goals[0].peak.level"),
        ({"goals": [{}]}, "goals[0]: must be a goal"),
        ({"goals": [["cost"]]}, "goals[0]: must be a goal"),
        ({"goals": [{"goals": {"cost": 1}, "slak": 1}]}, "goals[0].slak: there is no such key; did you mean 'slack'?"),
        ({"goals": [{"goals": {"cost": 1}, "slack": "-1 %"}]}, "goals[0].slack = -1 %: must be at least 0"),
        ({"goals": [{"goals": {"cost": 1}, "slack": "1 s"}]}, "must be a number or a percentage"),
        (
            {"goals": ["cost"], "ignore": ["fabrik"]},
            "ignore[0] = fabrik: there is no such family; did you mean 'fabric'?",
        ),
        ({"goals": ["cost"], "ignore": ["assignment"]}, "cannot be ignored"),
        ({"goals": ["cost"], "ignore": "slo"}, "ignore = slo: must be a list"),
        ({"goals": ["cost"], "linearization": {"tolerance": 0}}, "linearization.tolerance = 0: must be more than 0"),
        ({"goals": ["cost"], "linearization": {"method": "magic"}}, "linearization.method = magic: must be one of"),
        ({"goals": ["cost"], "linearization": 3}, "linearization = 3: must be a map"),
        ({"goals": ["p99", "placed"]}, "goals[0] = p99: members may be left out for it; placed must stand alone"),
        ({"goals": [{"goals": "placed", "slack": 1}, {"p99": "worst"}]}, "goals[1] = p99: members may be left out"),
        ({"goals": [{"placed": 1, "cost": 1}, "p99"]}, "members may be left out for it"),
        ({"goals": ["cost"], "gaols": 1}, "gaols: there is no such key; did you mean 'goals'?"),
        ({"goals": ["cost"], "name": ""}, 'name = "": must be text'),
    ],
)
def test_each_mistake_is_named(document: dict[str, Any], expected: str) -> None:
    """A mistake in a model is named by its place and what would be right."""
    assert expected in problems(document)


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """A file's problems come together, duplicate keys with their line."""
    path = tmp_path / "m.yaml"
    path.write_text("goals: [cots]\nabout: x\nabout: y\nignore: [nothing]\n")
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert [problem.path for problem in caught.value.problems] == ["line 3", "goals[0]", "ignore[0]"]
