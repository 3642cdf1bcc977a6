"""The topology tree: from entries with counts to domains in preorder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from allocator.documents.problems import Location, Problems
from allocator.instance.build.resources import ResourceBook
from allocator.instance.empty import EMPTY
from allocator.instance.entities import Domain, Goodput, Power, Uplink
from allocator.instance.schema.topology import DomainDocument, UplinkDocument

__all__ = ["MAX_DOMAINS", "ROOT_LEVEL", "Template", "Topology", "escape"]

MAX_DOMAINS = 1_000_000
ROOT_LEVEL = "root"


def escape(name: str) -> str:
    """A name as one part of a path, escaped as in JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


@dataclass(slots=True)
class Template:
    """An entry of the topology: what all its copies have in common. ``copies``: in the whole tree."""

    stated: DomainDocument
    location: Location
    copies: int
    children: list[Template]
    capacity: dict[str, Fraction] = field(default_factory=dict)
    safety: dict[str, Fraction] = field(default_factory=dict)
    pool: dict[str, Fraction] = field(default_factory=dict)
    bandwidth: Fraction | None = None

    @property
    def count(self) -> int:
        """Copies beside each other."""
        return 1 if self.stated.count is None else self.stated.count

    @property
    def is_node(self) -> bool:
        """Whether the entry is a leaf: no children, not even an empty list of them."""
        return self.stated.children is None or (not self.stated.children and self.stated.kind is not None)

    @property
    def kind(self) -> str | None:
        """Hardware kind of a node, its level when none is stated; None for an inner domain."""
        return (self.stated.kind or self.stated.level) if self.is_node else None

    def names(self) -> Iterator[str]:
        """Names of the copies."""
        if self.stated.count is None:
            yield self.stated.name
        else:
            for number in range(self.stated.count):
                yield f"{self.stated.name}{number}"


