"""Constraints and costs that concern several classes or the whole instance, with their references checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar

from allocator.documents.problems import Location, Problems, did_you_mean
from allocator.instance.build.resources import ResourceBook
from allocator.instance.build.topology import Topology
from allocator.instance.build.workloads import Workloads, group_of
from allocator.instance.empty import EMPTY
from allocator.instance.entities import (
    BalanceTriple,
    Conflict,
    Dependency,
    Distances,
    MoveCosts,
    Reserve,
    Spread,
)
from allocator.instance.node_matrix import node_matrix
from allocator.instance.schema.document import InstanceDocument, RowsDocument
from allocator.instance.schema.workloads import WorkloadDocument
from allocator.instance.zones import IMPLICIT_LABELS, LABEL_PREFIX

__all__ = ["Families"]

MOST_LINK_LOAD = Fraction(99, 100)

Matrix = Mapping[str, Mapping[str, Fraction]]
Tables = Mapping[str, Matrix]
Item = TypeVar("Item")


class Families:
    """Reads the instance-wide families of a document."""

    def __init__(
        self,
        document: InstanceDocument,
        topology: Topology,
        workloads: Workloads,
        book: ResourceBook,
        problems: Problems,
    ) -> None:
        self._document = document
        self._topology = topology
        self._workloads = workloads
        self._book = book
        self._problems = problems
        self.conflicts: tuple[Conflict, ...] = ()
        self.spreads: tuple[Spread, ...] = ()
        self.dependencies: tuple[Dependency, ...] = ()
        self._groups()
        self.balance = self._balance()
        self.reserves = self._reserves()
        self.link_load = self._link_load()
        self.level_weights = self._level_weights()
        self._bytes: Fraction | None = None
        self._check_moves()

    # ------------------------------------------------------------ groups

    def _groups(self) -> None:
        conflicts: list[Conflict] = []
        spreads: list[Spread] = []
        dependencies: list[Dependency] = []
        for index, stated in enumerate(self._document.workloads):
            placement = stated.placement
            if placement is None:
                continue
            at: Location = ("workloads", index, "placement")
            for number, conflict in enumerate(placement.conflict):
                group = self._group(conflict.group, stated, (*at, "conflict", number, "group"))
                self._zones(conflict.level, (*at, "conflict", number, "level"))
                conflicts.append(Conflict(group, conflict.level, conflict.at_most))
            for number, spread in enumerate(placement.spread):
                group = self._group(spread.group, stated, (*at, "spread", number, "group"))
                self._zones(spread.level, (*at, "spread", number, "level"))
                spreads.append(Spread(group, spread.level, spread.at_least))
            for number, dependency in enumerate(placement.depends_on):
                on = self._group(dependency.group, stated, (*at, "depends_on", number, "group"))
                self._zones(dependency.level, (*at, "depends_on", number, "level"))
                dependencies.append(Dependency(group_of(stated), on, dependency.level))
            if placement.gang is not None:
                self._level(placement.gang.level, (*at, "gang", "level"))
        self.conflicts = _distinct(conflicts)
        self.spreads = _distinct(spreads)
        self.dependencies = _distinct(dependencies)

    def _group(self, name: str | None, stated: WorkloadDocument, location: Location) -> str:
        if name is None:
            return group_of(stated)
        if name not in self._workloads.groups:
            self._problems.add(location, did_you_mean(name, self._workloads.groups, "group"), name)
        return name

    def _zones(self, name: str, location: Location) -> None:
        """Check a level of a rule on groups, which may be ``label:NAME`` as well."""
        label = name.removeprefix(LABEL_PREFIX)
        if label == name or name in self._topology.levels:
            self._level(name, location)
        elif label not in self._topology.labels and label not in IMPLICIT_LABELS and not self._topology.is_empty:
            message = did_you_mean(label, self._topology.labels, "label on any domain")
            self._problems.add(location, message, name)

    def _level(self, name: str, location: Location) -> None:
        if name not in self._topology.levels and not self._topology.is_empty:
            shown = None if location[-1] == name else name
            self._problems.add(location, did_you_mean(name, self._topology.levels, "level"), shown)

    # ------------------------------------------------------------ whole instance

    def _balance(self) -> tuple[BalanceTriple, ...]:
        triples = []
        for index, stated in enumerate(self._document.balance):
            location: Location = ("balance", index)
            for number, name in enumerate(stated.resources):
                self._book.check(name, (*location, "resources", number))
            self._level(stated.level, (*location, "level"))
            first, second = stated.resources
            weight = Fraction(1) if stated.weight is None else stated.weight
            triples.append(BalanceTriple(first, second, stated.target, weight, stated.level))
        return tuple(triples)

    def _reserves(self) -> tuple[Reserve, ...]:
        reserves = []
        for index, stated in enumerate(self._document.reserve):
            location: Location = ("reserve", index)
            self._level(stated.level, (*location, "level"))
            for number, name in enumerate(stated.resources):
                self._book.check(name, (*location, "resources", number))
            reserves.append(Reserve(stated.level, tuple(stated.resources)))
        return _distinct(reserves)

    def _link_load(self) -> Fraction | None:
        """Part of bandwidths; nearer to all of it, delays of messages have no use as a bound."""
        stated = self._document.link_load
        if stated is not None and not 0 < stated <= MOST_LINK_LOAD:
            message = f"must be more than 0 and at most {float(MOST_LINK_LOAD)}"
            self._problems.add(("link_load",), message, self._problems.value_at(("link_load",)))
        return stated

    def _level_weights(self) -> Mapping[str, Fraction]:
        stated = self._document.distances
        if stated is None:
            return EMPTY
        for level in stated.weights:
            self._level(level, ("distances", "weights", level))
        return stated.weights

    def _check_moves(self) -> None:
        moves = self._document.moves
        if moves is None or moves.limit is None or moves.limit.bytes is None:
            return
        location: Location = ("moves", "limit", "bytes")
        self._bytes = self._book.amount("memory", moves.limit.bytes, location)

    def moves(self, nodes: Mapping[str, int], tables: Tables) -> MoveCosts | None:
        """Move costs and limits; ``nodes``: their paths."""
        stated = self._document.moves
        if stated is None:
            return None
        costs = self._machine_costs(stated.machine, nodes, tables)
        weights = stated.weights
        limit = stated.limit
        return MoveCosts(
            Fraction(1) if weights is None or weights.process is None else weights.process,
            Fraction(0) if weights is None or weights.service is None else weights.service,
            Fraction(0) if weights is None or weights.machine is None else weights.machine,
            costs,
            None if limit is None else limit.members,
            None if self._bytes is None else self._book.ceiling("memory", self._bytes),
        )

    def _machine_costs(
        self, stated: str | Matrix | RowsDocument | None, nodes: Mapping[str, int], tables: Tables
    ) -> Mapping[tuple[str, str], Fraction]:
        location: Location = ("moves", "machine")
        if isinstance(stated, RowsDocument):
            for number, numbers in enumerate(stated.rows):
                if len(numbers) != len(nodes):
                    message = f"has {len(numbers)} numbers, and there are {len(nodes)} nodes"
                    self._problems.add((*location, "rows", number), message)
                    return EMPTY
            if len(stated.rows) != len(nodes):
                message = f"has {len(stated.rows)} rows, and there are {len(nodes)} nodes"
                self._problems.add((*location, "rows"), message)
                return EMPTY
            return node_matrix(tuple(nodes), stated.rows)
        matrix, at = self._matrix(stated, tables, location)
        costs: dict[tuple[str, str], Fraction] = {}
        for source, row in matrix.items():
            for target, cost in row.items():
                self._node(source, nodes, (*at, source))
                self._node(target, nodes, (*at, source, target))
                costs[source, target] = cost
        return MappingProxyType(costs)

    def distances(self, nodes: Mapping[str, int], tables: Tables) -> Distances:
        """Distances; a matrix has to be complete, but for the diagonal."""
        stated = self._document.distances
        location: Location = ("distances", "matrix")
        if stated is not None and stated.matrix is not None:
            matrix, at = self._matrix(stated.matrix, tables, location)
        elif "distances" in tables:
            matrix, at = tables["distances"], ("tables", "distances")
        else:
            return Distances()
        found: dict[tuple[str, str], Fraction] = {}
        for source, row in matrix.items():
            if not self._node(source, nodes, (*at, source)):
                continue
            for target, distance in row.items():
                if self._node(target, nodes, (*at, source, target)):
                    found[source, target] = distance
        missing = 0
        first = ""
        for source in nodes:
            for target in nodes:
                if source != target and (source, target) not in found:
                    missing += 1
                    first = first or f"from {source} to {target}"
        if missing:
            self._problems.add(at, f"lacks {missing} distances, the first {first}")
        return Distances(MappingProxyType(found))

    def _matrix(self, stated: str | Matrix | None, tables: Tables, location: Location) -> tuple[Matrix, Location]:
        if stated is None:
            return {}, location
        if not isinstance(stated, str):
            return stated, location
        if stated not in tables:
            self._problems.add(location, did_you_mean(stated, self._document.tables, "table"), stated)
            return {}, location
        return tables[stated], ("tables", stated)

    def _node(self, path: str, nodes: Mapping[str, int], location: Location) -> bool:
        if path in nodes:
            return True
        self._problems.add(location, did_you_mean(path, nodes, "node"))
        return False


def _distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(items))
