"""Smooth goodput curves on links that are offered thousands or millions of times what they carry."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from allocator import solve
from allocator.errors import MethodRefused
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Linearization
from allocator.plan.result import Status
from tests.builders import model

MODEL = model("throughput")
FINE = replace(MODEL, linearization=Linearization(Fraction(1, 1000)))


def pairs_over(p: str, rate: str) -> Instance:
    """Four members of one core talk in pairs; racks of two cores behind links of 1 kbit/s."""
    uplink = {"bandwidth": "1 kbit/s", "goodput": {"curve": "knee", "p": p}}

    def rack(name: str) -> dict[str, Any]:
        inside = {"level": "node", "name": "n", "kind": "a", "capacity": {"cpu": 2}}
        return {"level": "rack", "name": name, "uplink": uplink, "children": [inside]}

    work = {"rate": "1/s", "cpu": "500 ms"}
    return instance_from_dict(
        {
            "format": "allocator/v1",
            "name": "slow",
            "topology": [rack("r0"), rack("r1")],
            "workloads": [{"class": name, "count": 2, "requests": {"cpu": 1}, "work": work} for name in ("a", "b")],
            "flows": [{"from": "a", "to": "b", "pattern": "pair", "rate": rate}],
        }
    )


@pytest.mark.parametrize(
    ("method", "p", "rate"), [("milp", "0.5", "1 Mbit/s"), ("auto", "0.5", "1 Gbit/s"), ("auto", "4", "1 Tbit/s")]
)
def test_talkers_are_kept_off_a_link_that_carries_next_to_nothing(method: str, p: str, rate: str) -> None:
    result = solve(pairs_over(p, rate), FINE, method=method, time_limit=20)
    assert result.status is Status.OPTIMAL
    assert result.levels[0].value == 4


def test_a_knee_too_soft_for_floats_is_refused_and_auto_answers_still() -> None:
    instance = pairs_over("0.01", "1 Mbit/s")
    with pytest.raises(MethodRefused, match="cannot approximate the goodput of r0"):
        solve(instance, MODEL, method="milp")
    result = solve(instance, MODEL, time_limit=5)
    assert result.levels[0].value == 4
