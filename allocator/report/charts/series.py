"""Straight lines with a mark at every point, over a few sizes on a logarithmic axis. Takes plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from allocator.report.charts.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, frame, tick_text
from allocator.report.charts.points import marker
from allocator.report.charts.scale import Scale, linear
from allocator.report.charts.svg import dash_of, element, figure, series_class

__all__ = ["Series", "joined"]


@dataclass(frozen=True, slots=True)
class Series:
    """``number`` chooses colour, dash and mark; ``points`` by rising x, in order."""

    number: int
    name: str
    points: tuple[tuple[float, float], ...]


def joined(series: Sequence[Series], *, title: str, description: str, x_label: str, y_label: str) -> str:
    """Lines over sizes (positive), every size of any line with a tick of its own; the other axis begins at 0.

    Points that are not finite are left out.
    """
    sizes = sorted({x for each in series for x, _ in each.points})
    across = Scale(sizes[0], max(sizes[-1], sizes[0] * 1.01), LEFT + 8, RIGHT - 8, tuple(sizes), log=True)
    up = linear([y for each in series for _, y in each.points], BOTTOM, TOP, zero=True)
    body = frame(across, up, x_label=x_label, y_label=y_label)
    for each in series:
        shown = [(x, y) for x, y in each.points if isfinite(y)]
        path = "".join(
            f"{'L' if at else 'M'}{across.place(x):.1f} {up.place(y):.1f}" for at, (x, y) in enumerate(shown)
        )
        if path:
            kind = f"line {series_class(each.number)}"
            body += element("path", d=path, class_=kind, stroke_dasharray=dash_of(each.number))
        for x, y in shown:
            said = f"{each.name}: {tick_text(x)}, {y:.4g}"
            body += marker(each.number, across.place(x), up.place(y), said)
    return figure(title, description, body, height=HEIGHT)
