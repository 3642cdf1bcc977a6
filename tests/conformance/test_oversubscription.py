"""The oversubscription ratio acts: one team on two racks, from a fabric as wide as its nodes to one an eighth of it."""

from __future__ import annotations

from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import Plan
from tests.conformance.building import BUSY, document, node, rack, workload
from tests.oracle.brute_force import brute_force

RATIOS = (1, 3, 8)
BEST = {1: 8.0, 3: 16 / 3, 8: 5.0}
"""Tasks/s. Apart both have four cores, and get 1, 2/3 or 1/4 of what they say through; in one rack they share five."""

THROUGHPUT = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))


def racks(ratio: int) -> dict[str, Any]:
    """Two racks with a node of four cores and one of one; two talkers of 4 bit/s that could use four cores each."""
    tops = []
    for number in range(2):
        nodes = [
            node(f"n{i}", {"cpu": cores, "memory": 8}, uplink={"bandwidth": "4 bit/s"})
            for i, cores in enumerate((4, 1))
        ]
        tops.append(rack(f"r{number}", *nodes, uplink={"oversubscription": ratio}))
    return document(
        tops,
        [workload("c", 2, work={**BUSY, "rate": "4/s"})],
        teams=[{"team": "t", "count": 1, "members": {"c": 2}, "traffic": {"rate": "4 bit/s"}}],
    )


def racks_used(plan: Plan) -> int:
    return len({path.split("/")[0] for group in plan.placements for path in group.nodes})


def check_plan(ratio: int, value: float, plan: Plan) -> None:
    assert abs(value - BEST[ratio]) <= 1e-6
    assert racks_used(plan) == (1 if ratio == 8 else 2)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_thinner_the_fabric_the_less_is_done_until_talkers_move_together(ratio: int) -> None:
    truth = brute_force(instance_from_dict(racks(ratio)), THROUGHPUT)
    assert truth.plan is not None
    check_plan(ratio, float(truth.values[0]), truth.plan)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_solver_moves_them_too(ratio: int) -> None:
    result = solve(instance_from_dict(racks(ratio)), THROUGHPUT, method="milp", time_limit=20, seed=0, threads=1)
    assert result.plan is not None
    assert result.levels[0].value is not None
    check_plan(ratio, float(result.levels[0].value), result.plan)


def test_throughput_never_rises_with_the_ratio() -> None:
    values = [brute_force(instance_from_dict(racks(ratio)), THROUGHPUT).values[0] for ratio in (1, 2, 3, 5, 8)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3
