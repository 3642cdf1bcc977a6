"""Maps of a plan over the topology: utilisation by resource, load of the links; and the table of all domains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation, LinkUse, Use
from allocator.report.charts.svg import shortened
from allocator.report.charts.topology import Layout, draw, lay_out
from allocator.report.format import amount, count, percent
from allocator.report.html.table import Cell, Column, Table, plain
from allocator.report.html.view import Picture

__all__ = ["domain_name", "domain_table", "topology_maps"]

MOST_ROWS = 600
MOST_MAPS = 6
LETTERS = 60  # of a path in a caption
HALF = Fraction(1, 2)


def domain_name(path: str) -> str:
    """Path of a domain as a person reads it; the root is everything."""
    return path.replace("~1", "/").replace("~0", "~") if path else "all"


def topology_maps(
    instance: Instance, evaluation: Evaluation, table_key: str, *, titles: bool = True, most: int = MOST_MAPS
) -> tuple[tuple[Picture, ...], str]:
    """A map a resource that has a capacity somewhere, one of the links; and what to say of them.

    Parameters
    ----------
    table_key : id of the table that holds the numbers.
    titles : each cell says its name and value when it is pointed at; without, a map is several times smaller.
    most : at most so many resources, the fullest first.
    """
    layout = lay_out(instance)
    if layout is None:
        nodes = count(len(instance.nodes), "node")
        return (
            (),
            f"There is no map: {nodes} are too many to draw. The table has the fullest." if instance.nodes else "",
        )
    by_resource = _by_resource(evaluation)
    shown = sorted(by_resource, key=lambda name: -max(use.utilization or 0 for use in by_resource[name].values()))[
        :most
    ]
    painter = _Painter(instance, layout, table_key, titles)
    pictures = [painter.resource(name, by_resource[name]) for name in by_resource if name in shown]
    links = _busier(evaluation)
    if links:
        pictures.append(painter.links(links))
    if not pictures:
        return (), "There is no map: no capacity and no bandwidth is stated."
    left_out = len(by_resource) - len(shown)
    words = "The darker, the fuller; red with a heavy edge is more than there is, dashed means that nothing is stated."
    if left_out:
        words += f" {count(left_out, 'emptier resource')} {'is' if left_out == 1 else 'are'} in the table alone."
    if not layout.whole:
        words += " A cell has the colour of the fullest node in it."
    return tuple(pictures), words


def _by_resource(evaluation: Evaluation) -> dict[str, dict[str, Use]]:
    found: defaultdict[str, dict[str, Use]] = defaultdict(dict)
    for use in evaluation.uses:
        if use.capacity:
            found[use.resource][use.domain] = use
    return dict(found)


def _busier(evaluation: Evaluation) -> dict[str, LinkUse]:
    """The busier direction of every uplink with a bandwidth; empty when nothing crosses any link."""
    found: dict[str, LinkUse] = {}
    for link in evaluation.links:
        if link.capacity and (link.domain not in found or link.offered > found[link.domain].offered):
            found[link.domain] = link
    return found if any(link.offered for link in found.values()) else {}


@dataclass(frozen=True, slots=True)
class _Painter:
    """Draws maps of one instance."""

    instance: Instance
    layout: Layout
    table_key: str
    titles: bool

    def resource(self, name: str, uses: Mapping[str, Use]) -> Picture:
        """Map of the utilisation of a resource."""
        unit = self.instance.resources[name].unit if name in self.instance.resources else ""

        def words(path: str) -> str:
            use = uses.get(path)
            if use is None:
                return f"{domain_name(path)}: no {name} stated"
            used = f"{amount(use.used, unit)} of {amount(use.capacity, unit)}"
            return f"{domain_name(path)}: {percent(use.utilization)} of {name} ({used})"

        exact = {path: use.utilization for path, use in uses.items() if use.utilization is not None}
        return self._map(exact, name, f"Utilisation of {name}", words)

    def links(self, links: Mapping[str, LinkUse]) -> Picture:
        """Map of the load of the uplinks."""

        def words(path: str) -> str:
            link = links.get(path)
            if link is None or not link.capacity:
                return f"{domain_name(path)}: no bandwidth stated"
            load = f"{amount(link.offered, 'bit/s')} of {amount(link.capacity, 'bit/s')} {link.direction}"
            return f"{domain_name(path)}: {percent(link.offered / link.capacity)} of the uplink ({load})"

        exact = {path: link.offered / link.capacity for path, link in links.items() if link.capacity}
        return self._map(exact, "link load", "Load of the uplinks, busier direction", words)

    def _map(self, exact: Mapping[str, Fraction], short: str, title: str, words: Callable[[str], str]) -> Picture:
        description = _described(exact)
        drawing = draw(
            self.instance,
            self.layout,
            {path: float(value) for path, value in exact.items()},
            title=title,
            description=description,
            words=words,
            titles=self.titles,
        )
        return Picture(short, drawing, description, elsewhere=self.table_key)


def _described(values: Mapping[str, Fraction]) -> str:
    """The map in words: how many are empty, half full, over, and the fullest."""
    if not values:
        return "No capacity is stated."
    groups = Counter(
        "over" if value > 1 else "full" if value == 1 else "empty" if not value else "low" if value < HALF else "high"
        for value in values.values()
    )
    names = (("empty", "empty"), ("low", "below half"), ("high", "half to full"), ("full", "full"), ("over", "OVER"))
    parts = ", ".join(f"{groups[key]:,} {name}" for key, name in names if groups[key])
    top = max(values, key=lambda path: values[path])
    return f"{parts}; fullest: {shortened(domain_name(top), LETTERS)} at {percent(values[top])}."


def domain_table(instance: Instance, plan: Plan, evaluation: Evaluation, key: str, most: int = MOST_ROWS) -> Table:
    """A row a domain: members, used and utilisation of every resource, load of its uplink each way."""
    by_resource = _by_resource(evaluation)
    ways: dict[tuple[str, str], LinkUse] = {
        (link.domain, link.direction): link for link in evaluation.links if link.capacity
    }
    directions = [way for way in ("up", "down") if any(key[1] == way and ways[key].offered for key in ways)]
    members = _members(instance, plan)
    columns = [Column("domain", "domain"), Column("level", "level", choice=True), Column("kind", "kind", choice=True)]
    columns.append(Column("members", "members", right=True))
    columns += [Column(name, name, right=True) for name in by_resource]
    columns += [Column(f"uplink_{way}", f"uplink {way}", right=True) for way in directions]
    rows = []
    for domain in instance.domains:
        if domain.parent is None and not any(domain.path in uses for uses in by_resource.values()):
            continue
        cells = [
            plain(domain_name(domain.path)),
            plain(domain.level or "all"),
            plain(domain.kind or "-"),
            Cell(f"{members[domain.index]:,}", members[domain.index]),
        ]
        worst = Fraction(0)
        for name, uses in by_resource.items():
            use = uses.get(domain.path)
            unit = instance.resources[name].unit if name in instance.resources else ""
            ratio = None if use is None else use.utilization
            worst = max(worst, ratio or Fraction(0))
            cells.append(_ratio_cell(ratio, "" if use is None else amount(use.used, unit)))
        for way in directions:
            link = ways.get((domain.path, way))
            ratio = None if link is None or not link.capacity else link.offered / link.capacity
            worst = max(worst, ratio or Fraction(0))
            cells.append(_ratio_cell(ratio, "" if link is None else amount(link.offered, "bit/s")))
        rows.append((worst, tuple(cells)))
    if len(rows) > most:
        kept = sorted(range(len(rows)), key=lambda index: -rows[index][0])[:most]
        chosen = [rows[index] for index in sorted(kept)]
    else:
        chosen = rows
    return Table(key, "Every domain", tuple(columns), tuple(cells for _, cells in chosen), len(rows) - len(chosen))


def _ratio_cell(ratio: Fraction | None, used: str) -> Cell:
    text = f"{used} · {percent(ratio)}" if used and ratio is not None else percent(ratio)
    return Cell(text, ratio, "bad" if ratio is not None and ratio > 1 else "")


def _members(instance: Instance, plan: Plan) -> Counter[int]:
    """Members at or below each domain, by its index."""
    found: Counter[int] = Counter()
    at_node = Counter(node for _, _, _, node in plan.members())
    for path, members in at_node.items():
        domain = instance.domain_by_path.get(path)
        while domain is not None:
            found[domain.index] += members
            domain = None if domain.parent is None else instance.domains[domain.parent]
    return found
