"""An instance with a plan that has something for every section of a summary, and results about it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.checker import check
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId, sense_of
from allocator.plan.entities import PlacedGroup, Plan, UnplacedGroup
from allocator.plan.result import (
    GoalOutcome,
    Infeasibility,
    LevelOutcome,
    Result,
    Status,
    Termination,
    TerminationReason,
)

GIB = 2**30
DOCUMENT = {
    "format": "allocator/v1",
    "name": "pair",
    "topology": [
        {
            "level": "rack",
            "name": "rack",
            "count": 2,
            "uplink": {"bandwidth": "100 Mbit/s"},
            "capacity": {"power": "1 kW"},
            "children": [
                {
                    "level": "node",
                    "name": "node",
                    "count": 2,
                    "kind": "server",
                    "capacity": {"cpu": 4, "memory": "8 GiB"},
                    "uplink": {"bandwidth": "1 Gbit/s"},
                    "power": {"idle": "100 W", "busy": "300 W"},
                }
            ],
        }
    ],
    "workloads": [
        {
            "class": "web",
            "count": 4,
            "requests": {"cpu": 1, "memory": "1 GiB"},
            "work": {"rate": "2/s", "cpu": "500 ms"},
        },
        {"class": "store", "count": 2, "requests": {"cpu": 2, "memory": "2 GiB"}},
    ],
    "flows": [{"from": "web", "to": "store", "pattern": "spread", "rate": "100 Mbit/s"}],
    "current": [
        {"class": "web", "first": 0, "count": 4, "node": "rack1/node1"},
        {"class": "store", "first": 0, "count": 1, "node": "rack0/node1"},
    ],
}


def model_of(*goals: GoalId) -> Model:
    return Model("test", "", tuple(Level((Goal(goal),)) for goal in goals))


def partial_plan(instance: Instance) -> Plan:
    """Three web members on rack0/node0, one left out; the stores in different racks."""
    floors = {workload.name: workload.modes[0].default.requests for workload in instance.workloads}
    return Plan(
        instance.name,
        instance.digest,
        (
            PlacedGroup("web", 0, 3, "default", ("rack0/node0",), floors["web"]),
            PlacedGroup("store", 0, 2, "default", ("rack0/node1", "rack1/node0"), floors["store"]),
        ),
        unplaced=(UnplacedGroup("web", 3, 1, "no node has room for it", {"memory": floors["web"]["memory"]}),),
    )


def result_of(
    instance: Instance,
    *goals: GoalId,
    status: Status = Status.FEASIBLE,
    reason: TerminationReason = TerminationReason.TIME_LIMIT,
    bounds: Sequence[Fraction | int | None] = (),
) -> Result:
    model = model_of(*goals)
    plan = partial_plan(instance)
    evaluation = check(instance, model, plan)
    assert evaluation.feasible
    given = [*bounds, *[None] * len(goals)]
    limits = [None if bound is None else Fraction(bound) for bound in given]
    return Result(
        status=status,
        termination=Termination(reason),
        levels=tuple(
            LevelOutcome(level, value, bound)
            for level, value, bound in zip(model.levels, evaluation.levels, limits, strict=False)
        ),
        goals=tuple(
            GoalOutcome(goal, sense_of(goal), value, bound)
            for (goal, value), bound in zip(evaluation.goals.items(), limits, strict=False)
        ),
        plan=plan,
        evaluation=evaluation,
        method="milp",
        model="test",
        seed=7,
        threads=2,
        seconds={"read": 0.1, "solve": 3.2, "total": 4.5},
    )


def no_plan(status: Status, reason: TerminationReason, why: Infeasibility | None = None) -> Result:
    termination = Termination(reason, "")
    return Result(status, termination, (), (), None, None, "milp", "test", 0, 1, {}, infeasibility=why)


def lines_with(text: str, *parts: str) -> list[str]:
    return [line for line in text.splitlines() if all(part in line for part in parts)]
