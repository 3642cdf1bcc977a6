"""Feasibility questions: which members must be placed, under which constraints. Owns how a constraint is switched off.

A *question* is an instance stripped to what decides feasibility, in which ``value`` says who must be placed: 1 a class
whose every member needs a place, 0 a class that may stay out in part. A plan answers it when it satisfies every
constraint with every member of value 1 placed; so any method decides it by the goal ``placed``. Switching an element
off only ever admits more plans. Traffic never decides feasibility (a flow may be granted nothing), so flows are left
out, and teams too where everybody must be placed anyway.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from allocator.instance.entities import Domain, Instance, MoveCosts, Placement, Power, Role
from allocator.model.entities import Model
from allocator.model.families import Family
from allocator.plan.numbers import base_units
from allocator.solvers.explanation.elements import (
    DOMAIN_FAMILIES,
    POWER,
    Element,
    Key,
    elements_of,
    key_of,
    reserve_element,
)

__all__ = ["alone", "question", "switched_off", "without"]


def question(instance: Instance, model: Model) -> Instance:
    """The question whether the instance has a plan under the model. What the model ignores is gone."""
    ignored = model.ignore
    value = Fraction(0 if model.may_leave_out else 1)
    workloads = []
    for workload in instance.workloads:
        rules = Placement(gang=workload.placement.gang) if Family.ELIGIBILITY in ignored else workload.placement
        if Family.GANG in ignored:
            rules = replace(rules, gang=None)
        workloads.append(replace(workload, value=value, placement=rules))
    domains = instance.domains
    if Family.POOL in ignored:
        domains = tuple(replace(domain, pool={}) for domain in domains)
    reserves = (
        replace(rule, resources=tuple(reserve_element(instance, rule)["resources"])) for rule in instance.reserves
    )
    return replace(
        instance,
        workloads=tuple(workloads),
        domains=domains,
        flows=(),
        teams=instance.teams if model.may_leave_out else (),
        conflicts=() if Family.CONFLICT in ignored else instance.conflicts,
        spreads=() if Family.SPREAD in ignored else instance.spreads,
        dependencies=() if Family.DEPENDENCY in ignored else instance.dependencies,
        reserves=() if Family.RESERVE in ignored else tuple(rule for rule in reserves if rule.resources),
        moves=None if Family.MOVE_LIMIT in ignored else instance.moves,
    )


def without(instance: Instance, element: Element) -> Instance:
    """The question with one constraint switched off; without ``assignment`` of a class, its members may stay out."""
    return switched_off(instance, [element])


def alone(instance: Instance, elements: Iterable[Element]) -> Instance:
    """The question with only these constraints active."""
    kept = {key_of(element) for element in elements}
    return switched_off(instance, [element for element in elements_of(instance) if key_of(element) not in kept])


def switched_off(instance: Instance, elements: Iterable[Element]) -> Instance:
    """The question without all these constraints."""
    off: dict[str, list[Element]] = {}
    for element in elements:
        off.setdefault(element["family"], []).append(element)
    changed = replace(instance, **_rules(instance, off), moves=_moves(instance, off.get("move_limit", [])))
    if "assignment" in off or "eligibility" in off or "gang" in off:
        changed = _classes(changed, off)
    if any(family in off for family in DOMAIN_FAMILIES):
        changed = replace(changed, domains=_domains(instance, off))
    return changed


def _rules(instance: Instance, off: Mapping[str, list[Element]]) -> dict[str, Any]:
    gone = {family: {key_of(element) for element in elements} for family, elements in off.items()}

    def kept(family: str, entries: Iterable[Any], names: tuple[str, ...]) -> tuple[Any, ...]:
        lost: set[Key] = gone.get(family, set())
        return tuple(
            entry
            for entry in entries
            if key_of({"family": family, **{name: getattr(entry, name) for name in names}}) not in lost
        )

    return {
        "conflicts": kept("conflict", instance.conflicts, ("group", "level", "at_most")),
        "spreads": kept("spread", instance.spreads, ("group", "level", "at_least")),
        "dependencies": kept("dependency", instance.dependencies, ("group", "on", "level")),
        "reserves": tuple(
            rule
            for rule in instance.reserves
            if key_of(reserve_element(instance, rule)) not in gone.get("reserve", set())
        ),
    }


def _moves(instance: Instance, off: list[Element]) -> MoveCosts | None:
    moves, lifted = instance.moves, {element["limit"] for element in off}
    if moves is not None and "members" in lifted:
        moves = replace(moves, limit_members=None)
    if moves is not None and "bytes" in lifted:
        moves = replace(moves, limit_bytes=None)
    return moves


def _classes(instance: Instance, off: Mapping[str, list[Element]]) -> Instance:
    optional = {element["class"] for element in off.get("assignment", [])}
    loose = {element["class"] for element in off.get("gang", [])}
    lifted: dict[str, list[Element]] = {}
    for element in off.get("eligibility", []):
        lifted.setdefault(element["class"], []).append(element)
    workloads = []
    for workload in instance.workloads:
        rules = workload.placement
        for element in lifted.get(workload.name, []):
            rules = _eased(rules, element)
        if workload.name in loose:
            rules = replace(rules, gang=None)
        value = Fraction(0) if workload.name in optional else workload.value
        workloads.append(replace(workload, placement=rules, value=value))
    return replace(instance, workloads=tuple(workloads))


def _eased(rules: Placement, element: Element) -> Placement:
    if "label" in element:
        return replace(rules, require={k: v for k, v in rules.require.items() if k != element["label"]})
    if "taint" in element:
        return replace(rules, tolerations=rules.tolerations | {element["taint"]})
    if "capability" in element:
        return replace(rules, capabilities=rules.capabilities - {element["capability"]})
    return replace(rules, within=())


def _domains(instance: Instance, off: Mapping[str, list[Element]]) -> tuple[Domain, ...]:
    """A capacity is switched off by making it more than everybody together could use."""
    more: dict[str, dict[str, list[str]]] = {}
    for family in DOMAIN_FAMILIES:
        for element in off.get(family, []):
            fields = more.setdefault(element["domain"], {"capacity": [], "pool": []})
            fields["pool" if family == "pool" else "capacity"].append(element.get("resource", POWER))
    enough = _Enough(instance)
    domains = []
    for domain in instance.domains:
        if domain.path not in more:
            domains.append(domain)
            continue
        raised = {name: enough.of(name) for name in more[domain.path]["capacity"]}
        pool = {name: enough.of(name) for name in more[domain.path]["pool"]}
        power = _same_draw(instance, domain, raised)
        domains.append(
            replace(domain, capacity={**domain.capacity, **raised}, pool={**domain.pool, **pool}, power=power)
        )
    return tuple(domains)


def _same_draw(instance: Instance, domain: Domain, raised: Mapping[str, int]) -> Power | None:
    """Power of a node whose watts stay what they were although its compute capacity is raised (equation 12)."""
    power = domain.power
    if power is None:
        return None
    for name, resource in instance.resources.items():
        if resource.role is Role.COMPUTE and domain.capacity.get(name, 0) > 0:
            factor = Fraction(raised.get(name, domain.capacity[name]), domain.capacity[name])
            return Power(power.idle, power.idle + (power.busy - power.idle) * factor)
    return Power(power.idle, power.idle)


class _Enough:
    """Amounts that no plan can use up: every member at its largest floor, twice (a move may hold both places)."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._found: dict[str, int] = {}

    def of(self, resource: str) -> int:
        """Enough of a resource."""
        if resource not in self._found:
            most = max((domain.capacity.get(resource, 0) for domain in self._instance.domains), default=0)
            self._found[resource] = 2 * self._demand(resource) + most + 1 + self._draw(resource)
        return self._found[resource]

    def _demand(self, resource: str) -> int:
        return sum(
            workload.count
            * max(
                demand.requests.get(resource, 0)
                for mode in workload.modes
                for demand in (mode.default, *mode.by_kind.values())
            )
            for workload in self._instance.workloads
        )

    def _draw(self, resource: str) -> int:
        if resource != POWER or POWER not in self._instance.resources:
            return 0
        compute = [name for name, entity in self._instance.resources.items() if entity.role is Role.COMPUTE]
        watts = Fraction(0)
        for node in self._instance.nodes:
            if node.power is None:
                continue
            watts += max(node.power.idle, node.power.busy)
            driver = next((name for name in compute if node.capacity.get(name, 0) > 0), None)
            if driver is not None:
                slope = abs(node.power.busy - node.power.idle) / node.capacity[driver]
                watts += slope * self._demand(driver)
        return math.ceil(watts / base_units(1, self._instance.resources[POWER].exponent))
