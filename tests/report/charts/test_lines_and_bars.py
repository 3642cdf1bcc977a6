"""Lines step where their values change, bars are as long as their shares, names are escaped."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from allocator.report.charts.bars import Bar, Part, stacked
from allocator.report.charts.lines import Line, profile, trace
from allocator.report.charts.points import Point, scatter
from allocator.report.charts.svg import WIDTH, shortened

SVG = "{http://www.w3.org/2000/svg}"


def lines_of(drawing: str, kind: str) -> list[str]:
    tree = ElementTree.fromstring(drawing)
    return [path.get("d", "") for path in tree.iter(f"{SVG}path") if (path.get("class") or "").startswith(kind)]


def numbers(path: str) -> list[tuple[str, float]]:
    return [(letter, float(number)) for letter, number in re.findall(r"([MHV ])([-\d.]+)", path)]


def test_a_profile_only_climbs() -> None:
    line = Line(0, ((1.0, 0.25), (2.0, 0.5), (4.0, 0.75)))
    drawing = profile([line], title="t", description="d", x_label="x", most=10.0)
    (path,) = lines_of(drawing, "line")
    steps = numbers(path)
    heights = [value for letter, value in steps if letter in " V"]
    assert heights == sorted(heights, reverse=True)  # y points down
    assert len(heights) == 3
    across = [value for letter, value in steps if letter in "MH"]
    assert across == sorted(across)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.11)  # 1, 2, 4 on a log scale


def test_values_and_bounds_over_time() -> None:
    lines = [Line(1, ((0.5, 10.0), (2.0, 7.0))), Line(1, ((0.5, 5.0), (3.0, 7.0)), bound=True)]
    drawing = trace(lines, title="t", description="d", y_label="cost", until=4.0)
    value, bound = numbers(lines_of(drawing, "line")[0]), numbers(lines_of(drawing, "bound")[0])
    assert value[-1] == bound[-1]  # both go on to the end
    assert [v for letter, v in value if letter == "V"] == [v for letter, v in bound if letter == "V"]  # and meet at 7


def test_a_far_bound_takes_no_room_and_a_line_ends_with_its_run() -> None:
    lines = [
        Line(0, ((0.0, 10.0), (1.0, 8.0)), end=2.0),
        Line(0, ((0.0, -1e6), (1.0, 7.0)), bound=True, end=2.0),
        Line(1, ((0.0, 9.0),), end=4.0),
    ]
    drawing = trace(lines, title="t", description="d", y_label="cost", until=4.0)
    short, long = (numbers(path) for path in lines_of(drawing, "line"))
    (bound,) = (numbers(path) for path in lines_of(drawing, "bound"))
    assert short[-1][1] - short[0][1] == pytest.approx((long[-1][1] - long[0][1]) / 2, abs=0.11)
    heights = [value for letter, value in short if letter in " V"]
    assert heights[1] - heights[0] > 60  # 10 to 8 fills most of the drawing
    assert max(value for letter, value in bound if letter in " V") == pytest.approx(186.0)


def test_shares_are_lengths_and_never_longer_than_the_bar() -> None:
    parts = (Part(0.25, "s0", "a"), Part(0.5, "s1", "b"), Part(0.6, "s2", "over"))
    tree = ElementTree.fromstring(stacked([Bar("cpu", "135 %", parts)], title="t", description="d"))
    drawn = [rect for rect in tree.iter(f"{SVG}rect") if (rect.get("class") or "").startswith("part")]
    assert [float(rect.get("width", "")) for rect in drawn] == [WIDTH / 4, WIDTH / 2, WIDTH / 4]


def test_what_people_named_is_escaped() -> None:
    name = "<script>'\"&\x07"
    drawings = [
        stacked([Bar(name, name, (Part(1.0, "s0", name),))], title=name, description=name),
        scatter([Point(0, 1, 1, name)], title=name, description=name, x_label=name, y_label=name),
        trace([Line(0, ((0.0, 1.0),))], title=name, description=name, y_label=name, until=1.0),
    ]
    for drawing in drawings:
        tree = ElementTree.fromstring(drawing)  # well-formed
        assert tree[0].text == "<script>'\"&\\x07"
        assert not list(tree.iter(f"{SVG}script"))


def test_long_names_lose_their_middle() -> None:
    assert shortened("abcdefghij", 7) == "abc…hij"
    assert len(shortened("n" * 253, 34)) == 34
    assert shortened("abc", 7) == "abc"
