"""The tree of domains with its uplinks as bars from parent to child, coloured by a ratio, such as their load.

Owns layout and drawing. Takes an instance's topology and a ratio by domain; knows nothing of plans or flows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import hypot

from allocator.instance.entities import Instance
from allocator.report.charts.svg import WIDTH, element, escape, figure, shortened, text
from allocator.report.charts.topology import heat_class

__all__ = ["MOST_DOMAINS", "draw_links"]

MOST_DOMAINS = 400
ROW = 62.0
TOP, EDGE, KEY = 14.0, 8.0, 34.0
LETTER = 6.2  # width of a wide letter of a name, user units


def draw_links(
    instance: Instance,
    ratios: Mapping[str, float | None],
    *,
    title: str,
    description: str,
    words: Callable[[str], str] | None = None,
) -> str | None:
    """The tree, a bar an uplink, with the key of its colours below; None where there are too many domains to draw.

    Parameters
    ----------
    ratios : by path of the domain below the link; missing or None: drawn dashed, no bandwidth is stated.
    words : what a link says when it is pointed at.
    """
    domains = instance.domains
    if len(domains) > MOST_DOMAINS or len(domains) < 2:
        return None
    depth, across = [0] * len(domains), [0.0] * len(domains)
    for domain in domains[1:]:
        depth[domain.index] = depth[domain.parent or 0] + 1
    step = (WIDTH - 2 * EDGE) / max(1, len(instance.nodes))
    for place, node in enumerate(instance.nodes):
        across[node.index] = EDGE + step * (place + 0.5)
    for domain in reversed(domains):
        if domain.children:
            below = [across[child] for child in domain.children]
            across[domain.index] = (below[0] + below[-1]) / 2
    width = max(1.0, min(4.0, step * 0.45))
    bars, dots = [], []
    for domain in domains:
        x, y = across[domain.index], TOP + ROW * depth[domain.index]
        if domain.parent is not None:
            heat = heat_class(ratios.get(domain.path))
            up_x, up_y = across[domain.parent], y - ROW
            half = width / 2 * hypot(x - up_x, ROW) / ROW  # as wide across, however steep
            shape = f"M{up_x - half:.1f} {up_y:.1f}L{x - half:.1f} {y:.1f}h{2 * half:.1f}L{up_x + half:.1f} {up_y:.1f}z"
            said = None if words is None else f"<title>{escape(words(domain.path))}</title>"
            bars.append(element("path", said, d=shape, class_=f"link {heat}"))
        dots.append(element("circle", cx=x, cy=y, r=min(4.0, max(1.5, step * 0.4)), class_="empty"))
        name = domain.path.rsplit("/", 1)[-1]
        if domain.children and domain.parent is not None:
            room = min((domain.end_node - domain.first_node) * step, WIDTH - x - 6)
            letters = int(room / LETTER)
            if letters >= 3:
                dots.append(text(x + 6, y - 4, shortened(name, letters), class_="strip"))
        elif domain.parent is not None and len(name) * LETTER <= step:
            dots.append(text(x, y + 13, name, class_="strip", text_anchor="middle"))
    height = TOP + ROW * max(depth) + 20
    return figure(title, description, "".join(bars + dots) + _key(height), height=height + KEY)


def _key(top: float) -> str:
    """The colours with the ranges of load, in percent."""
    steps = ("0", "≤ 20", "≤ 40", "≤ 60", "≤ 80", "≤ 95", "≤ 100", "over")
    wide = WIDTH / len(steps)
    parts = []
    for index, step in enumerate(steps):
        parts.append(element("rect", x=index * wide + 0.5, y=top + 4, width=wide - 3, height=8.0, class_=f"h{index}"))
        parts.append(text(index * wide + 1, top + 23, step, class_="tick"))
    return "".join(parts)
