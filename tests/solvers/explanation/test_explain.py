"""Fifty instances without a plan: the conflict is infeasible alone and irreducible, the relaxation leads to a plan."""

from __future__ import annotations

import pytest

from allocator.instance import instance_from_dict
from allocator.plan.result import Status
from allocator.solvers.budget import Limits
from allocator.solvers.explanation import alone, explain_infeasible, question, relaxed, without
from tests.solvers.explanation.broken import KINDS, MODEL, broken
from tests.solvers.explanation.judging import answer, has_plan

SEEDS = 3
SECONDS = 20.0
EXPECTED = {
    "label": {"assignment", "eligibility"},
    "taint": {"assignment", "eligibility"},
    "capability": {"assignment", "eligibility"},
    "size": {"assignment", "capacity"},
    "nothing_of_it": {"assignment", "capacity"},
    "totals": {"assignment", "capacity"},
    "packing": {"assignment", "capacity"},
    "conflict": {"assignment", "conflict"},
    "spread": {"assignment", "spread"},
    "gang": {"assignment", "gang"},
    "dependency": {"assignment", "dependency", "eligibility"},
    "host": {"assignment", "capacity"},
    "power": {"assignment", "power"},
    "pool": {"assignment", "pool", "capacity"},
    "move_limit": {"move_limit", "eligibility"},  # who leaves, evicted or not, has moved
    "reserve": {"assignment", "reserve", "capacity"},  # what is free is what is not used of a capacity
    "together": {"assignment", "capacity"},
    "labelled_totals": {"assignment", "eligibility", "capacity"},
}
CASES = [(kind, seed) for kind in KINDS for seed in range(SEEDS)]


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_conflict_is_irreducible_and_relaxation_has_a_plan(kind: str, seed: int) -> None:
    instance = instance_from_dict(broken(kind, seed))
    found, _, _ = answer(instance, MODEL)
    assert found.status is Status.INFEASIBLE, "the generator promises trouble"
    method = "milp" if seed == 0 else "cpsat"

    why = explain_infeasible(instance, MODEL, budget=Limits(SECONDS).start())

    assert why.reasons
    assert {element["family"] for element in why.conflict} == EXPECTED[kind]
    asked = question(instance, MODEL)
    core = alone(asked, why.conflict)
    assert not has_plan(core, method=method), "the conflict is infeasible alone"
    for element in why.conflict:
        assert has_plan(without(core, element), method=method), f"superfluous: {element}"
    assert why.relaxation
    eased = relaxed(instance, why.relaxation)
    solved, _, evaluation = answer(eased, MODEL, method)
    assert solved.status is Status.OPTIMAL
    assert evaluation is not None
    assert evaluation.feasible, evaluation.violations


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_entry_carries_its_sentence(kind: str) -> None:
    instance = instance_from_dict(broken(kind, 7))
    why = explain_infeasible(instance, MODEL, budget=Limits(SECONDS).start())
    assert why.conflict
    assert why.relaxation
    assert all(entry["text"] for entry in (*why.conflict, *why.relaxation))
