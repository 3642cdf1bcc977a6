"""Who may stand where in the relaxation: parts of classes, their options and groups of nodes, and what they need there.

A part is the members of a class that are alike for every bound: in teams of one composition, or in none. A cell is a
part in one mode on one group of nodes. Owns the needs of a member, response times included (models/README.md, equations
3, 6, 13). Knows no linear program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.instance.entities import Demand, WorkloadClass
from allocator.model.families import Family, GoalId
from allocator.solvers.bounds.orbits import Orbits

__all__ = ["LN_100_BELOW", "Cell", "Part", "TeamType", "cells_of", "parts_of", "response_work", "team_types"]

LN_100_BELOW = Fraction(4605170185988091368035982909368728415202, 10**39)
"""ln 100 to 40 digits, rounded down: no larger than the constant of equation 13."""

HEADROOM = Fraction(101, 100)
ENDLESS = 1 << 62


@dataclass(frozen=True, slots=True)
class TeamType:
    """``count`` teams of one composition: members by workload, bit/s per ordered pair."""

    members: tuple[tuple[int, int], ...]
    size: int
    rate: Fraction
    count: int


@dataclass(frozen=True, slots=True)
class Part:
    """``count`` members of a workload; ``team``: index of their team type, -1 for none; ``each``: members a team."""

    workload: int
    team: int
    count: int
    each: int = 0


@dataclass(frozen=True)
class Cell:
    """A part in one option on one group of nodes.

    Attributes
    ----------
    need : least amount of one member, by resource; at least the floor.
    floor : floor of one member, by resource (equation 11 counts those).
    room : most that one member can use of a resource, by resource; only where that is more than ``need``.
    fits : most members of the part on one node of the group.
    """

    part: int
    option: int
    group: int
    need: tuple[int, ...]
    floor: tuple[int, ...]
    room: Mapping[int, Fraction]
    fits: int


def team_types(compiled: Compiled) -> tuple[tuple[TeamType, ...], tuple[int, ...]]:
    """Types of teams, and the type of each team."""
    index: dict[tuple[tuple[tuple[int, int], ...], int, Fraction], int] = {}
    of_team = []
    counts: list[int] = []
    for team in compiled.teams:
        members: dict[int, int] = {}
        for block in team.blocks:
            entity = compiled.blocks[block]
            members[entity.workload] = members.get(entity.workload, 0) + entity.count
        key = tuple(sorted(members.items())), team.size, team.rate
        number = index.setdefault(key, len(index))
        if number == len(counts):
            counts.append(0)
        counts[number] += 1
        of_team.append(number)
    types = tuple(
        TeamType(members, size, rate, count) for (members, size, rate), count in zip(index, counts, strict=True)
    )
    return types, tuple(of_team)


def parts_of(compiled: Compiled, types: tuple[TeamType, ...]) -> tuple[Part, ...]:
    """All members, in parts; a member is in one team at most."""
    left = [workload.count for workload in compiled.instance.workloads]
    parts = []
    for number, kind in enumerate(types):
        for workload, each in kind.members:
            parts.append(Part(workload, number, each * kind.count, each))
            left[workload] -= each * kind.count
    parts += [Part(workload, -1, count) for workload, count in enumerate(left) if count > 0]
    return tuple(parts)


def response_work(compiled: Compiled, demand: Demand) -> tuple[int, Fraction] | None:
    """Compute resource (index) and base units times seconds a task, where there is exactly one (equation 13)."""
    found = [(name, each) for name, each in demand.work.compute.items() if each > 0]
    if len(found) != 1:
        return None
    return compiled.resources.index(found[0][0]), found[0][1]


def cells_of(
    compiled: Compiled, orbits: Orbits, parts: tuple[Part, ...], targets: Mapping[int, Fraction]
) -> tuple[Cell, ...]:
    """Every cell that at least one member may stand in. ``targets``: further targets on P99 (s), by workload."""
    wanted: dict[int, list[int]] = {}
    for number, part in enumerate(parts):
        wanted.setdefault(part.workload, []).append(number)
    units = [_unit(compiled, r) for r in range(len(compiled.resources))]
    cells = []
    for workload, numbers in wanted.items():
        for option in compiled.options_of(workload):
            allowed = compiled.eligible[option, orbits.nodes]
            member: dict[int, tuple[tuple[int, ...], tuple[int, ...], dict[int, Fraction]] | None] = {}
            for group in allowed.nonzero()[0].tolist():
                node = int(orbits.nodes[group])
                kind = int(compiled.node_kind[node])
                if kind not in member:
                    member[kind] = _needs(compiled, option, node, units, targets.get(workload))
                found = member[kind]
                if found is None:
                    continue
                need, floor, room = found
                above = {r: min(most, _ceiling(compiled, option, node, r, most)) for r, most in room.items()}
                if any(_ceiling(compiled, option, node, r, Fraction(need[r])) < need[r] for r in range(len(units))):
                    continue
                fits = _fits(compiled, node, need, max(parts[n].count for n in numbers))
                above = {r: most for r, most in above.items() if most > need[r]}
                if fits:
                    cells += [Cell(n, option, group, need, floor, above, min(fits, parts[n].count)) for n in numbers]
    return tuple(cells)


def _unit(compiled: Compiled, r: int) -> Fraction:
    return Fraction(10) ** compiled.instance.resources[compiled.resources[r]].exponent


def _ceiling(compiled: Compiled, option: int, node: int, r: int, wanted: Fraction) -> Fraction:
    """Most that one member may have, where that is less than what is wanted; else what is wanted."""
    floor = int(compiled.floor[option, compiled.node_kind[node], r])
    if wanted <= floor:
        return wanted
    return min(wanted, Fraction(compiled.ceiling_of(option, node, r)))


def _fits(compiled: Compiled, node: int, need: tuple[int, ...], count: int) -> int:
    """Members with these needs that one node can hold by its own limits and those of pools over it."""
    most = count
    domain = int(compiled.node_domain[node])
    for r, each in enumerate(need):
        limit = int(compiled.limit[domain, r])
        if each and limit >= 0:
            most = min(most, limit // each)
    return most


def _needs(
    compiled: Compiled, option: int, node: int, units: list[Fraction], target: Fraction | None
) -> tuple[tuple[int, ...], tuple[int, ...], dict[int, Fraction]] | None:
    """Least amounts, floors and useful amounts of one member in an option on a node's kind; None: it cannot serve."""
    kind = int(compiled.node_kind[node])
    workload = compiled.instance.workloads[int(compiled.option_workload[option])]
    demand = workload.modes[int(compiled.option_mode[option])].demand(compiled.kinds[kind])
    floor = tuple(compiled.floor[option, kind].tolist())
    need = list(floor)
    useful: dict[int, Fraction] = {}
    if compiled.model.has_rate_goals:
        for name, each in demand.work.compute.items():
            if each > 0:
                r = compiled.resources.index(name)
                useful[r] = min(workload.parallel, each * workload.rate) / units[r]
        for name, each in demand.work.memory.items():
            held = each * (workload.residence or 0)
            if held > 0:
                r = compiled.resources.index(name)
                useful[r] = max(useful.get(r, Fraction(0)), held * workload.rate / units[r])
    if GoalId.BALANCE in compiled.model.goal_ids:  # a share may pay by being used up
        useful |= dict.fromkeys(_shared(compiled, workload), Fraction(ENDLESS))
    least = _least_compute(compiled, workload, demand, units, target)
    if least is not None:
        r, amount = least
        if amount * units[r] > workload.parallel:
            return None
        need[r] = max(need[r], math.ceil(amount))
        if workload.slo.critical and GoalId.P99 in compiled.model.goal_ids:
            useful[r] = max(useful.get(r, Fraction(0)), workload.parallel / units[r])
    return tuple(need), floor, useful


