"""The tree of domains as nested boxes: a cell a node, a strip a domain above it, coloured by a ratio.

Owns layout and drawing. Takes an instance's topology and a ratio by domain; knows nothing of plans or resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from allocator.instance.entities import Domain, Instance
from allocator.report.charts.svg import WIDTH, element, escape, figure, shortened, text

__all__ = ["HEAT_STEPS", "Layout", "draw", "heat_class", "lay_out", "legend"]

HEAT_STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
"""Upper ends of the classes ``h0`` (nothing) to ``h6`` (full); beyond the last is ``h7``: more than there is."""

MOST_CELLS = 4_000
CELLS_WITH_TITLES = 1_200
TALLEST = 380.0
NARROWEST = 250.0
_CELLS = (44.0, 36.0, 30.0, 24.0, 19.0, 15.0, 12.0, 9.5, 7.5, 6.0, 5.0, 4.0)
GAP = 1.5
NAMED = 11.0  # height of a strip that carries a name
LETTER = 5.4  # width of a letter of a strip's name, user units


def heat_class(ratio: float | None) -> str:
    """Class that colours a ratio; ``hn`` where there is none."""
    if ratio is None:
        return "hn"
    for index, end in enumerate(HEAT_STEPS):
        if ratio <= end:
            return f"h{index}"
    return f"h{len(HEAT_STEPS)}"


@dataclass(frozen=True, slots=True)
class _Box:
    """A drawn domain: place and size in user units; ``strip``: height of its own band (0 for a cell)."""

    index: int
    x: float
    y: float
    width: float
    height: float
    strip: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the domains of an instance stand. ``whole``: every node has a cell; else cells are domains above them."""

    boxes: tuple[_Box, ...]
    width: float
    height: float
    whole: bool
    cells: int


def lay_out(instance: Instance) -> Layout | None:
    """Place every node, or, where there are too many, the domains above them; None when those are too many, too."""
    leaves = _leaves(instance)
    if not leaves or len(leaves) > MOST_CELLS:
        return None
    cells = frozenset(leaves)
    for cell in _CELLS:
        boxes, width, height = _Builder(instance, cells, cell).place(instance.domains[0], WIDTH - 1, 0)
        if height <= TALLEST or cell == _CELLS[-1]:
            whole = len(leaves) == len(instance.nodes)
            return Layout(tuple(boxes), max(width, NARROWEST), max(height, cell), whole, len(leaves))
    return None


def _leaves(instance: Instance) -> list[int]:
    """Indices of the domains drawn as cells: the deepest cut of the tree that is small enough."""
    found = [node.index for node in instance.nodes]
    while len(found) > MOST_CELLS:
        above = list(dict.fromkeys(_parent(instance.domains[index]) for index in found))
        if len(above) >= len(found) or above == [0]:
            break
        found = above
    return found


def _parent(domain: Domain) -> int:
    return domain.index if not domain.parent else domain.parent


