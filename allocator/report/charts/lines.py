"""Step lines: a performance profile, and incumbent and bound over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from allocator.report.charts.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, frame, tick_text
from allocator.report.charts.scale import Scale, linear, logarithmic
from allocator.report.charts.svg import dash_of, element, figure, series_class

__all__ = ["Line", "profile", "trace"]


@dataclass(frozen=True, slots=True)
class Line:
    """A step line: at ``points[i][0]`` its value becomes ``points[i][1]`` and stays until the next point.

    ``series`` chooses colour and dash; ``bound``: drawn thin and dotted; ``end``: where it ends, None: where all do.
    """

    series: int
    points: tuple[tuple[float, float], ...]
    bound: bool = False
    end: float | None = None


def profile(lines: Sequence[Line], *, title: str, description: str, x_label: str, most: float) -> str:
    """Performance profile: share of instances (0 to 1) within a factor of the best, over that factor (log scale).

    Parameters
    ----------
    most : largest factor that is drawn, above 1.
    """
    across = logarithmic([1.0, max(most, 1.01)], LEFT, RIGHT)
    across = Scale(1.0, across.high, LEFT, RIGHT, across.ticks, log=True)
    up = Scale(0.0, 1.0, BOTTOM, TOP, (0.0, 0.25, 0.5, 0.75, 1.0))
    body = frame(
        across,
        up,
        x_label=x_label,
        y_label="share of instances",
        y_text=lambda value: f"{value:.0%}".replace("%", " %"),
    )
    body += "".join(_draw(line, across, up, until=across.high) for line in lines)
    return figure(title, description, body, height=HEIGHT)


def trace(
    lines: Sequence[Line],
    *,
    title: str,
    description: str,
    y_label: str,
    until: float,
    y_text: Callable[[float], str] = tick_text,
) -> str:
    """Values and bounds over time (seconds, linear). ``until``: the end of the longest run.

    The axis holds every value and every last bound. An earlier bound that is farther away than all these from each
    other runs along the edge, or it would leave no room for the rest.
    """
    shown = _worth_room(lines)
    across = linear([0.0, max(until, 1e-3)], LEFT, RIGHT, zero=True)
    up = linear(shown, BOTTOM, TOP)
    body = frame(across, up, x_label="seconds", y_label=y_label, y_text=y_text)
    body += "".join(_draw(line, across, up, until=until) for line in lines if line.points)
    return figure(title, description, body, height=HEIGHT)


def _worth_room(lines: Sequence[Line]) -> list[float]:
    """The numbers that the axis must hold."""
    bounds = [value for line in lines if line.bound for _, value in line.points if isfinite(value)]
    last = [line.points[-1][1] for line in lines if line.points]
    kept = [value for line in lines if not line.bound for _, value in line.points] + last
    kept = [value for value in kept if isfinite(value)]
    if not kept:
        return bounds
    low, high = min(kept), max(kept)
    room = high - low or abs(high) * 0.1 or 1.0
    return kept + [value for value in bounds if low - room <= value <= high + room]


def _draw(line: Line, across: Scale, up: Scale, *, until: float) -> str:
    if not line.points:
        return ""
    places: list[str] = []
    last_y = ""
    for x, y in line.points:
        here = f"{across.place(x):.1f}"
        level = f"{up.place(y):.1f}"
        if not places:
            places.append(f"M{here} {level}")
        elif level != last_y:
            places.append(f"H{here}V{level}")
        last_y = level
    end = until if line.end is None else line.end
    places.append(f"H{across.place(max(end, line.points[-1][0])):.1f}")
    kind = "bound" if line.bound else "line"
    first_x, first_y = line.points[0]
    dot = (
        ""
        if line.bound
        else element(
            "circle", cx=across.place(first_x), cy=up.place(first_y), r=2.5, class_=f"dot {series_class(line.series)}"
        )
    )
    return dot + element(
        "path",
        d="".join(places),
        class_=f"{kind} {series_class(line.series)}",
        stroke_dasharray=None if line.bound else dash_of(line.series),
    )