def _shared(compiled: Compiled, workload: WorkloadClass) -> list[int]:
    """Resources of which members may have more than their floor (3)."""
    held = workload.slo.p99 is not None and Family.SLO not in compiled.model.ignore
    demands = [demand for mode in workload.modes for demand in (mode.default, *mode.by_kind.values())]
    return [
        r
        for r, name in enumerate(compiled.resources)
        if compiled.uses_shares(workload.index, r)
        or (held and any(demand.work.compute.get(name, 0) > 0 for demand in demands))
    ]


def _least_compute(
    compiled: Compiled, workload: WorkloadClass, demand: Demand, units: list[Fraction], target: Fraction | None
) -> tuple[int, Fraction] | None:
    """Resource and least amount that keep a member stable and within its targets, its path taken to be no delay."""
    held = workload.slo.p99 is not None and Family.SLO not in compiled.model.ignore
    counted = workload.slo.critical and GoalId.P99 in compiled.model.goal_ids
    work = response_work(compiled, demand)
    if not (held or counted) or work is None:
        return None
    r, each = work
    least = workload.rate * each * HEADROOM if workload.rate else units[r]
    targets = [t for t in (workload.slo.p99 if held else None, target) if t is not None]
    if targets:
        if min(targets) <= 0:
            return r, workload.parallel / units[r] + 1
        least = max(least, each * (workload.rate + LN_100_BELOW / min(targets)))
    return r, least / units[r]
