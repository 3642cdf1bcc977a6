"""End-to-end P99: the union bound over stages, exact for exponential times."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from allocator.checker.end_to_end import Stage, end_to_end, log_of_hundred, teams_end_to_end
from allocator.errors import ArgumentError
from allocator.instance import instance_from_dict
from allocator.plan.entities import PlacedGroup, Plan


@pytest.mark.parametrize("stages", [1, 2, 3, 7, 100, 12_345])
def test_the_logarithm_is_a_bound_from_above_and_near(stages: int) -> None:
    found = log_of_hundred(stages)
    assert abs(float(found) - math.log(100 * stages)) <= 1e-14
    half = log_of_hundred(stages * stages)  # ln(100 k^2) = 2 ln(100 k) - ln(100)
    assert abs(half - (2 * found - log_of_hundred(1))) < Fraction(1, 10**38)


def test_one_stage_is_its_own_p99() -> None:
    ends = end_to_end([Stage(Fraction(3), Fraction(1))])
    assert (ends.stages, ends.in_a_row, ends.branches) == (1, 3, 3)


def test_a_quantile_of_each_stage_is_taken_and_delays_are_counted_once_each() -> None:
    """Two exponential times of mean 1 and 2 with delays 0.5 and 0: Q(0.995) = ln(200) m + D."""
    k = log_of_hundred(1)
    ends = end_to_end([Stage(k + Fraction(1, 2), Fraction(1, 2)), Stage(2 * k)])
    assert float(ends.in_a_row) == pytest.approx(3 * math.log(200) + 0.5, rel=1e-12)
    assert float(ends.branches) == pytest.approx(2 * math.log(200), rel=1e-12)


@pytest.mark.parametrize("dependence", ["independent", "equal", "opposed"])
def test_at_most_one_request_in_a_hundred_is_slower_whatever_the_dependence(dependence: str) -> None:
    rng = random.Random(dependence)
    means = (1.0, 2.0)
    ends = end_to_end([Stage(log_of_hundred(1) * Fraction(mean)) for mean in means])
    slower = [0, 0]
    runs = 40_000
    for _ in range(runs):
        u = rng.random()
        v = {"independent": rng.random(), "equal": u, "opposed": 1 - u}[dependence]
        times = [-math.log(1 - x) * mean for x, mean in zip((u, v), means, strict=True)]
        slower[0] += sum(times) > ends.in_a_row
        slower[1] += max(times) > ends.branches
    assert all(number <= 0.0115 * runs for number in slower)
    if dependence == "equal":
        assert slower[0] >= 0.004 * runs, "a bound of no use"


def test_no_stage_is_refused() -> None:
    with pytest.raises(ArgumentError, match="at least 1"):
        end_to_end([])


def team_instance(rate: str = "1/s") -> object:
    work = {"rate": rate, "cpu": "200 ms", "parallel": 4}
    return {
        "format": "allocator/v1",
        "name": "teams",
        "topology": [
            {
                "level": "rack",
                "name": f"r{i}",
                "uplink": {"latency": "50 ms"},
                "children": [{"level": "node", "name": "n", "capacity": {"cpu": 8}}],
            }
            for i in range(2)
        ],
        "workloads": [
            {"class": "a", "count": 4, "requests": {"cpu": "500m"}, "work": work, "slo": {"critical": True}},
            {"class": "b", "count": 2, "requests": {"cpu": "500m"}},
        ],
        "teams": [{"team": "t", "count": 2, "members": {"a": 2, "b": 1}, "traffic": {"rate": "1 Mbit/s"}}],
    }


def plan_of_teams(instance: object, *nodes: str, share: int = 700) -> Plan:
    groups = [PlacedGroup("a", i, 1, "default", (node,), {"cpu": share}) for i, node in enumerate(nodes)]
    groups += [PlacedGroup("b", i, 1, "default", ("r0/n",), {"cpu": 500}) for i in range(2)]
    return Plan("teams", instance.digest, tuple(groups), (), ())  # type: ignore[attr-defined]


def test_the_slowest_team_of_an_entry_is_told_with_its_members_that_have_a_p99() -> None:
    instance = instance_from_dict(team_instance())
    scale = 10 ** -instance.resources["cpu"].exponent
    plan = plan_of_teams(instance, "r0/n", "r0/n", "r0/n", "r1/n", share=scale * 7 // 10)
    ends = teams_end_to_end(instance, plan)["t"]
    mean = 1 / (0.7 / 0.2 - 1)  # the second team stands apart: 100 ms one way
    assert ends.stages == 2
    assert float(ends.in_a_row) == pytest.approx(2 * (math.log(200) * mean + 0.1), rel=1e-12)
    assert float(ends.branches) == pytest.approx(math.log(200) * mean + 0.1, rel=1e-12)


def test_a_queue_without_end_has_no_end_to_end_time() -> None:
    instance = instance_from_dict(team_instance("5/s"))
    scale = 10 ** -instance.resources["cpu"].exponent
    plan = plan_of_teams(instance, "r0/n", "r0/n", "r0/n", "r1/n", share=scale * 7 // 10)
    assert teams_end_to_end(instance, plan) == {}
