"""Random tiny instances of every family: the oracle agrees with brute force, and what it says of trouble holds."""

from __future__ import annotations

import pytest

from allocator.instance import instance_from_dict
from allocator.plan.result import Status
from allocator.solvers.budget import Limits
from allocator.solvers.explanation import alone, explain_infeasible, question, relaxed, without
from allocator.solvers.explanation.oracle import Oracle
from tests.oracle.brute_force import brute_force
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import random_case
from tests.solvers.explanation.judging import answer, has_plan

BLOCKS, SIZE = 6, 10


def judge(seed: int) -> bool | None:
    """Compare one instance; whether it has a plan, None when it is too large for brute force."""
    case = random_case(seed)
    instance, model = instance_from_dict(case.document), case.model
    try:
        truth = brute_force(instance, model)
    except TooMany:
        return None
    asked = question(instance, model)
    assert Oracle(model.ignore, Limits(20.0).start()).feasible(asked) == truth.feasible, f"seed {seed}"
    why = explain_infeasible(instance, model, budget=Limits(20.0).start())
    if truth.feasible:
        assert (why.reasons, why.conflict, why.relaxation) == ((), (), ()), f"seed {seed}"
        return True
    assert why.conflict, f"seed {seed}: {why.reasons}"
    core = alone(asked, why.conflict)
    assert not has_plan(core, model.ignore), f"seed {seed}"
    for element in why.conflict:
        assert has_plan(without(core, element), model.ignore), f"seed {seed}: superfluous {element}"
    assert why.relaxation, f"seed {seed}: {why.reasons}"
    eased = relaxed(instance, why.relaxation)
    found, _, evaluation = answer(eased, model, "milp")
    assert found.status in {Status.OPTIMAL, Status.FEASIBLE}, f"seed {seed}: {why.relaxation}"
    assert evaluation is not None
    assert evaluation.feasible, f"seed {seed}"
    return False


@pytest.mark.parametrize("seed", [474, 604])
def test_two_rules_at_once_leave_leaving_out(seed: int) -> None:
    """No one rule helps, and whoever is left out is gone: he neither moves nor counts."""
    assert judge(seed) is False


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_instances(block: int) -> None:
    outcomes = [judge(seed) for seed in range(block * SIZE, (block + 1) * SIZE)]
    assert True in outcomes
