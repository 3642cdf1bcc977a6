"""Applies a relaxation to an instance. Owns the meaning of every change as data.

A change has a ``family``, what identifies the constraint, and one of: ``add`` (in base units, exact) for
``capacity``, ``power`` and ``pool``; ``leave_out`` (members) for ``assignment``, the last ones of the class unless
``members`` lists [first, count] ranges; ``at_most`` for ``conflict``, ``at_least`` for ``spread``; ``members`` or
``bytes`` for ``move_limit``; ``accept`` (a value) for a label; ``drop`` for a rule as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from allocator.instance.entities import CurrentPlacement, Domain, Flow, Instance, Team, WorkloadClass
from allocator.plan.numbers import base_units
from allocator.solvers.explanation.asking import switched_off
from allocator.solvers.explanation.elements import POWER

__all__ = ["Change", "relaxed"]

Change = Mapping[str, Any]
Renumbering = Mapping[str, Sequence[int]]  # class -> members that stay, in order


def relaxed(instance: Instance, relaxation: Iterable[Change]) -> Instance:
    """The instance with every change of a relaxation made. Works on instances and on questions."""
    leaving: dict[str, set[int]] = {}
    for change in relaxation:
        if change["family"] == "assignment":
            leaving.setdefault(change["class"], set()).update(_left_out(instance, change))
        elif change.get("drop"):
            instance = switched_off(instance, [{k: v for k, v in change.items() if k != "drop"}])
        else:
            instance = _CHANGES[change["family"]](instance, change)
    return _leave_out(instance, leaving) if leaving else instance


def _left_out(instance: Instance, change: Change) -> set[int]:
    if "members" in change:
        return {number for first, count in change["members"] for number in range(first, first + count)}
    count = instance.workload_by_name[change["class"]].count
    return set(range(count - change["leave_out"], count))


def _capacity(instance: Instance, change: Change) -> Instance:
    resource = change.get("resource", POWER)
    amount = math.ceil(Fraction(change["add"]) / base_units(1, instance.resources[resource].exponent))

    def more(domain: Domain) -> Domain:
        if domain.path != change["domain"]:
            return domain
        if change["family"] == "pool":
            return replace(domain, pool={**domain.pool, resource: domain.pool.get(resource, 0) + amount})
        return replace(domain, capacity={**domain.capacity, resource: domain.capacity.get(resource, 0) + amount})

    return replace(instance, domains=tuple(more(domain) for domain in instance.domains))


def _conflict(instance: Instance, change: Change) -> Instance:
    same = change["group"], change["level"]
    rules = tuple(
        replace(rule, at_most=max(rule.at_most, change["at_most"])) if (rule.group, rule.level) == same else rule
        for rule in instance.conflicts
    )
    return replace(instance, conflicts=rules)


def _spread(instance: Instance, change: Change) -> Instance:
    same = change["group"], change["level"]
    rules = tuple(
        replace(rule, at_least=min(rule.at_least, change["at_least"])) if (rule.group, rule.level) == same else rule
        for rule in instance.spreads
    )
    return replace(instance, spreads=rules)


def _move_limit(instance: Instance, change: Change) -> Instance:
    if instance.moves is None:
        return instance
    limits = {f"limit_{name}": change[name] for name in ("members", "bytes") if name in change}
    return replace(instance, moves=replace(instance.moves, **limits))


def _eligibility(instance: Instance, change: Change) -> Instance:
    def eased(workload: WorkloadClass) -> WorkloadClass:
        if workload.name != change["class"]:
            return workload
        require = dict(workload.placement.require)
        require[change["label"]] = (*require[change["label"]], change["accept"])
        return replace(workload, placement=replace(workload.placement, require=require))

    return replace(instance, workloads=tuple(eased(workload) for workload in instance.workloads))


_CHANGES = {
    "capacity": _capacity,
    "power": _capacity,
    "pool": _capacity,
    "conflict": _conflict,
    "spread": _spread,
    "move_limit": _move_limit,
    "eligibility": _eligibility,
}


def _leave_out(instance: Instance, leaving: Mapping[str, set[int]]) -> Instance:
    """Fewer members, numbered anew; teams and flows of a member that is gone go with it."""
    stays: dict[str, list[int]] = {
        name: [number for number in range(instance.workload_by_name[name].count) if number not in gone]
        for name, gone in leaving.items()
    }
    workloads = tuple(
        replace(workload, count=len(stays[workload.name])) if workload.name in stays else workload
        for workload in instance.workloads
    )
    return replace(
        instance,
        workloads=workloads,
        teams=tuple(part for team in instance.teams for part in _teams(team, stays)),
        flows=tuple(_flow(flow, stays) for flow in instance.flows),
        current=None if instance.current is None else tuple(_current(instance.current, stays)),
    )


def _teams(team: Team, stays: Renumbering) -> Iterable[Team]:
    """Whole teams that remain, as one entry for each run of teams whose members stay consecutive."""
    new = {name: {old: number for number, old in enumerate(kept)} for name, kept in stays.items()}
    runs: list[tuple[dict[str, int], int]] = []  # offsets, number of teams
    for number in range(team.count):
        offsets: dict[str, int | None] = {}
        for name, size in team.members.items():
            first = team.offsets[name] + number * size
            places = [new[name].get(m) for m in range(first, first + size)] if name in new else [first]
            if None in places:
                break
            offsets[name] = places[0] if places else first
        else:
            whole = {name: place for name, place in offsets.items() if place is not None}
            if runs and all(whole[n] == runs[-1][0][n] + runs[-1][1] * size for n, size in team.members.items()):
                runs[-1] = runs[-1][0], runs[-1][1] + 1
            else:
                runs.append((whole, 1))
    for index, (start, count) in enumerate(runs):
        yield replace(team, name=team.name if index == 0 else f"{team.name}+{index}", count=count, offsets=start)


def _flow(flow: Flow, stays: Renumbering) -> Flow:
    if flow.pattern != "pairs":
        return flow
    pairs = []
    source = {old: number for number, old in enumerate(stays[flow.source])} if flow.source in stays else None
    target = {old: number for number, old in enumerate(stays[flow.target])} if flow.target in stays else None
    for i, j, rate in flow.pairs:
        here, there = (i if source is None else source.get(i)), (j if target is None else target.get(j))
        if here is not None and there is not None:
            pairs.append((here, there, rate))
    return replace(flow, pairs=tuple(pairs))


def _current(current: Iterable[CurrentPlacement], stays: Renumbering) -> Iterable[CurrentPlacement]:
    for entry in current:
        if entry.workload not in stays:
            yield entry
            continue
        kept = stays[entry.workload]
        inside = [number for number, old in enumerate(kept) if entry.first <= old < entry.first + entry.count]
        if inside:  # the order is kept, so what remains of a range is a range
            yield replace(entry, first=inside[0], count=len(inside))
