"""The table of cases itself: complete, and in every case the subject changes the optimum (by brute force)."""

from __future__ import annotations

import copy

import pytest

from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from tests.conformance.bent_cases import phantom
from tests.conformance.cases import CASES, REFUSED, Case
from tests.oracle.brute_force import brute_force
from tests.oracle.comparing import same
from tests.oracle.in_use import ids_in_use


def test_every_family_and_every_goal_has_a_case() -> None:
    subjects = {case.subject for case in CASES}
    assert subjects | set(REFUSED) == {*Family, *GoalId}
    assert not subjects & set(REFUSED)


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_subject_changes_the_optimum(case: Case) -> None:
    instance = instance_from_dict(case.document)
    assert case.subject in ids_in_use(instance, case.model())
    truth = brute_force(instance, case.model())
    document, model = case.without()
    other = brute_force(instance_from_dict(document), model)
    assert truth.feasible
    if isinstance(case.subject, GoalId) and case.strip is None:
        # without its goal the later levels reach something else
        changed = not other.feasible or not all(map(same, other.values, truth.values[1:]))
    else:
        changed = not other.feasible or not all(map(same, other.values, truth.values))
    assert changed, f"{truth.values} with {case.subject}, {other.values} without"


def test_load_that_crosses_nothing_raises_no_knee() -> None:
    """A pair inside one node beside the knee changes nothing; a formulation that counts it abroad promises more."""
    levels = Model("m", "", (Level((Goal(GoalId.THROUGHPUT),)),))
    alone, beside = (brute_force(instance_from_dict(phantom(beside=each)), levels).values for each in (False, True))
    assert alone == beside
    assert abs(alone[0] - 2.0) <= 1e-9, "4 offered on 4 carry 2: half of 2 + 2 tasks/s"


def test_the_collapse_is_no_concave_curve_and_its_hull_would_mislead() -> None:
    """One talker on r0 stays below the peak: 2 + 2 / 4. Its hull promises 3.15 for two, which carry 0.85."""
    case = next(case for case in CASES if case.name == "collapse-kept-below-its-peak")
    truth = brute_force(instance_from_dict(case.document), case.model())
    assert truth.plan is not None
    on_rack = [group.workload for group in truth.plan.placements if group.nodes[0].startswith("r0/")]
    assert on_rack == ["c"]
    assert abs(truth.values[0] - 2.5) <= 1e-6
    hull = copy.deepcopy(case.document)
    hull["topology"][0]["uplink"]["goodput"]["points"] = [[0, 0], ["0.8", "0.8"], [4, "0.6"]]
    misled = brute_force(instance_from_dict(hull), case.model())
    assert misled.plan is not None
    assert len([group for group in misled.plan.placements if group.nodes[0].startswith("r0/")]) > 1
