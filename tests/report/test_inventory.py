"""What ``check`` says of an instance without a plan."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.instance import instance_from_dict
from allocator.report.inventory import describe


def resources(power: dict[str, str] | None, asked: str | None) -> list[list[str]]:
    """Rows of the table of resources, of a capped node with two members."""
    node: dict[str, Any] = {"level": "node", "name": "n", "capacity": {"cpu": 8, "power": "2 kW"}}
    requests = {"cpu": "1"} if asked is None else {"cpu": "1", "power": asked}
    text = describe(
        instance_from_dict(
            {
                "format": "allocator/v1",
                "name": "one",
                "topology": [node if power is None else {**node, "power": power}],
                "workloads": [{"class": "a", "count": 2, "requests": requests}],
            }
        )
    )
    return [line.split() for line in text.split("Resources\n")[1].split("\n\n")[0].splitlines()[1:]]


DRAW = {"idle": "100 W", "busy": "400 W"}


@pytest.mark.parametrize(
    ("power", "asked", "row"),
    [
        (DRAW, None, ["power", "follows", "use", "2", "kW", "-"]),
        (DRAW, "50 W", ["power", "100", "W", "2", "kW", "5", "%"]),
        (None, None, ["power", "0", "W", "2", "kW", "0", "%"]),
    ],
)
def test_power_that_nodes_draw_is_not_called_0(power: dict[str, str] | None, asked: str | None, row: list[str]) -> None:
    """What nodes draw depends on the plan; 0 W of 2 kW would read like a cap that cannot bind."""
    assert sorted(resources(power, asked)) == [["cpu", "2", "cores", "8", "cores", "25", "%"], row]