@dataclass(frozen=True, slots=True)
class _Builder:
    """Places domains for one size of cell."""

    instance: Instance
    cells: frozenset[int]
    cell: float

    def place(self, domain: Domain, room: float, depth: int) -> tuple[list[_Box], float, float]:
        """Boxes of a domain with its upper left corner at 0, 0, and its size."""
        cell = self.cell
        if domain.index in self.cells:
            return [_Box(domain.index, 0.0, 0.0, cell, cell, 0.0)], cell, cell
        gap = GAP if cell >= 9 else 1.0
        pad = 0.0 if depth == 0 else 3.0 if cell >= 19 else 2.0 if cell >= 9 else 1.0
        strip = 0.0 if depth == 0 else NAMED if depth == 1 or cell >= 19 else 4.0 if cell >= 9 else 2.5
        inner = max(room - 2 * pad, cell)
        nodes_alone = all(child in self.cells for child in domain.children)
        if nodes_alone:
            columns = _columns(len(domain.children), int((inner + gap) // (cell + gap)), flat=depth == 0)
            inner = columns * (cell + gap) - gap
        space = gap if nodes_alone else 2 * pad + 1 if depth else 5.0
        boxes: list[_Box] = []
        x, y, row, widest = 0.0, 0.0, 0.0, 0.0
        for child in domain.children:
            inside, width, height = self.place(self.instance.domains[child], inner, depth + 1)
            if x > 0 and x + width > inner + 1e-6:
                x, y, row = 0.0, y + row + space, 0.0
            boxes += [_Box(b.index, b.x + x + pad, b.y + y + pad + strip, b.width, b.height, b.strip) for b in inside]
            x += width + space
            row = max(row, height)
            widest = max(widest, x - space)
        width, height = widest + 2 * pad, y + row + 2 * pad + strip
        if depth == 0:
            return boxes, width, height
        return [_Box(domain.index, 0.0, 0.0, width, height, strip), *boxes], width, height


def _columns(nodes: int, most: int, *, flat: bool) -> int:
    """Columns of a block of nodes: a little wider than high, and with a last row as full as can be."""
    most = max(1, min(most, nodes))
    if flat or nodes <= 6:
        return most
    base = max(1, round((nodes * 1.7) ** 0.5))
    candidates = range(max(1, min(base - 1, most)), min(base + 2, most) + 1)
    return min(candidates, key=lambda columns: (-nodes % columns, abs(columns - base), -columns))


def draw(
    instance: Instance,
    layout: Layout,
    ratios: Mapping[str, float | None],
    *,
    title: str,
    description: str,
    words: Callable[[str], str] | None = None,
    titles: bool = True,
) -> str:
    """The map of one ratio by domain path.

    Parameters
    ----------
    words : what a domain says when it is pointed at; None or ``titles`` false: nothing, and a much smaller drawing.
    """
    named = titles and words is not None and layout.cells <= CELLS_WITH_TITLES
    frames, groups, single = [], {}, []  # type: list[str], dict[str, list[str]], list[str]
    for box in layout.boxes:
        domain = instance.domains[box.index]
        heat = heat_class(_ratio(instance, domain, ratios, layout))
        if box.strip:
            frames.append(f"M{box.x + 0.5:.1f} {box.y + 0.5:.1f}h{box.width:.1f}v{box.height:.1f}h-{box.width:.1f}z")
        shape = f"M{box.x + 0.5:.1f} {box.y + 0.5:.1f}h{box.width:.1f}v{box.strip or box.height:.1f}h-{box.width:.1f}z"
        if named and words is not None:
            said = f"<title>{escape(words(domain.path))}</title>"
            single.append(element("path", said, d=shape, class_=heat))
        else:
            groups.setdefault(heat, []).append(shape)
        if box.strip >= NAMED:
            letters = int((box.width - 4) / LETTER)
            if letters >= 3:
                name = shortened(domain.path.rsplit("/", 1)[-1], letters)
                dark = "on" if heat in {"h4", "h5", "h6", "h7"} else ""
                single.append(text(box.x + 2.5, box.y + 8.6, name, class_=f"strip {dark}".strip()))
    body = element("path", d="".join(frames), class_="frame") if frames else ""
    body += "".join(element("path", d="".join(shapes), class_=heat) for heat, shapes in sorted(groups.items()))
    return figure(title, description, body + "".join(single), height=layout.height + 2, width=layout.width + 1)


def _ratio(instance: Instance, domain: Domain, ratios: Mapping[str, float | None], layout: Layout) -> float | None:
    """The domain's own ratio; for a cell that stands for many nodes the highest of theirs."""
    if layout.whole or domain.path in ratios or domain.is_node:
        return ratios.get(domain.path)
    below = [
        value
        for node in instance.nodes[domain.first_node : domain.end_node]
        if (value := ratios.get(node.path)) is not None
    ]
    return max(below, default=None)


def legend() -> str:
    """The colours with their ranges; one drawing serves all maps of a page."""
    steps = ["0", *(f"≤ {end:.0%}".replace("%", "") for end in HEAT_STEPS[1:]), "over"]
    body, wide = [], WIDTH / len(steps)
    for index, step in enumerate(steps):
        x = index * wide
        body.append(element("rect", x=x + 0.5, y=0.5, width=wide - 3, height=10, class_=f"h{index}"))
        body.append(text(x + 1, 22, step.strip(), class_="tick"))
    return figure(
        "Colours of the maps", "Utilisation in percent, from nothing to more than there is.", "".join(body), height=26
    )
