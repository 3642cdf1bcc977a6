"""Plans that are wrong in one place, for every family and goal: each must be refused.

The tables name every family and goal. One that is added without a mutation fails the first test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from allocator.checker import check, check_claims
from allocator.checker.goals import GOALS
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import Family, GoalId
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup
from allocator.plan.evaluation import Evaluation
from allocator.plan.numbers import plain_number
from tests.checker.everything import everything

F = Fraction


@cache
def base() -> tuple[Instance, Model, Plan, Evaluation]:
    instance, model, plan = everything()
    return instance, model, plan, check(instance, model, plan)


def claim(evaluation: Evaluation, model: Model) -> dict[str, Any]:
    """What an honest result document says of an evaluation."""
    return {
        "status": "feasible",
        "goals": [{"id": goal.value, "value": plain_number(value)} for goal, value in evaluation.goals.items()],
        "levels": [
            {"goals": {goal.id.value: 1 for goal in level.goals}, "value": plain_number(value)}
            for level, value in zip(model.levels, evaluation.levels, strict=True)
        ],
        "violations": [],
    }


# ------------------------------------------------------------------ ways to change a plan


def number_of(plan: Plan, name: str, member: int) -> int:
    return next(i for i, group in enumerate(plan.placements) if (group.workload, group.first) == (name, member))


def edit(plan: Plan, name: str, member: int, **changes: Any) -> Plan:
    index = number_of(plan, name, member)
    groups = list(plan.placements)
    groups[index] = replace(groups[index], **changes)
    return replace(plan, placements=tuple(groups))


def move(plan: Plan, name: str, *targets: tuple[int, str]) -> Plan:
    for member, path in targets:
        plan = edit(plan, name, member, nodes=(path,))
    return plan


def share(plan: Plan, name: str, member: int, resource: str, amount: int) -> Plan:
    shares = plan.placements[number_of(plan, name, member)].shares
    return edit(plan, name, member, shares={**shares, resource: amount})


def evict(plan: Plan, name: str, *members: int) -> Plan:
    for member in members:
        group = plan.placements[number_of(plan, name, member)]
        plan = replace(
            plan,
            placements=tuple(other for other in plan.placements if other is not group),
            unplaced=(*plan.unplaced, UnplacedGroup(name, member, 1, "evicted")),
        )
    return plan


def drop(plan: Plan, index: int) -> Plan:
    return replace(plan, placements=plan.placements[:index] + plan.placements[index + 1 :])


def add(plan: Plan, *groups: PlacedGroup, keep: bool = True) -> Plan:
    """Place members that were unplaced, or (``keep``) state them twice."""
    names = {(group.workload, group.first) for group in groups}
    unplaced = tuple(u for u in plan.unplaced if keep or (u.workload, u.first) not in names)
    return replace(plan, placements=(*plan.placements, *groups), unplaced=unplaced)


def grant(plan: Plan, name: str, value: Fraction | None) -> Plan:
    flows = [flow for flow in plan.flows if flow.source != name]
    target = next((flow.target for flow in plan.flows if flow.source == name), name)
    if value is not None:
        flows.append(FlowGrant(name, target, value))
    return replace(plan, flows=tuple(flows))


# ------------------------------------------------------------------ a mutation for every family


def assignment(plan: Plan) -> Iterator[Plan]:
    for index, group in enumerate(plan.placements):
        yield drop(plan, index)
        yield add(plan, group)
    for member in range(4):
        yield evict(plan, "web", member)  # a team torn apart
    yield evict(plan, "store", 0)
    yield add(plan, PlacedGroup("acc", 2, 1, "default", ("r2/n3",), {"gpu": 1}))  # placed and unplaced
    yield replace(plan, unplaced=())
    for changes in ({"workload": "w"}, {"mode": "m"}, {"nodes": ("r0",)}, {"nodes": ()}, {"first": 99}, {"count": 2}):
        for name, member in (("web", 5), ("cache", 2), ("acc", 1)):
            yield edit(plan, name, member, **changes)


def eligibility(plan: Plan) -> Iterator[Plan]:
    for path in ("r0/n1", "r1/n3", "r0/n3", "r1/n1"):
        yield move(plan, "pin", (0, path))
    for member in range(3):
        for node in ("n1", "n2", "n3"):
            yield move(plan, "store", (member, f"r{member}/{node}"))


def shares(plan: Plan) -> Iterator[Plan]:
    for member in range(6):
        for amount in (0, 499, 1501, 10**18, -1):
            yield share(plan, "web", member, "cpu", amount)
        yield share(plan, "web", member, "memory", 21)
        yield share(plan, "web", member, "gpu", 1)
    for member in range(3):
        yield share(plan, "store", member, "memory", 89)
        yield share(plan, "cache", member, "memory", 31)
        yield share(plan, "cache", member, "ghost", 1)
    yield edit(plan, "pair", 0, shares={})


def capacity(plan: Plan) -> Iterator[Plan]:
    yield move(plan, "pair", (0, "r0/n3"))
    yield move(plan, "pair", (2, "r1/n3"))
    for member, path in ((0, "r0/n0"), (0, "r0/n1"), (1, "r1/n2"), (1, "r0/n3"), (0, "r1/n3")):
        yield move(plan, "acc", (member, path))  # no accelerator there, or taken
    yield add(plan, PlacedGroup("acc", 2, 1, "default", ("r0/n3",), {"gpu": 1}), keep=False)


def pool(plan: Plan) -> Iterator[Plan]:
    for member in range(3):
        yield move(plan, "cache", (member, f"r{member}/n0"))  # 30 + 30 drawn of 50
    for member, rack in ((1, 0), (2, 1), (0, 2)):
        yield move(plan, "store", (member, f"r{rack}/n0"))
    yield move(plan, "web", (1, "r0/n0"), (2, "r0/n0"))


def rates(plan: Plan) -> Iterator[Plan]:
    """Nothing is violated: the members complete less than is claimed."""
    for theta in (F(0), F(1, 4), F(1, 2), F(99, 100)):
        yield grant(plan, "t/0", theta)
    for theta in (None, F(1, 3), F(89, 100)):
        yield grant(plan, "t/1", theta)
    for theta in (None, F(1, 3), F(89, 100)):
        yield grant(plan, "pin/0", theta)


def fabric(plan: Plan) -> Iterator[Plan]:
    for theta in (F(1), F(91, 100), F(9, 10) + F(1, 10**15), F(2), F(-1, 10**9)):
        yield grant(plan, "t/1", theta)
    for name in ("t/2", "t", "web", "t/00", ""):
        yield grant(plan, name, F(1, 2))
    yield replace(plan, flows=(*plan.flows, plan.flows[0]))
    yield grant(plan, "t/0", F(3, 2))
    for path in ("r1/n1", "r1/n3"):  # 8 more offered, none of it granted: the uplink of r1 collapses
        yield grant(move(plan, "pin", (0, path)), "pin/0", F(0))


def transient(plan: Plan) -> Iterator[Plan]:
    for i, j in combinations(range(3), 2):
        yield move(plan, "store", (i, f"r{j}/n0"), (j, f"r{i}/n0"))
    yield move(plan, "store", (0, "r1/n0"), (1, "r2/n0"), (2, "r0/n0"))


def conflict(plan: Plan) -> Iterator[Plan]:
    for member, rack in ((1, 0), (3, 0), (5, 0), (0, 1), (4, 1), (0, 2)):
        yield move(plan, "web", (member, f"r{rack}/n0"))


def spread(plan: Plan) -> Iterator[Plan]:
    for path in ("r0/n1", "r1/n1", "r0/n2"):
        yield move(plan, "web", (3, path), (5, path))
    yield move(plan, "web", (0, "r1/n1"), (4, "r2/n1"))
    yield move(evict(plan, "web", 5), "web", (3, "r0/n1"))


def dependency(plan: Plan) -> Iterator[Plan]:
    yield evict(plan, "store", 2)
    for member, path in ((0, "r1/n0"), (1, "r2/n0"), (2, "r0/n0")):
        yield move(plan, "store", (member, path))


def gang(plan: Plan) -> Iterator[Plan]:
    for member, path in ((0, "r1/n1"), (1, "r2/n1"), (2, "r0/n1"), (3, "r2/n3"), (0, "r0/n3"), (1, "r0/n2")):
        yield move(plan, "pair", (member, path))
    for member in range(4):
        yield evict(plan, "pair", member)
    yield evict(plan, "pair", 1, 2)


def move_limit(plan: Plan) -> Iterator[Plan]:
    for member, rack in ((1, 1), (2, 2)):
        for path in (f"r{rack}/n2", f"r{rack}/n3", f"r{(rack + 1) % 3}/n2"):
            yield move(plan, "cache", (member, path))
        yield evict(plan, "cache", member)
    yield evict(plan, "store", 2)


def reserve(plan: Plan) -> Iterator[Plan]:
    yield add(plan, PlacedGroup("acc", 2, 1, "default", ("r2/n3",), {"gpu": 1}), keep=False)


def slo(plan: Plan) -> Iterator[Plan]:
    """Needed: (2 + 4.605 / 2) / 4 = 1.0757 cores, (2 + 4.605 / 1.98) / 4 = 1.0815 with a path of 20 ms."""
    for member in range(6):
        for amount in (1075, 1000, 500):
            yield share(plan, "web", member, "cpu", amount)
    for member in range(4):
        yield share(plan, "web", member, "cpu", 1081)
    yield share(move(plan, "web", (4, "r1/n1")), "web", 4, "cpu", 1075)


def link_load(plan: Plan) -> Iterator[Plan]:
    """Rack r1 is offered 40 of 40 already, and the flow of 8 goes there."""
    for path in ("r1/n0", "r1/n1", "r1/n2", "r1/n3"):
        yield move(plan, "pin", (0, path))


FAMILIES: dict[Family, Callable[[Plan], Iterator[Plan]]] = {
    Family.ASSIGNMENT: assignment,
    Family.ELIGIBILITY: eligibility,
    Family.SHARES: shares,
    Family.CAPACITY: capacity,
    Family.POOL: pool,
    Family.RATES: rates,
    Family.FABRIC: fabric,
    Family.TRANSIENT: transient,
    Family.CONFLICT: conflict,
    Family.SPREAD: spread,
    Family.DEPENDENCY: dependency,
    Family.GANG: gang,
    Family.MOVE_LIMIT: move_limit,
    Family.RESERVE: reserve,
    Family.SLO: slo,
    Family.LINK_LOAD: link_load,
}

# ------------------------------------------------------------------ a feasible change for every goal: the claim is off

GOAL_CHANGES: dict[GoalId, Callable[[Plan], Plan]] = {
    GoalId.PLACED: lambda plan: evict(plan, "acc", 0),
    GoalId.THROUGHPUT: lambda plan: grant(plan, "t/0", F(1, 2)),
    GoalId.FAIRNESS: lambda plan: grant(plan, "t/1", F(1, 2)),
    GoalId.P99: lambda plan: share(plan, "web", 0, "cpu", 1082),
    GoalId.TRAFFIC: lambda plan: move(plan, "web", (0, "r0/n1")),
    GoalId.COST: lambda plan: move(plan, "acc", (0, "r2/n3")),
    GoalId.CONGESTION: lambda plan: move(plan, "web", (0, "r0/n1")),
    GoalId.PEAK: lambda plan: evict(plan, "pair", 0, 1, 2, 3),
    GoalId.OVERLOAD: lambda plan: move(plan, "web", (4, "r0/n1")),
    GoalId.BALANCE: lambda plan: move(plan, "web", (4, "r0/n2")),
    GoalId.MOVES: lambda plan: move(plan, "cache", (0, "r0/n2")),
    GoalId.NODES: lambda plan: move(plan, "cache", (0, "r0/n2")),
    GoalId.POWER: lambda plan: move(plan, "cache", (0, "r0/n2")),
}

FALSE_VALUES: list[Callable[[Any], Any]] = [
    lambda value: value + 1,
    lambda value: value - 1,
    lambda value: value * (1 + 1e-6) + 1e-6,
    lambda value: -value - 1,
    lambda value: None,
    str,
    lambda value: float("nan"),
    lambda value: float("inf"),
    lambda value: [value],
]


def test_every_family_and_goal_has_a_mutation() -> None:
    assert set(FAMILIES) == set(Family)
    assert set(GOAL_CHANGES) == set(GOALS)


def test_the_plan_they_start_from_holds_as_claimed() -> None:
    _, model, _, evaluation = base()
    assert evaluation.violations == ()
    assert check_claims(evaluation, claim(evaluation, model)) == []
    assert set(evaluation.goals) == set(GOALS)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_plans_mutated_in_a_family_are_refused(family: Family) -> None:
    instance, model, plan, truth = base()
    for number, mutated in enumerate(FAMILIES[family](plan)):
        assert mutated != plan, number
        evaluation = check(instance, model, mutated)
        if family is Family.RATES:
            assert evaluation.feasible, (number, evaluation.violations)
            assert any("throughput" in text for text in check_claims(evaluation, claim(truth, model))), number
        else:
            assert family in {violation.family for violation in evaluation.violations}, (number, evaluation.violations)


@pytest.mark.parametrize("goal", sorted(GOAL_CHANGES))
def test_a_plan_changed_in_a_goal_no_longer_holds_as_claimed(goal: GoalId) -> None:
    instance, model, plan, truth = base()
    evaluation = check(instance, model, GOAL_CHANGES[goal](plan))
    assert evaluation.feasible, evaluation.violations
    mismatches = check_claims(evaluation, claim(truth, model))
    assert any(text.startswith(f"goal {goal.value}:") for text in mismatches), mismatches


@pytest.mark.parametrize("goal", sorted(GOAL_CHANGES))
def test_a_false_claim_of_a_goal_is_refused(goal: GoalId) -> None:
    _, model, _, truth = base()
    level = next(number for number, level in enumerate(model.levels) if level.goals[0].id is goal)
    for part, index in (("goals", level), ("levels", level)):
        for false in FALSE_VALUES:
            document = claim(truth, model)
            document[part][index]["value"] = false(document[part][index]["value"])
            assert check_claims(truth, document), (part, document[part][index])


def test_there_are_at_least_200_mutated_plans() -> None:
    _, _, plan, _ = base()
    count = sum(len(list(mutate(plan))) for mutate in FAMILIES.values())
    assert count + len(GOAL_CHANGES) >= 200
