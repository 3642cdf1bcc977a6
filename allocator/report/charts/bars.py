"""Stacked horizontal bars: shares of a whole, one bar a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allocator.report.charts.svg import WIDTH, element, escape, figure, shortened, text

__all__ = ["Bar", "Part", "stacked"]

ROW, THICK, LABEL = 34.0, 13.0, 13.0


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: ``share`` of the whole in [0, 1], the class that colours it, what it says when pointed at."""

    share: float
    colour: str
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name on the left, a short fact on the right, its parts from left to right."""

    name: str
    fact: str
    parts: tuple[Part, ...]


def stacked(bars: Sequence[Bar], *, title: str, description: str) -> str:
    """Bars of equal length, each 0 to 100 %; what the parts leave stays empty."""
    body = []
    for row, bar in enumerate(bars):
        top = row * ROW
        body.append(text(0, top + LABEL, shortened(bar.name, 34), class_="name"))
        body.append(text(WIDTH, top + LABEL, bar.fact, class_="tick", text_anchor="end"))
        y, x = top + LABEL + 4, 0.0
        body.append(element("rect", x=0.5, y=y + 0.5, width=WIDTH - 1.0, height=THICK - 1, class_="empty"))
        for part in bar.parts:
            wide = min(max(part.share, 0.0), 1.0) * WIDTH
            if wide < 0.05:
                continue
            body.append(
                element(
                    "rect",
                    f"<title>{escape(part.text)}</title>",
                    x=x,
                    y=y,
                    width=min(wide, WIDTH - x),
                    height=THICK,
                    class_=f"part {part.colour}",
                )
            )
            x += wide
            if x >= WIDTH:
                break
    return figure(title, description, "".join(body), height=max(len(bars), 1) * ROW + 2)
