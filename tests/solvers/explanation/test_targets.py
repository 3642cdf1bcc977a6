"""Where latency targets alone leave no plan, the answer says so, with what a member would need."""

from __future__ import annotations

from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.plan.result import Result, Status
from tests.builders import model


def asked(p99: str, parallel: int, count: int = 1) -> Result:
    work = {"rate": "1/s", "cpu": "200 ms", "parallel": parallel}
    workload: dict[str, Any] = {"class": "c", "count": count, "requests": {"cpu": 1}, "work": work, "slo": {"p99": p99}}
    node = {"level": "node", "name": "n", "capacity": {"cpu": 4}}
    whole = {"format": "allocator/v1", "name": "late", "topology": [node], "workloads": [workload]}
    return solve(instance_from_dict(whole), model("cost"), method="milp", threads=1)


def test_a_target_beyond_what_a_member_can_use_is_named_with_what_it_needs() -> None:
    result = asked("400 ms", 2)  # 0.2 (1 + ln(100) / 0.4) = 2.5026
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility is not None
    first, whole = result.infeasibility.reasons
    assert first == ("class c: a P99 of 0.4 s needs 2.503 cpu a member at least, and no node lets it use more than 2.")
    assert "without latency targets" in whole.lower()


def test_targets_that_do_not_fit_together_are_told_from_those_out_of_reach() -> None:
    result = asked("400 ms", 4, count=2)
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility is not None
    (whole,) = result.infeasibility.reasons
    assert whole.endswith("does not fit.")


@pytest.mark.parametrize("slo", [{}, {"p99": "10 s"}])
def test_a_limit_on_the_load_of_links_that_leaves_no_plan_is_named(slo: dict[str, str]) -> None:
    """Two members that exchange 3 bit/s each way must stand apart, and the links may be offered 2 of 4."""
    work = {"rate": "1/s", "cpu": "200 ms"}
    node = {"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 1}, "uplink": {"bandwidth": "4 bit/s"}}
    whole = {
        "format": "allocator/v1",
        "name": "full",
        "link_load": 0.5,
        "topology": [node],
        "workloads": [{"class": "c", "count": 2, "requests": {"cpu": 1}, "work": work, "slo": slo}],
        "flows": [{"from": "c", "to": "c", "pattern": "ring", "rate": "3 bit/s"}],
    }
    instance = instance_from_dict(whole)
    result = solve(instance, model("cost"), method="milp", threads=1)
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility is not None
    (whole_reason,) = result.infeasibility.reasons
    assert "offered more than 50 % of their bandwidth (link_load)" in whole_reason
    partly = solve(instance, model("placed"), method="milp", threads=1)
    assert partly.plan is not None
    assert "link_load" in partly.plan.unplaced[0].reason
