"""What a method claims of an assignment is what the independent checker finds in the restored plan, exactly."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from allocator.checker import check
from allocator.compiled.restore import plan_of
from allocator.model.families import Family, GoalId
from allocator.solvers.evaluation.goals import GOALS as EVALUATED
from allocator.solvers.evaluation.goals import goal_value, level_values
from allocator.solvers.evaluation.power import domain_watts
from allocator.solvers.evaluation.use import overdrawn
from tests.oracle.random_instances import GOALS
from tests.solvers.random_assignments import compiled_case, every_goal, random_assignment

SEEDS = range(250)
IGNORABLE = (Family.RATES, Family.FABRIC, Family.TRANSIENT, Family.POOL, Family.CAPACITY, Family.GANG)


def test_every_goal_that_random_instances_use_is_evaluated() -> None:
    assert set(EVALUATED) == {*GOALS, GoalId.P99}


@pytest.mark.parametrize("block", range(5))
def test_every_goal_has_the_checkers_value_on_random_assignments(block: int) -> None:
    moved: set[str] = set()
    for seed in SEEDS[block::5]:
        rng = random.Random(seed)
        ignore = frozenset(family for family in IGNORABLE if rng.random() < 0.15)
        compiled, _ = compiled_case(seed, every_goal(rng, ignore))
        assignment = random_assignment(compiled, rng)
        plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
        found = check(compiled.instance, compiled.model, plan)
        for level in compiled.model.levels:
            for goal in level.goals:
                value = goal_value(compiled, assignment, goal)
                assert value == found.goals[goal.id], f"seed {seed}: {goal.id} without {sorted(ignore)}"
                if value not in (0, 1):
                    moved.add(str(goal.id))
        assert level_values(compiled, assignment) == found.levels, f"seed {seed}"
    assert moved == {str(goal) for goal in GOALS}, "a goal that is always 0 or 1 proves nothing"


def test_weighted_levels_have_the_checkers_value() -> None:
    mixed = 0
    for seed in range(120):
        rng = random.Random(seed)
        compiled, _ = compiled_case(seed)
        mixed += any(len(level.goals) > 1 for level in compiled.model.levels)
        assignment = random_assignment(compiled, rng)
        plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
        assert level_values(compiled, assignment) == check(compiled.instance, compiled.model, plan).levels
    assert mixed > 10


def test_overdrawn_capacities_and_pools_are_those_the_checker_finds() -> None:
    """Power caps and the ban on entering overfull domains are families of their own, so instances with them are out."""
    broken = 0
    for seed in range(300):
        rng = random.Random(seed)
        compiled, _ = compiled_case(seed)
        if compiled.overfull.any():
            continue
        assignment = random_assignment(compiled, rng)
        plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
        violations = check(compiled.instance, compiled.model, plan).violations
        mine = {compiled.instance.domains[d].path for d, _ in overdrawn(compiled, assignment.counts, assignment.shares)}
        theirs = {
            v.where
            for v in violations
            if v.family in (Family.CAPACITY, Family.POOL, Family.TRANSIENT) and not v.message.startswith("power: ")
        }
        assert {path or "the root" for path in mine} == theirs, f"seed {seed}"
        broken += bool(mine)
    assert broken > 30


def test_watts_of_domains_add_up_to_what_a_power_cap_is_compared_with() -> None:
    capped = broken = 0
    for seed in range(400):
        rng = random.Random(seed)
        compiled, _ = compiled_case(seed)
        if all(limit is None for limit in compiled.power_limit) or compiled.overfull.any():
            continue
        capped += 1
        assignment = random_assignment(compiled, rng)
        watts = domain_watts(compiled, assignment.counts, assignment.shares)
        over = [
            draw - limit
            for draw, limit in zip(watts, compiled.power_limit, strict=True)
            if limit is not None and draw > limit
        ]
        plan = plan_of(compiled, assignment.counts, assignment.shares, assignment.theta)
        violations = check(compiled.instance, compiled.model, plan).violations
        theirs = [v.amount for v in violations if v.message.startswith("power: ")]
        assert sorted(over) == sorted(amount or Fraction(0) for amount in theirs), f"seed {seed}"
        broken += bool(over)
    assert capped > 20
    assert broken > 5
