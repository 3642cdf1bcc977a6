"""What is in an instance: domains, capacities against requests, classes, rules. Reads the instance alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from allocator.instance.entities import Instance
from allocator.plan.numbers import base_units, plain_number
from allocator.report.format import amount, count, percent
from allocator.report.offers import parallel_notes
from allocator.report.summary.section import Column, Section, Sheet, cut, render

__all__ = ["describe", "inventory_document"]


def describe(instance: Instance, *, width: int = 80, color: bool = False) -> str:
    """What the instance holds, as text."""
    builders = (_head, _topology, _resources, _workloads, _rules, _notes)
    found = [build(instance) for build in builders]
    return render([section for section in found if section is not None], width=width, color=color)


def inventory_document(instance: Instance) -> dict[str, Any]:
    """The same as plain data. ``requested`` counts the smallest floor of each class; base units."""
    return {
        "valid": True,
        "name": instance.name,
        "digest": instance.digest,
        "model": instance.model,
        "levels": dict(_levels(instance)),
        "nodes": len(instance.nodes),
        "members": instance.num_members,
        "classes": {workload.name: workload.count for workload in instance.workloads},
        "resources": {
            name: {"capacity": plain_number(capacity), "requested": plain_number(requested)}
            for name, (capacity, requested) in _totals(instance).items()
        },
        "notes": list(parallel_notes(instance)),
    }


def _head(instance: Instance) -> Section:
    parts = [
        count(len(instance.nodes), "node"),
        f"{count(instance.num_members, 'member')} of {count(len(instance.workloads), 'class', 'classes')}",
    ]
    model = f" Model: {instance.model}." if instance.model else ""
    return Section("", (f"{instance.name}: valid. {', '.join(parts)}.{model}",))


def _levels(instance: Instance) -> Counter[str]:
    return Counter(domain.level for domain in instance.domains[1:])


def _topology(instance: Instance) -> Section | None:
    levels = _levels(instance)
    if not levels:
        return None
    kinds = Counter(node.kind for node in instance.nodes)
    sentences = ["Levels: " + ", ".join(f"{number:,} {level}" for level, number in levels.items()) + "."]
    shown, more = cut(kinds.most_common())
    text = ", ".join(f"{number:,} {kind}" for kind, number in shown)
    sentences.append(f"Kinds of node: {text}" + (f" and {more:,} more." if more else "."))
    return Section("Topology", tuple(sentences))


def _totals(instance: Instance) -> dict[str, tuple[Fraction, Fraction]]:
    """Capacity of the topmost domains that state one, and the sum of the smallest floors, by resource; base units."""
    found: dict[str, tuple[Fraction, Fraction]] = {}
    for name, resource in instance.resources.items():
        requested = 0
        for workload in instance.workloads:
            demands = [demand for mode in workload.modes for demand in (mode.default, *mode.by_kind.values())]
            requested += workload.count * min(demand.requests.get(name, 0) for demand in demands)
        capacity, skip_to = 0, 0
        for domain in instance.domains:
            if domain.index >= skip_to and name in domain.capacity:
                capacity += domain.capacity[name]
                skip_to = domain.end_domain
        if capacity or requested:
            found[name] = (base_units(capacity, resource.exponent), base_units(requested, resource.exponent))
    return found


def _resources(instance: Instance) -> Section | None:
    totals = _totals(instance)
    if not totals:
        return None
    shown, more = cut(list(totals.items()), 12)
    rows = tuple(_resource_row(instance, name, *numbers) for name, numbers in shown)
    columns = (Column("resource"), Column("requested", right=True), Column("of", right=True), Column("", right=True))
    return Section("Resources", sheet=Sheet(columns, rows, more))


def _resource_row(instance: Instance, name: str, capacity: Fraction, requested: Fraction) -> tuple[str, str, str, str]:
    unit = instance.resources[name].unit
    if name == "power" and not requested and any(node.power is not None for node in instance.nodes):
        return name, "follows use", amount(capacity, unit), "-"
    part = percent(requested / capacity) if capacity else "-"
    return name, amount(requested, unit), amount(capacity, unit), part


def _workloads(instance: Instance) -> Section | None:
    if not instance.workloads:
        return None
    shown, more = cut(sorted(instance.workloads, key=lambda workload: -workload.count))
    rows = []
    for workload in shown:
        requests = workload.modes[0].default.requests
        asks = ", ".join(
            f"{name} {amount(base_units(value, instance.resources[name].exponent), instance.resources[name].unit)}"
            for name, value in requests.items()
            if value
        )
        modes = f"{len(workload.modes)} modes, " if len(workload.modes) > 1 else ""
        rows.append((workload.name, f"{workload.count:,}", f"{modes}{asks or 'nothing'}"))
    columns = (Column("class"), Column("members", right=True), Column("one member asks for"))
    return Section("Workloads", sheet=Sheet(columns, tuple(rows), more))


def _rules(instance: Instance) -> Section | None:
    teams = sum(team.count for team in instance.teams)
    counts = (
        (teams, "team", None),
        (len(instance.flows), "flow entry", "flow entries"),
        (len(instance.conflicts), "conflict", None),
        (len(instance.spreads), "spread", None),
        (len(instance.dependencies), "dependency", "dependencies"),
        (len(instance.reserves), "reserve", None),
        (len(instance.balance), "balance triple", None),
        (int(instance.link_load is not None), "limit on the load of links", None),
    )
    parts = [count(number, noun, plural) for number, noun, plural in counts if number]
    gangs = sum(1 for workload in instance.workloads if workload.placement.gang is not None)
    if gangs:
        parts.append(count(gangs, "class in gangs", "classes in gangs"))
    if instance.current is not None:
        parts.append(f"a current placement of {count(sum(group.count for group in instance.current), 'member')}")
    return Section("Further", (", ".join(parts) + ".",)) if parts else None


def _notes(instance: Instance) -> Section | None:
    """What an author may not have meant."""
    shown, more = cut(parallel_notes(instance), 5)
    sentences = tuple(f"- {text}" for text in shown) + ((f"... and {more:,} more",) if more else ())
    return Section("To note", sentences) if sentences else None
