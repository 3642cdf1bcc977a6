"""Figures of what bends: the links of a plan upon their curves, the shares of a class upon its response time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from allocator.checker import check
from allocator.instance import instance_from_dict
from allocator.instance.entities import Goodput, Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation
from allocator.report.html.curves import curve_pictures, delay_picture, goodput_picture, link_picture
from tests.builders import plan as planned

SVG = "{http://www.w3.org/2000/svg}"
MODEL = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
COLLAPSE: Mapping[str, Any] = {"curve": "table", "points": [[0, 0], ["0.5", "0.5"], [1, "0.8"], [2, "0.4"]]}
ONE_PERCENT = Fraction(1, 100)


def case(curve: Mapping[str, Any]) -> tuple[Instance, Plan, Evaluation]:
    """Two talkers of 1 Gbit/s on two nodes of 2 Gbit/s each."""
    leaf: dict[str, Any] = {"level": "node", "name": "n", "count": 2, "kind": "k", "capacity": {"cpu": 4}}
    leaf["uplink"] = {"bandwidth": "2 Gbit/s", "latency": "1 ms", "goodput": dict(curve)}
    talker = {
        "class": "talker",
        "count": 2,
        "requests": {"cpu": 1},
        "work": {"rate": "2/s", "cpu": "200 ms"},
        "slo": {"p99": "3 s"},
    }
    team = {"team": "t", "count": 1, "members": {"talker": 2}, "traffic": {"pattern": "all-to-all", "rate": "1 Gbit/s"}}
    instance = instance_from_dict(
        {"format": "allocator/v1", "topology": [leaf], "workloads": [talker], "teams": [team]}
    )
    made = planned(instance, {"talker": ["n0", "n1"]})
    return instance, made, check(instance, MODEL, made)


def marks(drawing: str) -> list[tuple[float, float]]:
    tree = ElementTree.fromstring(drawing)
    shapes = [path.get("d", "") for path in tree.iter(f"{SVG}path") if (path.get("class") or "").startswith("mark")]
    found = [re.match(r"M([-\d.]+) ([-\d.]+)", shape) for shape in shapes]
    return [(float(match[1]), float(match[2])) for match in found if match]


def line(drawing: str) -> list[tuple[float, float]]:
    tree = ElementTree.fromstring(drawing)
    (path,) = (p.get("d", "") for p in tree.iter(f"{SVG}path") if (p.get("class") or "").startswith("line"))
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)]


def height_at(places: list[tuple[float, float]], x: float) -> float:
    for (a, low), (b, high) in pairwise(places):
        if a <= x <= b:
            return low + (high - low) * (x - a) / (b - a)
    raise AssertionError(x)


@pytest.mark.parametrize("curve", [COLLAPSE, {"curve": "knee", "p": 2}])
def test_links_of_the_plan_lie_on_their_curve(curve: Mapping[str, Any]) -> None:
    instance, _, evaluation = case(curve)
    uplink = instance.domains[1].uplink
    assert uplink is not None
    picture = goodput_picture(instance, evaluation, uplink.goodput, ONE_PERCENT)
    drawn, places = line(picture.drawing), marks(picture.drawing)
    assert len(places) == 4  # two links, both directions
    for x, y in places:
        assert y == pytest.approx(height_at(drawn, x), abs=0.6)


def test_a_collapse_is_exact_and_shows_what_tangents_would_allow() -> None:
    instance, _, evaluation = case(COLLAPSE)
    uplink = instance.domains[1].uplink
    assert uplink is not None
    picture = goodput_picture(instance, evaluation, uplink.goodput, ONE_PERCENT)
    assert "exact" in picture.caption
    assert 'class="bound' in picture.drawing
    knee = goodput_picture(instance, evaluation, Goodput("knee", Fraction(4)), ONE_PERCENT)
    assert 'class="bound' not in knee.drawing
    assert re.search(r"\d tangents above, error at most (0\.\d\d|1\.00) %", knee.caption)
    assert marks(knee.drawing) == [], "no link of this plan has that curve"


def test_a_finer_tolerance_takes_more_pieces() -> None:
    instance, _, evaluation = case(COLLAPSE)
    numbers = []
    for tolerance in (Fraction(1, 10), ONE_PERCENT, Fraction(1, 1000)):
        picture = goodput_picture(instance, evaluation, Goodput("knee", Fraction(4)), tolerance)
        numbers.append(int(picture.caption.split()[0]))
    assert numbers == sorted(set(numbers))


def test_shares_lie_on_the_response_time_of_their_class() -> None:
    instance, made, evaluation = case(COLLAPSE)
    picture = delay_picture(instance, made, evaluation, "talker", ONE_PERCENT)
    assert picture is not None
    (place,) = marks(picture.drawing)
    assert place[1] == pytest.approx(height_at(line(picture.drawing), place[0]), abs=0.6)
    assert "tangents" in picture.caption
    assert line(picture.drawing) == sorted(line(picture.drawing)), "less time with a larger share (y points down)"


def test_the_page_of_a_plan_has_all_of_them() -> None:
    instance, made, evaluation = case(COLLAPSE)
    titles = [picture.title for picture in curve_pictures(instance, made, evaluation, ONE_PERCENT)]
    assert titles == ["Links by load, busier direction", "Goodput: table", "P99 of talker against its share"]
    links = link_picture(instance, evaluation)
    assert links is not None
    assert "50" in links.caption
