"""The limit on the load of links in the exact models: to the bit, where floats tell no difference, too."""

from __future__ import annotations

from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.result import Status

FLOWS: dict[str, list[dict[str, Any]]] = {
    "pairs": [
        {
            "from": "c",
            "to": "d",
            "pattern": "table",
            "table": [[0, 0, "10000001 bit/s"], [1, 1, "1 bit/s"], [2, 1, "3 bit/s"]],
        }
    ],
    "broadcast": [
        {"from": "c", "to": "d", "pattern": "broadcast", "rate": "2500000.1 bit/s"},
        {"from": "e", "to": "d", "pattern": "broadcast", "rate": "1 bit/s"},
    ],
    "back": [
        {"from": "d", "to": "c", "pattern": "broadcast", "rate": "2500000.1 bit/s"},
        {"from": "e", "to": "d", "pattern": "broadcast", "rate": "0.3 bit/s"},
    ],
}
COSTS = {"pairs": 6, "broadcast": 8, "back": 8}
"""At most 10 Mbit/s may leave or enter r0: all but c/0 of the pairs, one c of the broadcasts, and e."""


@pytest.mark.parametrize("method", ["milp", "cpsat"])
@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("flows", FLOWS)
def test_a_load_one_in_ten_million_above_the_limit_does_not_pass(flows: str, method: str, *, placed: bool) -> None:
    node = {"level": "node", "name": "n", "capacity": {"cpu": 20}}
    instance = instance_from_dict(
        {
            "format": "allocator/v1",
            "name": "near",
            "link_load": "0.5",
            "topology": [
                {"level": "rack", "name": "r0", "uplink": {"bandwidth": "20 Mbit/s"}, "children": [node]},
                {"level": "rack", "name": "r1", "children": [node, {**node, "name": "m"}]},
            ],
            "workloads": [
                {"class": "c", "count": 3, "requests": {"cpu": 1}, "cost": {"r0/n": 1, "r1/n": 3, "r1/m": 4}},
                {"class": "d", "count": 2, "requests": {"cpu": 1}, "placement": {"within": ["r1/n"]}},
                {"class": "e", "requests": {"cpu": 1}, "cost": {"r0/n": 1, "r1/n": 5, "r1/m": 6}},
            ],
            "flows": FLOWS[flows],
        }
    )
    goals = [GoalId.PLACED, GoalId.COST] if placed else [GoalId.COST]
    model = Model("near", "", tuple(Level((Goal(goal),)) for goal in goals))
    result = solve(instance, model, method=method, time_limit=20, threads=1)
    assert result.status is Status.OPTIMAL
    assert result.levels[-1].value == COSTS[flows]
