"""Reasons by arithmetic: sentences that each prove, by counting alone, that a question has no plan.

Owns the counting; every sentence holds for every plan. Packing needs a solver and is left to the conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.instance.entities import Instance
from allocator.instance.zones import Zone
from allocator.solvers.bounds.room import Aggregate, aggregates, least_floor, usable_nodes
from allocator.solvers.explanation.elements import POWER, Element, elements_of
from allocator.solvers.explanation.obstacles import obstacle
from allocator.solvers.explanation.words import amounts_text, listed, members_text, ordinal, short_of

__all__ = ["Reason", "reasons_of"]


MOST_STUCK = 10  # classes that can stand nowhere and are spoken of one by one


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence, and constraints of the question among which a conflict must lie."""

    text: str
    elements: tuple[Element, ...]
    about: frozenset[str] = frozenset()  # families that the sentence speaks of, besides assignment


def reasons_of(compiled: Compiled) -> list[Reason]:
    """Reasons why a question has no plan; empty when counting finds none. The most particular come first."""
    instance = compiled.instance
    found: list[Reason] = []
    stuck: set[str] = set()
    everything = elements_of(instance)
    for workload in instance.workloads:
        if not workload.count or not workload.value:
            continue
        if usable_nodes(compiled, workload.index).any():
            continue
        stuck.add(workload.name)
        trouble = obstacle(compiled, workload.index) if len(stuck) <= MOST_STUCK else None
        if trouble is not None:
            own = trouble.elements or _of_class(everything, workload.name)
            placed: Element = {"family": "assignment", "class": workload.name}
            found.append(Reason(f"class {workload.name}: {trouble.text}.", (placed, *own)))
    if len(stuck) > MOST_STUCK:
        found.append(Reason(f"{len(stuck) - MOST_STUCK:,} more classes can stand on no node.", everything))
    found += _totals(compiled, everything)
    found += _groups(compiled, everything, stuck)
    found += _gangs(compiled, everything)
    return found


def _of_class(everything: tuple[Element, ...], name: str) -> tuple[Element, ...]:
    """Rules of a class, and all limits of domains."""
    return tuple(
        e
        for e in everything
        if (e.get("class") == name and e["family"] == "eligibility") or e["family"] in {"capacity", "power", "pool"}
    )


def _mandatory(instance: Instance) -> list[int]:
    return [workload.count if workload.value else 0 for workload in instance.workloads]


