"""Which elements stand for one another: limits of domains that a symmetry of the topology maps onto each other.

Two domains are interchangeable when everything that decides feasibility is the same below them and along their
ancestors; then either limit can be dropped from a conflict or neither. Owns the comparison; knows no solver.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from allocator.instance.entities import Domain, Instance
from allocator.solvers.explanation.elements import DOMAIN_FAMILIES, Element, Key, key_of

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
        for element in active:
            if element["family"] in DOMAIN_FAMILIES:
                anonymous = {name: value for name, value in element.items() if name != "domain"}
                on_domain.setdefault(element["domain"], []).append(key_of(anonymous))
        named = _named(instance)
        own = [
            self._number(
                (
                    _attributes(domain),
                    tuple(sorted(on_domain.get(domain.path, []))),
                    domain.path in named and domain.path,
                )
            )
            for domain in instance.domains
        ]
        below = list(own)
        for domain in reversed(instance.domains):
            below[domain.index] = self._number((own[domain.index], tuple(sorted(below[c] for c in domain.children))))
        self._orbit: dict[str, int] = {}
        orbits: list[int] = []
        for domain in instance.domains:
            above = -1 if domain.parent is None else orbits[domain.parent]
            orbits.append(self._number((above, below[domain.index])))
            self._orbit[domain.path] = orbits[-1]

    def of(self, element: Element) -> Hashable:
        if element["family"] not in DOMAIN_FAMILIES:
            return key_of(element)
        return (element["family"], element.get("resource"), self._orbit[element["domain"]])

    def _number(self, signature: Hashable) -> int:
        return self._numbers.setdefault(signature, len(self._numbers))


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
