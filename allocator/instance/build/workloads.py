"""Classes: demands merged by mode and kind, placement rules, groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from allocator.documents.problems import Location, Problems, did_you_mean
from allocator.instance.build.resources import ResourceBook
from allocator.instance.build.topology import Topology
from allocator.instance.empty import EMPTY
from allocator.instance.entities import (
    Demand,
    Gang,
    Mode,
    Placement,
    Role,
    Slo,
    Work,
    WorkloadClass,
)
from allocator.instance.schema.workloads import DemandDocument, ModeDocument, WorkloadDocument

__all__ = ["DEFAULT_MODE", "Workloads"]

DEFAULT_MODE = "default"
ONE = Fraction(1)
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A demand in base units, merged from several places; ``where`` tells where a request or limit stands."""

    requests: Mapping[str, Fraction]
    limits: Mapping[str, Fraction]
    work: Mapping[str, Fraction]
    where: Mapping[tuple[str, str], tuple[Location, str]]

    def over(self, other: _Parts) -> _Parts:
        """What this demand states, and what the other one does where this one is silent."""
        return _Parts(
            {**other.requests, **self.requests},
            {**other.limits, **self.limits},
            {**other.work, **self.work},
            {**other.where, **self.where},
        )


@dataclass(slots=True)
class _ModeParts:
    name: str
    quality: Fraction
    default: _Parts
    by_kind: dict[str, _Parts] = field(default_factory=dict)


