"""Which elements stand for one another: a symmetry of the topology, or of equal classes, maps them onto each other.

Two domains are interchangeable when everything that decides feasibility is the same below them and along their
ancestors, two classes when their members are; then either element can be dropped from a conflict or neither. Owns the
comparison; knows no solver.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from allocator.instance.entities import Domain, Instance
from allocator.solvers.explanation.elements import DOMAIN_FAMILIES, Element, Key, key_of
from allocator.solvers.explanation.oracle import equal_classes

__all__ = ["interchangeable"]

NAMING_LABELS = ("name", "path")


def interchangeable(instance: Instance, active: Iterable[Element], elements: Sequence[Element]) -> list[list[Element]]:
    """Split elements, all of them active, into sets whose members a symmetry of the active constraints exchanges."""
    sides = _Signatures(instance, active)
    found: dict[Hashable, list[Element]] = {}
    for element in elements:
        found.setdefault(sides.of(element), []).append(element)
    return list(found.values())


class _Signatures:
    """Number of the orbit of each domain: its own signature after those of its ancestors."""

    def __init__(self, instance: Instance, active: Iterable[Element]) -> None:
        self._numbers: dict[Hashable, int] = {}
        on_domain: dict[str, list[Key]] = {}
        on_class: dict[str, list[Key]] = {}
        for element in active:
            if "class" in element:
                on_class.setdefault(element["class"], []).append(_without(element, "class"))
            if element["family"] in DOMAIN_FAMILIES:
                on_domain.setdefault(element["domain"], []).append(_without(element, "domain"))
        named = _named(instance)
        own = [
            self._number(
                (
                    _attributes(domain),
                    tuple(sorted(on_domain.get(domain.path, []), key=repr)),
                    domain.path in named and domain.path,
                )
            )
            for domain in instance.domains
        ]
        below = list(own)
        for domain in reversed(instance.domains):
            below[domain.index] = self._number((own[domain.index], tuple(sorted(below[c] for c in domain.children))))
        counts = {workload.name: workload.count for workload in instance.workloads}
        self._class: dict[str, int] = {}
        for alike in equal_classes(instance):
            for name in alike:
                own_rules = tuple(sorted(on_class.get(name, []), key=repr))
                self._class[name] = self._number(("class", alike[0], counts[name], own_rules))
        self._orbit: dict[str, int] = {}
        orbits: list[int] = []
        for domain in instance.domains:
            above = -1 if domain.parent is None else orbits[domain.parent]
            orbits.append(self._number((above, below[domain.index])))
            self._orbit[domain.path] = orbits[-1]

    def of(self, element: Element) -> Hashable:
        if element.get("class") in self._class:
            return (self._class[element["class"]], _without(element, "class"))
        if element["family"] not in DOMAIN_FAMILIES:
            return key_of(element)
        return (element["family"], element.get("resource"), self._orbit[element["domain"]])

    def _number(self, signature: Hashable) -> int:
        return self._numbers.setdefault(signature, len(self._numbers))


def _without(element: Element, name: str) -> Key:
    return key_of({key: value for key, value in element.items() if key != name})


def _attributes(domain: Domain) -> Hashable:
    power = None if domain.power is None else (domain.power.idle, domain.power.busy)
    return (
        domain.level,
        domain.kind,
        tuple(sorted(domain.labels.items())),
        tuple(sorted(domain.taints)),
        tuple(sorted(domain.capabilities)),
        tuple(sorted(domain.capacity.items())),
        tuple(sorted(domain.pool.items())),
        power,
    )


def _named(instance: Instance) -> frozenset[str]:
    """Paths of domains that something singles out."""
    named = {entry.node for entry in instance.current or ()}
    for workload in instance.workloads:
        named.update(workload.placement.within)
        if any(label in workload.placement.require for label in NAMING_LABELS):
            named.update(node.path for node in instance.nodes)
    return frozenset(named)
