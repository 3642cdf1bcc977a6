"""The table of cases itself: complete, and in every case the subject changes the optimum (by brute force)."""

from __future__ import annotations

import pytest

from allocator.instance import instance_from_dict
from allocator.model.families import Family, GoalId
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