class Topology:
    """Templates of the tree, checked; ``expand`` makes the domains once the units of resources are known."""

    def __init__(self, entries: list[DomainDocument], book: ResourceBook, problems: Problems) -> None:
        self._book = book
        self._problems = problems
        self.levels: set[str] = {"node"}
        self.kinds: set[str] = set()
        self.labels: set[str] = set()
        self.templates = self._read(entries, ("topology",), 1, frozenset())
        self.is_empty = not entries
        self.too_large = False
        size = sum(_size(template) for template in self.templates)
        if size > MAX_DOMAINS:
            problems.add(("topology",), f"has {size} domains, more than {MAX_DOMAINS}")
            self.too_large = True

    # ------------------------------------------------------------ reading

    def _read(self, entries: list[DomainDocument], at: Location, copies: int, pools: frozenset[str]) -> list[Template]:
        templates = []
        for index, stated in enumerate(entries):
            location = (*at, index)
            own = copies * (1 if stated.count is None else stated.count)
            template = Template(stated, location, own, [])
            self._amounts(template, pools)
            inner = pools | stated.pool.keys()
            template.children = self._read(stated.children or [], (*location, "children"), own, inner)
            self._check(template)
            template.bandwidth = self._bandwidth(template)
            templates.append(template)
        self._unique(templates)
        return templates

    def _amounts(self, template: Template, pools: frozenset[str]) -> None:
        stated, location = template.stated, template.location
        for key in ("capacity", "safety", "pool"):
            texts: dict[str, str] = getattr(stated, key)
            amounts: dict[str, Fraction] = getattr(template, key)
            for name, text in texts.items():
                value = self._book.amount(name, text, (*location, key, name))
                if value is not None:
                    amounts[name] = value
                    self._book.supply(name, value, template.copies, text, (*location, key, name))
        for name in stated.pool.keys() & pools:
            message = "lies below another pool of the same resource; pools do not nest"
            self._problems.add((*location, "pool", name), message, stated.pool[name])

    def _check(self, template: Template) -> None:
        stated, location = template.stated, template.location
        if stated.level == ROOT_LEVEL:
            message = "is the name of the implicit domain above all others; choose another"
            self._problems.add((*location, "level"), message, stated.level)
        self.levels.add(stated.level)
        self.labels.update(stated.labels)
        if template.is_node:
            self.kinds.add(template.kind or "")
            if stated.internal is not None and stated.children:
                self._problems.add((*location, "internal"), "belongs to a domain")
        else:
            if stated.level == "node":
                self._problems.add((*location, "level"), "is the level of the leaves; this one has children", "node")
            for key in ("kind", "power", "weight"):
                if getattr(stated, key) is not None:
                    value = stated.kind if key == "kind" else None
                    self._problems.add((*location, key), "belongs to a node, and this domain has children", value)
        if stated.power is not None and stated.power.busy < stated.power.idle:
            self._problems.add((*location, "power", "busy"), "must be at least idle")
        if stated.uplink is not None:
            self._goodput(stated.uplink, (*location, "uplink", "goodput"))

    def _bandwidth(self, template: Template) -> Fraction | None:
        uplink, location = template.stated.uplink, (*template.location, "uplink")
        if uplink is None:
            return None
        if uplink.oversubscription is None:
            return uplink.bandwidth
        if uplink.bandwidth is not None:
            self._problems.add((*location, "oversubscription"), "stands beside bandwidth; state one of the two")
            return uplink.bandwidth
        if not template.children:
            message = "needs domains below to sum up; state bandwidth instead"
            self._problems.add((*location, "oversubscription"), message)
            return None
        total = Fraction(0)
        for child in template.children:
            below = _bandwidth_below(child)
            if isinstance(below, Template):
                message = f"needs the bandwidth of every uplink below; {self._problems.place(below.location)} has none"
                self._problems.add((*location, "oversubscription"), message)
                return None
            total += below * child.count
        return total / uplink.oversubscription

    def _goodput(self, uplink: UplinkDocument, location: Location) -> None:
        stated = uplink.goodput
        if stated is None:
            return
        if stated.p is not None and stated.curve != "knee":
            self._problems.add((*location, "p"), "belongs to the curve knee")
        if stated.curve != "table":
            if stated.points is not None:
                self._problems.add((*location, "points"), "belong to the curve table")
            return
        if not stated.points:
            self._problems.add((*location, "points"), "must be stated for the curve table")
            return
        for message, index in _wrong_points(stated.points):
            self._problems.add((*location, "points", index), message)

    def _unique(self, templates: list[Template]) -> None:
        if sum(template.count for template in templates) > MAX_DOMAINS:
            return  # refused for its size
        seen: dict[str, Template] = {}
        for template in templates:
            for name in template.names():
                first = seen.setdefault(name, template)
                if first is not template:
                    message = f"has the name of {self._problems.place(first.location)} beside it"
                    self._problems.add((*template.location, "name"), message, name)
                    break

    # ------------------------------------------------------------ expansion

    def expand(self, level_weights: Mapping[str, Fraction]) -> tuple[Domain, ...]:
        """Domains in preorder, the implicit root first. ``level_weights``: distance of an uplink by level."""
        records: list[dict[str, Any]] = [
            {"index": 0, "path": "", "level": ROOT_LEVEL, "parent": None, "kind": None, "first_node": 0}
        ]
        num_nodes = self._expand(
            self.templates, records, 0, num_nodes=0, inherited=_Inherited(EMPTY), level_weights=level_weights
        )
        records[0].update(end_node=num_nodes, end_domain=len(records))
        children: list[list[int]] = [[] for _ in records]
        for record in records[1:]:
            children[record["parent"]].append(record["index"])
        return tuple(Domain(**record, children=tuple(below)) for record, below in zip(records, children, strict=True))

    def _expand(
        self,
        templates: list[Template],
        records: list[dict[str, Any]],
        parent: int,
        *,
        num_nodes: int,
        inherited: _Inherited,
        level_weights: Mapping[str, Fraction],
    ) -> int:
        prefix = f"{records[parent]['path']}/" if parent else ""
        for template in templates:
            stated = template.stated
            own = inherited.below(stated)
            shared = {
                "level": stated.level,
                "parent": parent,
                "kind": template.kind,
                "capacity": self._whole(template.capacity),
                "safety": self._whole(template.safety),
                "pool": self._whole(template.pool),
                "uplink": _uplink(template, level_weights),
                "internal": None if stated.internal is None else stated.internal.bandwidth,
                "labels": own.labels,
                "taints": own.taints,
                "capabilities": own.capabilities,
                "power": None if stated.power is None else Power(stated.power.idle, stated.power.busy),
                "weight": Fraction(1) if stated.weight is None else stated.weight,
            }
            for name in template.names():
                index = len(records)
                record = {"index": index, "path": prefix + escape(name), "first_node": num_nodes, **shared}
                records.append(record)
                if template.is_node:
                    num_nodes += 1
                else:
                    num_nodes = self._expand(
                        template.children,
                        records,
                        index,
                        num_nodes=num_nodes,
                        inherited=own,
                        level_weights=level_weights,
                    )
                record["end_node"] = num_nodes
                record["end_domain"] = len(records)
        return num_nodes

    def _whole(self, amounts: dict[str, Fraction]) -> Mapping[str, int]:
        if not amounts:
            return EMPTY
        return MappingProxyType({name: self._book.ceiling(name, value) for name, value in amounts.items()})


