"""The benches about what bends: they judge, and what they say of tiny instances holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from allocator.instance import instance_from_dict
from allocator.linearization import Table
from tests.bench import commwall, linearization, nonconcave
from tests.bench.fabrics import Shape, bent_table, pipelines, singles, teams
from tests.bench.linearization import CURVES, TOLERANCES, Judged, judge, tiny
from tests.bench.solving import Run
from tests.oracle.brute_force import brute_force


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_no_certificate_is_violated(name: str, tolerance: Fraction) -> None:
    """Value and bound against the true optimum of all placements, and the certified error within the tolerance."""
    instance = tiny(CURVES[name], 1)
    truth = Fraction(brute_force(instance, linearization.THROUGHPUT).values[0])
    judged = judge(instance, linearization.THROUGHPUT, truth, tolerance)
    assert judged.holds(tolerance), judged
    assert judged.certified <= tolerance


def test_a_violated_certificate_is_found() -> None:
    good = Judged(Fraction(1, 100), Fraction(1, 200), Fraction(1, 200), Fraction(1, 300), 0.1)
    assert good.holds(Fraction(1, 100))
    assert not good.holds(Fraction(1, 1000)), "the plan lost more than the tolerance"
    assert not replace(good, bound=Fraction(-1, 100)).holds(Fraction(1, 100)), "a bound below the truth"
    assert not replace(good, measured=Fraction(1, 10)).holds(Fraction(1, 100)), "more error than proven"
    assert not replace(good, loss=Fraction(-1, 100)).holds(Fraction(1, 100)), "better than the optimum"


@pytest.mark.parametrize("seed", range(30))
def test_generated_curves_are_goodput_and_bend_both_ways(seed: int) -> None:
    curve = bent_table(seed)
    points = tuple((Fraction(x), Fraction(y)) for x, y in curve["points"])
    assert len(points) == 9  # (0, 0) and eight
    assert Table(points).shape.value not in {"concave", "convex"}


def test_generated_instances_are_valid_repeat_themselves_and_have_twenty_uplinks() -> None:
    curve = bent_table(1)
    for made in (singles, teams, pipelines):
        document = made(3, curve)
        assert document == made(3, curve)
        assert document != made(4, curve)
        instance = instance_from_dict(document)
        bent = [d for d in instance.domains if d.uplink is not None and d.uplink.goodput.curve == "table"]
        assert len(bent) == Shape(4, 4).uplinks == 20
    for name, document in nonconcave.instances(1):
        members = sum(workload.count for workload in instance_from_dict(document).workloads)
        assert members == (32 if "teams" in name else int(name.split(", ")[1]))


def test_what_is_not_proven_shows() -> None:
    document = singles(1, bent_table(1))
    run = Run({"levels": [{"value": 98, "bound": 100, "gap": 0.02}]}, 60.0, 50.0)
    assert "| NO |" in nonconcave.line("x", document, run)
    proven = Run({"levels": [{"value": 99.5, "bound": 100, "gap": 0.005}]}, 60.0, 50.0)
    assert "| yes |" in nonconcave.line("x", document, proven)
    assert "| NO |" in nonconcave.line("x", document, Run({}, 60.0, 50.0, "exit code 3: boom"))


def test_the_wall_is_told_from_a_plain() -> None:
    found = commwall.cases("milp", 60, 1, sizes=(2, 4))
    lines = commwall.table(found)
    assert len(lines) == 2 + len(found)
    assert "[" in lines[2]
    assert all(case.value >= case.by_hand for case in found), "the planner is no worse than a hand"
    seen = dict(commwall.effects(found))
    assert seen["no plan does more than its bound"]
    assert not seen["on the mesh nodes keep helping"], "up to four nodes there is no wall to see"
    page = commwall.page(found, lines, "made here")
    assert "made here" in page
    assert page.count("<svg") >= 4
    assert "Links of the tree, 4 nodes, planned" in page
