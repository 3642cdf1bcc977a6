"""The frame of a chart with two axes: grid, ticks, labels. Knows no series."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from allocator.report.charts.scale import Scale
from allocator.report.charts.svg import WIDTH, element, text
from allocator.report.format import number

__all__ = ["BOTTOM", "HEIGHT", "LEFT", "RIGHT", "TOP", "frame", "tick_text"]

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 52.0, WIDTH - 8.0, 12.0, 186.0, 224.0
"""Edges of the plotting area and height of the whole drawing, in user units."""


def tick_text(value: float) -> str:
    """A number at an axis: short, with a prefix where it is large."""
    for factor, suffix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= factor:
            return f"{number(Fraction(repr(value)) / int(factor if suffix != 'k' else 1000), 3)}{suffix}"
    return number(Fraction(repr(value)), 3)


def frame(
    across: Scale,
    up: Scale,
    *,
    x_label: str,
    y_label: str,
    x_text: Callable[[float], str] = tick_text,
    y_text: Callable[[float], str] = tick_text,
) -> str:
    """Grid lines, tick texts and axis labels."""
    parts = []
    for tick in up.ticks:
        y = up.place(tick)
        parts.append(element("path", d=f"M{LEFT:g} {y:.1f}H{RIGHT:g}", class_="grid"))
        parts.append(text(LEFT - 5, y + 3.5, y_text(tick), class_="tick", text_anchor="end"))
    for tick in across.ticks:
        x = across.place(tick)
        parts.append(element("path", d=f"M{x:.1f} {BOTTOM:g}v4", class_="axis"))
        anchor = "end" if x > RIGHT - 12 else "middle"
        parts.append(
            text(x if anchor == "middle" else x + 6, BOTTOM + 15, x_text(tick), class_="tick", text_anchor=anchor)
        )
    parts.append(element("path", d=f"M{LEFT:g} {TOP:g}V{BOTTOM:g}H{RIGHT:g}", class_="axis"))
    parts.append(text((LEFT + RIGHT) / 2, BOTTOM + 32, x_label, class_="label", text_anchor="middle"))
    middle = (TOP + BOTTOM) / 2
    turned = f"rotate(-90 10 {middle:g})"
    parts.append(text(10, middle, y_label, class_="label", text_anchor="middle", transform=turned))
    return "".join(parts)