@dataclass(frozen=True, slots=True)
class _Inherited:
    labels: Mapping[str, str]
    taints: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()

    def below(self, stated: DomainDocument) -> _Inherited:
        labels = MappingProxyType({**self.labels, **stated.labels}) if stated.labels else self.labels
        return _Inherited(
            labels, self.taints | frozenset(stated.taints), self.capabilities | frozenset(stated.capabilities)
        )


def _uplink(template: Template, level_weights: Mapping[str, Fraction]) -> Uplink:
    weight = level_weights.get(template.stated.level, Fraction(1))
    stated = template.stated.uplink
    if stated is None:
        return Uplink(weight=weight)
    goodput = Goodput()
    if stated.goodput is not None:
        points = tuple((point[0], point[1]) for point in stated.goodput.points or () if len(point) == 2)
        goodput = Goodput(stated.goodput.curve, stated.goodput.p or Fraction(4), points)
    return Uplink(
        template.bandwidth,
        stated.oversubscription,
        stated.latency or Fraction(0),
        goodput,
        weight if stated.weight is None else stated.weight,
    )


def _bandwidth_below(template: Template) -> Fraction | Template:
    """What one copy can send up: its uplink, or where that is unlimited all its children; the node without, if any."""
    if template.bandwidth is not None:
        return template.bandwidth
    if not template.children:
        return template
    total = Fraction(0)
    for child in template.children:
        below = _bandwidth_below(child)
        if isinstance(below, Template):
            return below
        total += below * child.count
    return total


def _size(template: Template) -> int:
    return template.count * (1 + sum(_size(child) for child in template.children))


def _wrong_points(points: list[list[Fraction]]) -> Iterator[tuple[str, int]]:
    """What breaks the rules of a measured curve: phi(0) = 0, phi <= min(rho, 1), phi / rho never rising."""
    last: list[Fraction] | None = None
    for index, point in enumerate(points):
        if len(point) != 2:
            yield "must be a pair [offered, carried]", index
            return
        offered, carried = point
        if index == 0 and (offered or carried):
            yield "must be [0, 0], the first point", index
        if carried > min(offered, Fraction(1)):
            yield "carries more than is offered, or more than 1", index
        if last is not None:
            if offered <= last[0]:
                yield "must offer more than the point before it", index
            elif last[0] and carried * last[0] > last[1] * offered:
                yield "carries a larger fraction of the offer than the point before it", index
        last = point