class Workloads:
    """Classes, read and checked against the topology; ``build`` makes entities once the units are known."""

    def __init__(
        self, entries: list[WorkloadDocument], topology: Topology, book: ResourceBook, problems: Problems
    ) -> None:
        self._entries = entries
        self._topology = topology
        self._book = book
        self._problems = problems
        self.by_name: dict[str, WorkloadDocument] = {}
        self.location: dict[str, Location] = {}
        self.groups: set[str] = set()
        self._modes: list[list[_ModeParts]] = []
        for index, stated in enumerate(entries):
            location: Location = ("workloads", index)
            if stated.class_ in self.by_name:
                first = problems.place(self.location[stated.class_])
                problems.add((*location, "class"), f"has the name of {first}", stated.class_)
            else:
                self.by_name[stated.class_] = stated
                self.location[stated.class_] = location
            self.groups.add(group_of(stated))
            self._modes.append(self._read_modes(stated, location))

    # ------------------------------------------------------------ demand

    def _read_modes(self, stated: WorkloadDocument, location: Location) -> list[_ModeParts]:
        if not (stated.modes or stated.by_kind or stated.limits or stated.work or stated.slo):
            return [_ModeParts(DEFAULT_MODE, ONE, self._requests(stated, location))]
        work = stated.work
        extra: dict[str, Any] = (work.model_extra or {}) if work else {}
        base = self._parts(stated.requests, stated.limits, extra, location)
        kinds = {kind: self._demand(each, (*location, "by_kind", kind)) for kind, each in stated.by_kind.items()}
        modes = []
        stated_modes: Mapping[str, ModeDocument] = stated.modes or {DEFAULT_MODE: ModeDocument()}
        for name, mode in stated_modes.items():
            at: Location = (*location, "modes", name)
            if not name:
                self._problems.add(at, "the name of a mode must not be empty")
            own = self._demand(mode, at)
            inner = {kind: self._demand(each, (*at, "by_kind", kind)) for kind, each in mode.by_kind.items()}
            parts = _ModeParts(name, ONE if mode.quality is None else mode.quality, own.over(base))
            for kind in {**kinds, **inner}:
                merged = kinds.get(kind, _NOTHING).over(parts.default)
                parts.by_kind[kind] = inner.get(kind, _NOTHING).over(merged)
            modes.append(parts)
        for kind in stated.by_kind:
            self._check_kind(kind, (*location, "by_kind", kind))
        for name, mode in stated.modes.items():
            for kind in mode.by_kind:
                self._check_kind(kind, (*location, "modes", name, "by_kind", kind))
        self._enter(stated, modes, location)
        return modes

    def _requests(self, stated: WorkloadDocument, location: Location) -> _Parts:
        """Demand of a class that states requests alone, entered for the choice of units."""
        requests: dict[str, Fraction] = {}
        request, count = self._book.request, stated.count
        for name, text in stated.requests.items():
            value = request(name, text, count, location)
            if value is not None:
                requests[name] = value
        return _Parts(requests, _EMPTY, _EMPTY, _EMPTY)

    def _demand(self, stated: DemandDocument | ModeDocument, location: Location) -> _Parts:
        return self._parts(stated.requests, stated.limits, stated.work, location)

    def _parts(
        self, requests: Mapping[str, str], limits: Mapping[str, str], work: Mapping[str, str], location: Location
    ) -> _Parts:
        if not (requests or limits or work):
            return _NOTHING
        read: dict[str, dict[str, Fraction]] = {"requests": {}, "limits": {}, "work": {}}
        where: dict[tuple[str, str], tuple[Location, str]] = {}
        for key, texts in (("requests", requests), ("limits", limits), ("work", work)):
            for name, text in texts.items():
                at: Location = (*location, key, name)
                value = self._book.work(name, text, at) if key == "work" else self._book.amount(name, text, at)
                if value is not None:
                    read[key][name] = value
                    where[key, name] = (at, text)
        return _Parts(read["requests"], read["limits"], read["work"], where)

    def _enter(self, stated: WorkloadDocument, modes: list[_ModeParts], location: Location) -> None:
        """Enter every number of the class for the choice of units, and compare limits with requests."""
        rate = (stated.work.rate if stated.work else None) or ZERO
        parallel = stated.work.parallel if stated.work and stated.work.parallel is not None else ONE
        largest: dict[str, tuple[Fraction, Location, str]] = {}
        for mode in modes:
            for parts in (mode.default, *mode.by_kind.values()):
                for name, value in parts.requests.items():
                    at, text = parts.where["requests", name]
                    self._book.need(name, value, 0, text, at)
                    if name not in largest or value > largest[name][0]:
                        largest[name] = (value, at, text)
                for name, value in parts.limits.items():
                    at, text = parts.where["limits", name]
                    self._book.need(name, value, 0, text, at)
                    if value < parts.requests.get(name, ZERO):
                        request = parts.where["requests", name][1]
                        self._problems.add(at, f"must be at least the request, which is {request}", text)
                for name, each in parts.work.items():
                    if self._book.role(name) is Role.COMPUTE:
                        self._book.wish(name, rate * each)
                        self._book.wish(name, parallel)
                    elif stated.work is not None and stated.work.residence is not None:
                        self._book.wish(name, rate * stated.work.residence * each)
        for name, (value, at, text) in largest.items():
            self._book.need(name, value, stated.count, text, at)
        if stated.slo is not None and stated.slo.p99 is not None and not stated.slo.p99:
            self._problems.add((*location, "slo", "p99"), "must be more than 0")
        self._check_response(stated, modes, location)

    def _check_response(self, stated: WorkloadDocument, modes: list[_ModeParts], location: Location) -> None:
        """Note a class whose response times are asked for and not defined (models/README.md, equation 13)."""
        if stated.slo is None or (stated.slo.p99 is None and not stated.slo.critical):
            return
        for mode in modes:
            for kind in sorted(self._topology.kinds) or [""]:
                work = mode.by_kind.get(kind, mode.default).work
                found = [name for name, each in work.items() if each > 0 and self._book.role(name) is Role.COMPUTE]
                if len(found) != 1:
                    what = f"several compute resources ({', '.join(found)})" if found else "no compute resource"
                    where = f" in mode {mode.name}" if len(modes) > 1 else ""
                    where += f" on nodes of kind {kind}" if mode.by_kind else ""
                    message = f"needs tasks that work on exactly one compute resource; they use {what}{where}"
                    self._problems.add((*location, "slo"), message)
                    return

    # ------------------------------------------------------------ references

    def _check_kind(self, kind: str, location: Location) -> None:
        if kind not in self._topology.kinds and not self._topology.is_empty:
            self._problems.add(location, did_you_mean(kind, self._topology.kinds, "kind of node"))

    def check_references(self, domains: Mapping[str, Any], nodes: Mapping[str, Any]) -> None:
        """Note costs and placements that refer to nothing. ``domains``, ``nodes``: their paths."""
        empty = self._topology.is_empty
        known = self._topology.kinds
        for index, stated in enumerate(self._entries):
            location: Location = ("workloads", index)
            for key in stated.cost:
                if not (key in nodes or key in known or key == "default" or empty):
                    message = did_you_mean(key, known, "node or kind of node")
                    self._problems.add((*location, "cost", key), message)
            placement = stated.placement
            if placement is None:
                continue
            at: Location = (*location, "placement")
            for number, path in enumerate(placement.within):
                if path not in domains and not empty:
                    message = did_you_mean(path, domains, "domain")
                    self._problems.add((*at, "within", number), message, path)
            if placement.gang is not None and stated.count % placement.gang.size:
                message = f"must divide the count of the class, which is {stated.count}"
                self._problems.add((*at, "gang", "size"), message, placement.gang.size)

    # ------------------------------------------------------------ entities

    def build(self) -> tuple[WorkloadClass, ...]:
        """Entities of the classes."""
        return tuple(
            self._class(index, stated, modes)
            for index, (stated, modes) in enumerate(zip(self._entries, self._modes, strict=True))
        )

    def _class(self, index: int, stated: WorkloadDocument, modes: list[_ModeParts]) -> WorkloadClass:
        work = stated.work
        return WorkloadClass(
            index,
            stated.class_,
            stated.count,
            group_of(stated),
            tuple(
                Mode(
                    mode.name,
                    self._whole(mode.default),
                    MappingProxyType({kind: self._whole(parts) for kind, parts in mode.by_kind.items()})
                    if mode.by_kind
                    else EMPTY,
                    mode.quality,
                )
                for mode in modes
            ),
            value=ONE if stated.value is None else stated.value,
            weight=ONE if stated.weight is None else stated.weight,
            rate=(work.rate if work else None) or ZERO,
            parallel=work.parallel if work and work.parallel is not None else ONE,
            residence=work.residence if work else None,
            slo=Slo(stated.slo.p99, stated.slo.critical) if stated.slo else _NO_SLO,
            cost=MappingProxyType(dict(stated.cost)) if stated.cost else EMPTY,
            move_cost=ONE if stated.move_cost is None else stated.move_cost,
            placement=_placement(stated),
        )

    def _whole(self, parts: _Parts) -> Demand:
        if not parts.limits and not parts.work:
            floor = self._book.floor
            return Demand(MappingProxyType({name: floor(name, value) for name, value in parts.requests.items()}))
        compute = {name: value for name, value in parts.work.items() if self._book.role(name) is Role.COMPUTE}
        memory = {name: value for name, value in parts.work.items() if name not in compute}
        book = self._book
        return Demand(
            MappingProxyType({name: book.floor(name, value) for name, value in parts.requests.items()}),
            MappingProxyType({name: book.ceiling(name, value) for name, value in parts.limits.items()}),
            Work(MappingProxyType(compute), MappingProxyType(memory)) if parts.work else Work(),
        )


_EMPTY: dict[Any, Any] = {}
_NOTHING = _Parts(_EMPTY, _EMPTY, _EMPTY, _EMPTY)
_NO_SLO = Slo()
_ANYWHERE = Placement()


def group_of(stated: WorkloadDocument) -> str:
    """Group of a class: the one it names, else its own name."""
    return stated.group or stated.class_


def _placement(stated: WorkloadDocument) -> Placement:
    placement = stated.placement
    if placement is None:
        return _ANYWHERE
    require = {
        label: (values,) if isinstance(values, str) else tuple(values) for label, values in placement.require.items()
    }
    gang = placement.gang
    return Placement(
        MappingProxyType(require),
        frozenset(placement.tolerations),
        frozenset(placement.capabilities),
        tuple(placement.within),
        None if gang is None else Gang(gang.size, gang.level),
    )
