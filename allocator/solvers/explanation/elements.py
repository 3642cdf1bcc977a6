"""The constraints of an instance as elements that can be switched off one by one, in the words of the instance.

Owns the list of elements and what they are called. Knows neither how one is switched off nor any solver.

An element is plain data: ``family`` and what identifies one whole constraint of it. ``assignment``: class.
``eligibility``: class with label, taint, capability or within. ``capacity``, ``power``, ``pool``: domain (and
resource); a node without a stated capacity of a resource that somebody asks for has a capacity of 0. ``conflict``,
``spread``, ``dependency``: the rule's fields. ``gang``: class. ``move_limit``: limit (members or bytes). ``reserve``:
level and resources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from allocator.instance.entities import Domain, Instance, Reserve, Role, WorkloadClass

__all__ = ["DOMAIN_FAMILIES", "POWER", "Element", "Key", "elements_of", "key_of", "pooled_resources", "reserve_element"]

Element = Mapping[str, Any]
Key = tuple[tuple[str, Any], ...]

POWER = "power"
DOMAIN_FAMILIES = ("capacity", "power", "pool")


def key_of(element: Element) -> Key:
    """What identifies an element: everything but its sentence, in a form that can be compared and hashed."""
    return tuple(
        sorted(
            (name, tuple(value) if isinstance(value, list) else value)
            for name, value in element.items()
            if name != "text"
        )
    )


def elements_of(instance: Instance) -> tuple[Element, ...]:
    """Every element of an instance. Classes without members, or of value 0 in a question, need no place."""
    return (
        *({"family": "assignment", "class": w.name} for w in instance.workloads if w.count and w.value),
        *_rules(instance),
        *_eligibility(instance),
        *_limits(instance),
    )


def _rules(instance: Instance) -> Iterator[Element]:
    if instance.moves is not None:
        if instance.moves.limit_members is not None:
            yield {"family": "move_limit", "limit": "members", "at_most": instance.moves.limit_members}
        if instance.moves.limit_bytes is not None:
            yield {"family": "move_limit", "limit": "bytes", "at_most": instance.moves.limit_bytes}
    for reserve in dict.fromkeys(instance.reserves):
        yield reserve_element(instance, reserve)
    for spread in dict.fromkeys(instance.spreads):
        yield {"family": "spread", "group": spread.group, "level": spread.level, "at_least": spread.at_least}
    for rule in dict.fromkeys(instance.dependencies):
        yield {"family": "dependency", "group": rule.group, "on": rule.on, "level": rule.level}
    for conflict in dict.fromkeys(instance.conflicts):
        yield {"family": "conflict", "group": conflict.group, "level": conflict.level, "at_most": conflict.at_most}
    for workload in instance.workloads:
        gang = workload.placement.gang
        if gang is not None and workload.count:
            yield {"family": "gang", "class": workload.name, "size": gang.size, "level": gang.level}


def reserve_element(instance: Instance, rule: Reserve) -> Element:
    """Element of a rule, its resources named: by default those that nodes state a capacity of."""
    names = rule.resources or tuple(
        name for name in instance.resources if any(name in node.capacity for node in instance.nodes)
    )
    return {"family": "reserve", "level": rule.level, "resources": list(names)}


def _eligibility(instance: Instance) -> Iterator[Element]:
    taints = sorted({taint for node in instance.nodes for taint in node.taints})
    for workload in instance.workloads:
        if not workload.count:
            continue
        rules = workload.placement
        start = {"family": "eligibility", "class": workload.name}
        yield from ({**start, "label": label} for label in rules.require)
        yield from ({**start, "taint": taint} for taint in taints if taint not in rules.tolerations)
        yield from ({**start, "capability": name} for name in sorted(rules.capabilities))
        if rules.within:
            yield {**start, "within": list(rules.within)}


def _limits(instance: Instance) -> Iterator[Element]:
    asked = _asked(instance)
    pooled = pooled_resources(instance)
    order = list(instance.resources)
    for name in order:
        family = "power" if name == POWER else "capacity"
        reached: set[int] = set()  # domains with a statement of the resource at or above them
        for domain in instance.domains:
            own = name in domain.capacity
            if own or name in domain.pool or domain.parent in reached:
                reached.add(domain.index)
            implicit = domain.is_node and domain.index not in reached and (str(domain.kind), name) in asked
            if not own and not implicit:
                continue
            if (domain.is_node and name in pooled[domain.index]) or _drives_power_of_another(instance, domain, name):
                continue
            what = {"family": family, "domain": domain.path}
            yield what if family == "power" else {**what, "resource": name}
        for domain in instance.domains:
            if name in domain.pool:
                yield {"family": "pool", "domain": domain.path, "resource": name}


def _asked(instance: Instance) -> set[tuple[str, str]]:
    """(kind, resource) that a member of some class asks for."""
    kinds = sorted({str(node.kind) for node in instance.nodes})
    return {
        (kind, name)
        for workload in instance.workloads
        if workload.count
        for kind in kinds
        for name in _floors(workload, kind)
    }


def _floors(workload: WorkloadClass, kind: str) -> set[str]:
    return {name for mode in workload.modes for name, amount in mode.demand(kind).requests.items() if amount}


def pooled_resources(instance: Instance) -> tuple[frozenset[str], ...]:
    """By domain: the resources of which a pool stands at or above it, so that a node's own capacity is no limit."""
    found: list[frozenset[str]] = []
    for domain in instance.domains:
        above = frozenset() if domain.parent is None else found[domain.parent]
        found.append(above | frozenset(domain.pool))
    return tuple(found)


def _drives_power_of_another(instance: Instance, domain: Domain, resource: str) -> bool:
    """Whether a capacity above 0 would change which compute resource drives the node's power draw (equation 12).

    Such a capacity cannot be switched off without changing what the power caps mean; it always stays.
    """
    if domain.power is None or instance.resources[resource].role is not Role.COMPUTE:
        return False
    if domain.capacity.get(resource, 0) > 0:
        return False
    return any(
        entity.role is Role.COMPUTE and domain.capacity.get(name, 0) > 0 for name, entity in instance.resources.items()
    )
