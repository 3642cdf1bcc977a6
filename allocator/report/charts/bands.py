"""A curve with the straight pieces around it: the band between outer and inner pieces, joints, and marks upon it.

Takes plain numbers; knows no function and no plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from allocator.report.charts.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, frame
from allocator.report.charts.points import Point, marker
from allocator.report.charts.scale import Scale, linear
from allocator.report.charts.svg import element, figure, series_class

__all__ = ["Places", "band"]

Places = Sequence[tuple[float, float]]


def band(
    curve: Places,
    *,
    outer: Places,
    inner: Places,
    hull: Places = (),
    marks: Sequence[Point] = (),
    title: str,
    description: str,
    x_label: str,
    y_label: str,
) -> str:
    """Curve, band of its pieces, and marks.

    Parameters
    ----------
    outer, inner : the pieces on the two sides of the curve by their joints, in order of x; a dot at every joint of
        ``outer``. Equal where the pieces are exact.
    hull : another line to compare with, drawn dotted: what tangents alone would allow.
    """
    known = [*curve, *outer, *inner, *hull, *((mark.x, mark.y) for mark in marks)]
    across = linear([x for x, _ in known], LEFT, RIGHT, zero=True)
    up = linear([y for _, y in known], BOTTOM, TOP, zero=True)
    body = frame(across, up, x_label=x_label, y_label=y_label)
    shape = _line([*outer, *reversed(inner)], across, up)
    if shape:
        body += element("path", d=f"{shape}Z", class_="band")
    if hull:
        body += element("path", d=_line(hull, across, up), class_=f"bound {series_class(2)}")
    body += element(
        "path", d=_line(outer, across, up), class_=f"pieces {series_class(1)}", fill="none", stroke_width=0.8
    )
    body += element("path", d=_line(curve, across, up), class_=f"line {series_class(0)}")
    for x, y in outer:
        place = {"cx": across.place(x), "cy": up.place(y)}
        body += element("circle", **place, r=2.2, class_=f"dot {series_class(1)}")  # type: ignore[arg-type]
    body += "".join(marker(mark.series, across.place(mark.x), up.place(mark.y), mark.text) for mark in marks)
    return figure(title, description, body, height=HEIGHT)


def _line(points: Places, across: Scale, up: Scale) -> str:
    return "".join(f"{'L' if at else 'M'}{across.place(x):.1f} {up.place(y):.1f}" for at, (x, y) in enumerate(points))
