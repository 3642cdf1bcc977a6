"""A collapse curve is never taken for a concave one: the best plan stays below the peak, and tangents would miss it."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest

from allocator import solve
from allocator.instance import instance_from_dict
from allocator.linearization import Table, concave_envelope
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from tests.conformance.bent_cases import BENT, COLLAPSE
from tests.conformance.building import Document
from tests.oracle.brute_force import brute_force

MODEL = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
PEAK = Fraction(4, 5)
"""Of the capacity; beyond it the curve falls to a fifth."""


def collapsing() -> Document:
    (case,) = (case for case in BENT if case.name == "collapse-kept-below-its-peak")
    return copy.deepcopy(case.document)


def flattened() -> Document:
    """The same under the least concave curve above it: what tangents and chords of a concave curve would allow."""
    document = collapsing()
    stated: Any = COLLAPSE["points"]
    points = tuple((Fraction(x), Fraction(y)) for x, y in stated)
    line = Table(points).polyline(points[-1][0])
    hull = [[str(float(x)), str(float(y))] for x, y in concave_envelope(line).points]
    document["topology"][0]["uplink"]["goodput"] = {"curve": "table", "points": hull}
    return document


def test_tangents_would_promise_more_than_there_is() -> None:
    true, hull = (brute_force(instance_from_dict(each), MODEL).values[0] for each in (collapsing(), flattened()))
    assert hull > true * 1.05


@pytest.mark.parametrize("method", ["milp", "auto"])
def test_the_best_plan_keeps_the_uplink_below_its_peak(method: str) -> None:
    instance = instance_from_dict(collapsing())
    truth = brute_force(instance, MODEL).values[0]
    result = solve(instance, MODEL, method=method, time_limit=30, seed=0, threads=1)
    (level,) = result.levels
    assert level.value is not None
    assert level.bound is not None
    assert float(level.value) == pytest.approx(float(truth), rel=1e-6)
    assert float(level.bound) == pytest.approx(float(truth), rel=1e-6), (
        "the bound is that of the curve, not of its hull"
    )
    assert result.evaluation is not None
    loads = [link.offered / link.capacity for link in result.evaluation.links if link.domain == "r0" and link.capacity]
    assert 0 < max(loads) <= PEAK
