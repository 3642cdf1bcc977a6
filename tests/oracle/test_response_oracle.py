"""The oracle's own answers about what bends, where theory knows them: square-root shares, levels of a worst, curves."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, log, sqrt
from typing import Any

import pytest

from allocator.checker.curves import goodput
from allocator.instance import instance_from_dict
from allocator.instance.entities import Goodput
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from tests.oracle.bent import carried
from tests.oracle.brute_force import brute_force

F = Fraction


def document(*classes: dict[str, Any], cpu: int = 4) -> dict[str, Any]:
    """One node."""
    topology = [{"level": "node", "name": "n", "kind": "a", "capacity": {"cpu": cpu}}]
    return {"format": "allocator/v1", "name": "one", "topology": topology, "workloads": list(classes)}


def critical(name: str, count: int, rate: str, cpu: str, weight: int = 1) -> dict[str, Any]:
    """A class that counts, with room to use four cores."""
    work = {"rate": rate, "cpu": cpu, "parallel": 4}
    return {"class": name, "count": count, "weight": weight, "work": work, "slo": {"critical": True}}


SLOW = critical("c", 1, "1/s", "1 s", 2)


def optimum(case: dict[str, Any], *, worst: bool = False) -> float:
    model = Model("m", "", (Level((Goal(GoalId.P99, worst=worst),)),))
    return float(brute_force(instance_from_dict(case), model).values[0])


def test_shares_follow_the_square_root_of_what_they_are_worth() -> None:
    """Kleinrock: with S cores spare the least sum of w c K / s is (sum of sqrt(w c K))^2 / S."""
    case = document(
        critical("a", 2, "1/s", "200 ms", 3), critical("b", 1, "2/s", "100 ms"), critical("c", 1, "1/s", "1 s", 2)
    )
    worth = [3 * 0.2, 3 * 0.2, 0.1, 2.0]
    spare = 4 - (2 * 0.2 + 0.2 + 1)
    expected = log(100) * sum(map(sqrt, worth)) ** 2 / spare
    assert isclose(optimum(case), expected, rel_tol=1e-7)


def test_the_worst_is_least_when_all_are_equally_bad() -> None:
    """W c K / s equal for all: the level is the sum of w c K over the spare cores."""
    case = document(critical("a", 2, "1/s", "200 ms", 3), critical("b", 1, "2/s", "100 ms"))
    expected = log(100) * (3 * 0.2 + 3 * 0.2 + 0.1) / (4 - 0.6)
    assert isclose(optimum(case, worst=True), expected, rel_tol=1e-7)


@pytest.mark.parametrize("ratio", [F(0), F(1, 3), F(1, 2), F(7, 10), F(1), F(3, 2), F(9)])
@pytest.mark.parametrize(
    "curve",
    [
        Goodput(),
        Goodput("knee", F(3, 2)),
        Goodput("knee", F(1)),
        Goodput("table", points=((F(0), F(0)), (F(1, 2), F(1, 2)), (F(1), F(2, 5)), (F(2), F(1, 5)))),
    ],
)
def test_its_curves_are_the_checkers(curve: Goodput, ratio: Fraction) -> None:
    assert isclose(carried(curve, F(7), 7 * ratio), float(goodput(curve, F(7), 7 * ratio)), rel_tol=1e-12)
