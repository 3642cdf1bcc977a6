"""The map draws every node once, inside its domains, over nobody else, and colours it by its ratio."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allocator.report.charts.svg import WIDTH
from allocator.report.charts.topology import draw, heat_class, lay_out
from tests.builders import Tree, build, group, node

TREES = st.recursive(
    st.builds(lambda: node("n")),
    lambda children: st.lists(children, min_size=1, max_size=12).map(
        lambda found: group(
            "g", "g", *(Tree(c.level, f"c{i}", c.kind, c.children, c.fields) for i, c in enumerate(found))
        )
    ),
    max_leaves=60,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=4))
def test_boxes_nest_and_do_not_overlap(trees: list[Tree]) -> None:
    instance = build(*(Tree(t.level, f"t{i}", t.kind, t.children, t.fields) for i, t in enumerate(trees)))
    layout = lay_out(instance)
    assert layout is not None
    boxes = {box.index: box for box in layout.boxes}
    assert set(boxes) == {domain.index for domain in instance.domains[1:]}
    for domain in instance.domains[1:]:
        box = boxes[domain.index]
        assert box.x >= -1e-6
        assert box.x + box.width <= max(WIDTH, layout.width) + 1e-6
        assert box.y + box.height <= layout.height + 1e-6
        parent = boxes.get(domain.parent or 0)
        if parent is not None:
            assert parent.x <= box.x
            assert parent.y + parent.strip <= box.y
            assert box.x + box.width <= parent.x + parent.width + 1e-6
            assert box.y + box.height <= parent.y + parent.height + 1e-6
    for domain in instance.domains:
        children = [boxes[child] for child in domain.children]
        for index, first in enumerate(children):
            for second in children[index + 1 :]:
                apart = (
                    first.x + first.width <= second.x + 1e-6
                    or second.x + second.width <= first.x + 1e-6
                    or first.y + first.height <= second.y + 1e-6
                    or second.y + second.height <= first.y + 1e-6
                )
                assert apart


@pytest.mark.parametrize(
    ("ratio", "colour"),
    [
        (None, "hn"),
        (0.0, "h0"),
        (1e-9, "h1"),
        (0.2, "h1"),
        (0.95, "h5"),
        (0.9501, "h6"),
        (1.0, "h6"),
        (1.0001, "h7"),
        (30.0, "h7"),
    ],
)
def test_colours_by_ratio(ratio: float | None, colour: str) -> None:
    assert heat_class(ratio) == colour


def test_a_small_drawing_has_one_shape_a_colour() -> None:
    instance = build(*(node(f"n{i}") for i in range(300)))
    layout = lay_out(instance)
    assert layout is not None
    ratios = {domain.path: float(Fraction(i, 300)) for i, domain in enumerate(instance.nodes)}
    words = {"title": "t", "description": "d", "words": lambda path: path}
    small, large = (draw(instance, layout, ratios, titles=titles, **words) for titles in (False, True))  # type: ignore[arg-type]
    assert len(re.findall("<path", small)) == 7
    assert len(re.findall("<path", large)) == 300
    assert len(small) < len(large) / 2


def test_too_many_nodes_are_drawn_by_their_domains() -> None:
    racks = (group("rack", f"r{i}", *(node(f"n{j}") for j in range(100))) for i in range(50))
    layout = lay_out(build(*racks))
    assert layout is not None
    assert (layout.whole, layout.cells) == (False, 50)
    assert lay_out(build(*(node(f"n{i}") for i in range(4001)))) is None
    assert lay_out(build()) is None
