"""Points in a plane: gap against size, memory against size. One shape a series, so colour is never alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from allocator.report.charts.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, frame, tick_text
from allocator.report.charts.scale import linear, logarithmic
from allocator.report.charts.svg import element, escape, figure, series_class

__all__ = ["Point", "marker", "scatter"]

_SHAPES = (
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "m-3-3h6v6h-6z",
    "m0-4l4 7h-8z",
    "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z",
    "m0 4l4-7h-8z",
    "m-4-1h3v-3h2v3h3v2h-3v3h-2v-3h-3z",
    "m-2-4h4v8h-4z",
    "m-4-2h8v4h-8z",
)


@dataclass(frozen=True, slots=True)
class Point:
    """A point; ``text`` is shown when it is pointed at."""

    series: int
    x: float
    y: float
    text: str


def marker(series: int, x: float, y: float, title: str = "") -> str:
    """The shape of a series at a place in user units."""
    inner = f"<title>{escape(title)}</title>" if title else None
    shape = f"M{x:.1f} {y:.1f}{_SHAPES[series % len(_SHAPES)]}"
    return element("path", inner, d=shape, class_=f"mark {series_class(series)}")


def scatter(
    points: Sequence[Point],
    *,
    title: str,
    description: str,
    x_label: str,
    y_label: str,
    y_text: Callable[[float], str] = tick_text,
    y_log: bool = False,
) -> str:
    """Points over a logarithmic size; the other axis begins at 0, or is logarithmic."""
    across = logarithmic([point.x for point in points], LEFT, RIGHT - 6)
    heights = [point.y for point in points]
    up = logarithmic(heights, BOTTOM, TOP) if y_log else linear(heights, BOTTOM, TOP, zero=True)
    body = frame(across, up, x_label=x_label, y_label=y_label, y_text=y_text)
    body += "".join(marker(point.series, across.place(point.x), up.place(point.y), point.text) for point in points)
    return figure(title, description, body, height=HEIGHT)
