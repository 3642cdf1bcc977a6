"""A band holds its curve between its pieces; every uplink is a bar of its colour."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from allocator.report.charts.bands import band
from allocator.report.charts.links import MOST_DOMAINS, draw_links
from allocator.report.charts.points import Point
from tests.builders import build, group, node

SVG = "{http://www.w3.org/2000/svg}"
CURVE = [(0.0, 0.0), (0.5, 0.45), (1.0, 0.8), (2.0, 0.95)]
OUTER = [(0.0, 0.0), (0.9, 0.9), (2.0, 1.0)]
INNER = [(0.0, 0.0), (1.0, 0.8), (2.0, 0.95)]


def paths(drawing: str, kind: str) -> list[list[tuple[float, float]]]:
    tree = ElementTree.fromstring(drawing)
    found = [path.get("d", "") for path in tree.iter(f"{SVG}path") if (path.get("class") or "").split()[0] == kind]
    return [[(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)] for path in found]


def drawn() -> str:
    marks = [Point(3, 1.0, 0.8, "rack0 <up>")]
    return band(CURVE, outer=OUTER, inner=INNER, marks=marks, title="t & u", description="d", x_label="x", y_label="y")


def test_every_point_stands_where_its_numbers_say() -> None:
    drawing = drawn()
    (curve,), (pieces,), (area,) = (paths(drawing, kind) for kind in ("line", "pieces", "band"))
    assert [len(curve), len(pieces), len(area)] == [len(CURVE), len(OUTER), len(OUTER) + len(INNER)]
    left, bottom = curve[0]
    width, height = (curve[-1][0] - left) / 2.0, (bottom - curve[-1][1]) / 0.95
    for places, values in ((curve, CURVE), (pieces, OUTER), (area, [*OUTER, *reversed(INNER)])):
        for (x, y), (across, up) in zip(places, values, strict=True):
            assert x == pytest.approx(left + across * width, abs=0.11)
            assert y == pytest.approx(bottom - up * height, abs=0.11)


def test_joints_have_dots_and_marks_have_words() -> None:
    tree = ElementTree.fromstring(drawn())
    assert len(list(tree.iter(f"{SVG}circle"))) == len(OUTER)
    assert [each.text for each in tree.iter(f"{SVG}title")] == ["t & u", "rack0 <up>"]


def test_links_are_bars_between_their_ends_in_the_colour_of_their_ratio() -> None:
    racks = (group("rack", f"r{i}", *(node(f"n{k}") for k in range(2))) for i in range(2))
    instance = build(*racks)
    ratios = {"r0": 1.2, "r0/n0": 0.0, "r0/n1": 0.5}
    drawing = draw_links(instance, ratios, title="t", description="d", words=lambda path: f"link {path}")
    assert drawing is not None
    tree = ElementTree.fromstring(drawing)
    bars = {
        (path.findtext(f"{SVG}title") or "").removeprefix("link "): path
        for path in tree.iter(f"{SVG}path")
        if (path.get("class") or "").startswith("link")
    }
    assert set(bars) == {domain.path for domain in instance.domains[1:]}
    colours = {path: (bar.get("class") or "").split()[1] for path, bar in bars.items()}
    assert colours == {"r0": "h7", "r0/n0": "h0", "r0/n1": "h3", "r1": "hn", "r1/n0": "hn", "r1/n1": "hn"}
    ends = {path: centres(bar.get("d", "")) for path, bar in bars.items()}
    for path in ("r0", "r1"):  # a link begins where the one above it ends
        for k in range(2):
            assert ends[f"{path}/n{k}"][0] == pytest.approx(ends[path][1], abs=0.2)
    assert sum((rect.get("class") or "").startswith("h") for rect in tree.iter(f"{SVG}rect")) == 8


def centres(path: str) -> list[tuple[float, float]]:
    """Middle of the upper and of the lower edge of a bar."""
    width = float(re.findall(r"h([-\d.]+)", path)[0])
    return [(float(x) + width / 2, float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)[:2]]


def test_too_many_domains_are_not_drawn() -> None:
    assert draw_links(build(*(node(f"n{i}") for i in range(MOST_DOMAINS))), {}, title="t", description="d") is None
