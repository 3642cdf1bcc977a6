"""What conformance cases are made of: the case itself, and documents of a few words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from allocator.model.entities import Goal, Level, Linearization, Model
from allocator.model.families import Family, GoalId

__all__ = [
    "BUSY",
    "COST",
    "DEAR",
    "MODES",
    "PAIR_TEAM",
    "PLACED",
    "THROUGHPUT",
    "TRAFFIC",
    "Case",
    "Document",
    "crossing_zones",
    "document",
    "drop",
    "drop_cap",
    "drop_of_class",
    "drop_of_uplinks",
    "node",
    "of_work",
    "only",
    "rack",
    "two_racks",
    "workload",
]

Document = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """``levels`` of the model; ``strip`` makes the document without the subject (None: ignore the family or goal).

    ``bent``: not linear, solved with tolerance 0.
    """

    name: str
    subject: Family | GoalId
    document: Document
    levels: tuple[Level, ...]
    strip: Callable[[Document], None] | None = None
    bent: bool = False

    def model(self) -> Model:
        """The model with the subject."""
        return self._model(self.levels)

    def without(self) -> tuple[Document, Model]:
        """Document and model without the subject."""
        if self.strip is not None:
            document = copy.deepcopy(self.document)
            self.strip(document)
            return document, self.model()
        if isinstance(self.subject, Family):
            return self.document, self._model(self.levels, self.subject)
        return self.document, self._model(self.levels[1:])

    def _model(self, levels: tuple[Level, ...], *ignored: Family) -> Model:
        linear = Linearization(Fraction(0)) if self.bent else Linearization()
        return Model(self.name, "", levels, frozenset(ignored), linear)


def only(*goals: GoalId) -> tuple[Level, ...]:
    """One level a goal."""
    return tuple(Level((Goal(goal),)) for goal in goals)


def node(name: str, capacity: Document | None = None, **more: Any) -> Document:
    """A node with two cores and eight bytes unless it says otherwise."""
    return {"level": "node", "name": name, "kind": "a", "capacity": capacity or {"cpu": 2, "memory": 8}, **more}


def rack(name: str, *children: Document, **more: Any) -> Document:
    """A rack."""
    return {"level": "rack", "name": name, "children": list(children), **more}


def workload(name: str, count: int, cpu: Any = 1, memory: Any = 1, **more: Any) -> Document:
    """A class."""
    return {"class": name, "count": count, "requests": {"cpu": cpu, "memory": memory}, **more}


def document(topology: list[Document], workloads: list[Document], **more: Any) -> Document:
    """An instance document."""
    return {"format": "allocator/v1", "name": "case", "topology": topology, "workloads": workloads, **more}


def two_racks(**more: Any) -> list[Document]:
    """Two racks of two nodes; the second rack is dear."""
    return [rack("r0", node("n0"), node("n1"), **more), rack("r1", node("n2"), node("n3"))]


def crossing_zones() -> list[Document]:
    """Two racks of two nodes; one zone has the third node, the other zone the rest."""
    first, second = {"zone": "x"}, {"zone": "y"}
    return [
        rack("r0", node("n0", labels=second), node("n1", labels=second)),
        rack("r1", node("n2", labels=first), node("n3", labels=second)),
    ]


DEAR = {"default": 0, "r0/n1": 1, "r1/n2": 3, "r1/n3": 5}
"""Costs that draw everybody to r0/n0."""


def drop(*keys: str) -> Callable[[Document], None]:
    """Remove keys of the document."""

    def strip(whole: Document) -> None:
        for key in keys:
            del whole[key]

    return strip


def drop_of_class(*keys: str) -> Callable[[Document], None]:
    """Remove keys of every class."""

    def strip(whole: Document) -> None:
        for entry in whole["workloads"]:
            for key in keys:
                entry.pop(key, None)

    return strip


def of_work(**changes: Any) -> Callable[[Document], None]:
    """Change the work of every class; None removes a key."""

    def strip(whole: Document) -> None:
        for entry in whole["workloads"]:
            entry["work"] = {key: value for key, value in {**entry["work"], **changes}.items() if value is not None}

    return strip


def drop_cap(resource: str) -> Callable[[Document], None]:
    """Remove the capacity of a resource from the racks."""

    def strip(whole: Document) -> None:
        for entry in whole["topology"]:
            entry.get("capacity", {}).pop(resource, None)

    return strip


COST, PLACED, THROUGHPUT, TRAFFIC = GoalId.COST, GoalId.PLACED, GoalId.THROUGHPUT, GoalId.TRAFFIC
BUSY = {"rate": "2/s", "cpu": "1 s", "parallel": 4}
MODES = {"lean": {"requests": {"cpu": "0.5"}}, "fat": {"requests": {"cpu": 2}}}
PAIR_TEAM = [{"team": "t", "count": 1, "members": {"c": 2}, "traffic": {"rate": "4 bit/s"}}]


def drop_of_uplinks(*keys: str) -> Callable[[Document], None]:
    """Remove keys of every uplink."""

    def strip(whole: Document) -> None:
        domains = list(whole["topology"])
        while domains:
            domain = domains.pop()
            domains += domain.get("children", [])
            for key in keys:
                domain.get("uplink", {}).pop(key, None)

    return strip