def _totals(compiled: Compiled, everything: tuple[Element, ...]) -> Iterator[Reason]:
    """Sums that do not fit: one sentence for each set of classes, all short resources in it."""
    instance = compiled.instance
    sets: dict[tuple[tuple[int, ...], bytes], list[Aggregate]] = {}
    for total in aggregates(compiled, _mandatory(instance)):
        if total.short > 0:
            sets.setdefault((total.workloads, total.nodes.tobytes()), []).append(total)
    said: list[tuple[set[int], set[int]]] = []
    for (workloads, _), totals in sorted(sets.items(), key=lambda entry: len(entry[0][0])):
        what = set(workloads), {total.resource for total in totals}
        if any(fewer <= what[0] and what[1] <= same for fewer, same in said):
            continue  # some of these classes alone are short of the same
        said.append(what)
        names = [compiled.instance.workloads[w].name for w in workloads]
        first = totals[0]
        resources = [compiled.resources[total.resource] for total in totals]
        asks = amounts_text(instance, {r: t.demand for r, t in zip(resources, totals, strict=True)})
        holds = amounts_text(instance, {r: t.room for r, t in zip(resources, totals, strict=True)})
        short = short_of(instance, {r: t.short for r, t in zip(resources, totals, strict=True)})
        number = int(np.count_nonzero(first.nodes))
        where = f"the {number:,} nodes they can use have" if number > 1 else "the one node they can use has"
        who = listed(members_text(instance.workloads[w].count, instance.workloads[w].name) for w in workloads)
        text = f"{who} ask for at least {asks}; {where} {holds}: {short}"
        if len(workloads) == 1:
            fit = min(t.room // (least_floor(compiled, workloads[0], t.resource) or 1) for t in totals)
            text += f", from the {ordinal(fit + 1)} member on"
        elements = tuple(
            e
            for e in everything
            if (e.get("class") in names and e["family"] in {"assignment", "eligibility"})
            or (e["family"] in {"capacity", "pool", "power"} and e.get("resource", POWER) == resources[0])
        )
        yield Reason(f"{text[0].upper()}{text[1:]}.", elements)


def _groups(compiled: Compiled, everything: tuple[Element, ...], stuck: set[str]) -> Iterator[Reason]:
    """Conflicts and spreads that ask for more domains than a group can reach; dependencies on what cannot stand."""
    instance = compiled.instance
    for rule in instance.conflicts:
        reach = _reach(compiled, rule.group, rule.level, stuck)
        members = _members(instance, rule.group)
        if reach is not None and members > rule.at_most * len(reach):
            text = (
                f"group {rule.group}: at most {rule.at_most} of its members may stand in one {rule.level}, and they "
                f"can reach {len(reach)}: {members - rule.at_most * len(reach)} of {members:,} have no place."
            )
            yield Reason(text, _about(instance, everything, rule.group, {"conflict"}), frozenset({"conflict"}))
    for spread in instance.spreads:
        reach = _reach(compiled, spread.group, spread.level, stuck)
        needed = min(spread.at_least, _members(instance, spread.group))
        if reach is not None and len(reach) < needed:
            level = spread.level
            text = f"group {spread.group}: it must cover {needed} domains of level {level} and can reach {len(reach)}."
            yield Reason(text, _about(instance, everything, spread.group, {"spread"}), frozenset({"spread"}))
    for depends in instance.dependencies:
        reach = _reach(compiled, depends.group, depends.level, stuck)
        if not reach or not _members(instance, depends.group):
            continue
        others = [w.index for w in instance.workloads if w.group == depends.on and w.count]
        usable = [usable_nodes(compiled, w) for w in others]
        if not any(nodes[list(zone.nodes)].any() for nodes in usable for zone in reach):
            text = (
                f"group {depends.group} depends on {depends.on} in its {depends.level}, and no member of {depends.on} "
                f"can stand in any {depends.level} that {depends.group} can reach."
            )
            yield Reason(text, everything, frozenset({"dependency"}))


def _members(instance: Instance, group: str) -> int:
    return sum(w.count for w in instance.workloads if w.group == group and w.value)


def _reach(compiled: Compiled, group: str, level: str, stuck: set[str]) -> list[Zone] | None:
    """Zones of a level that members who must be placed can use; None when one can stand outside of the level.

    None, too, when a class of the group can stand nowhere: that is said already.
    """
    instance = compiled.instance
    classes = [w for w in instance.workloads if w.group == group and w.count and w.value]
    if not classes or any(w.name in stuck for w in classes):
        return None
    usable = np.logical_or.reduce([usable_nodes(compiled, w.index) for w in classes])
    reach = [zone for zone in instance.zones_of(level) if usable[list(zone.nodes)].any()]
    outside = usable.copy()
    for zone in reach:
        outside[list(zone.nodes)] = False
    return None if outside.any() else reach


def _about(instance: Instance, everything: tuple[Element, ...], group: str, families: set[str]) -> tuple[Element, ...]:
    """Elements of a group: its classes, its rules of these families, and what limits where it can stand."""
    names = {w.name for w in instance.workloads if w.group == group}
    return tuple(
        e
        for e in everything
        if (e["family"] in families and e.get("group") == group)
        or (e["family"] in {"assignment", "eligibility"} and e["class"] in names)
        or e["family"] in {"capacity", "pool", "power"}
    )


def _gangs(compiled: Compiled, everything: tuple[Element, ...]) -> Iterator[Reason]:
    instance = compiled.instance
    for workload in instance.workloads:
        gang = workload.placement.gang
        if gang is None or not workload.count or not workload.value:
            continue
        elements = tuple(
            e for e in everything if e.get("class") == workload.name or e["family"] in {"capacity", "pool", "power"}
        )
        left = workload.count % gang.size
        if left:
            whole = f"{workload.count:,} members are no whole number of gangs of {gang.size}"
            text = f"class {workload.name}: {whole}: {left} left over."
            yield Reason(text, elements, frozenset({"gang"}))
        domains = instance.domains_of(gang.level)
        usable = usable_nodes(compiled, workload.index)
        sizes = [int(np.count_nonzero(usable[d.first_node : d.end_node])) for d in domains]
        largest = max(sizes, default=0)
        if usable.any() and largest < gang.size:
            where = f"the largest {gang.level} has {largest}" if domains else f"there is no {gang.level}"
            text = (
                f"class {workload.name}: a gang needs {gang.size} nodes of one {gang.level} that it can use; {where}."
            )
            yield Reason(text, elements, frozenset({"gang"}))
