"""Granted fractions theta: rates of members within them, granted loads within what links carry (equations 6, 7)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from allocator.compiled.entities import GroupTraffic, PairTraffic, TeamTraffic
from allocator.model.families import Family
from allocator.solvers.milp.fabric.curves import add_curve
from allocator.solvers.milp.fabric.loads import (
    class_size,
    class_unary,
    pair_crossing,
    team_unary,
)
from allocator.solvers.milp.fabric.products import both, joint, scaled, unary
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.rates import rate_of_block
from allocator.solvers.milp.terms import Terms

__all__ = ["add_grants"]

PART = "grants"


def add_grants(form: Formulation) -> None:
    """One theta per team, pair or entry whose members complete work; nothing to do when no rate depends on it."""
    compiled = form.compiled
    if not compiled.model.has_rate_goals or form.ignores(Family.FABRIC) or form.ignores(Family.RATES):
        return
    thetas: dict[tuple[str, int], Any] = {}
    working = {w.index for w in compiled.instance.workloads if w.rate > 0}
    for team in compiled.teams:
        if working & {compiled.blocks[b].workload for b in team.blocks}:
            thetas["team", team.index] = form.real(PART, 1.0)
    for index, pair in enumerate(compiled.pairs):
        if working & {compiled.blocks[pair.source].workload, compiled.blocks[pair.target].workload}:
            thetas["pair", index] = form.real(PART, 1.0)
    for index, group in enumerate(compiled.groups):
        if working & {group.source, group.target}:
            thetas["group", index] = form.real(PART, 1.0)
    if not thetas:
        return
    _limit_rates(form, thetas)
    for domain in compiled.instance.domains:
        bandwidth = domain.uplink.bandwidth if domain.uplink else None
        if bandwidth is not None:
            for direction in ("up", "down"):
                granted = _granted(form, thetas, domain.index, direction)
                if domain.uplink is None or domain.uplink.goodput.curve == "fair":
                    form.at_most(PART, granted, bandwidth)
                else:
                    add_curve(form, domain, direction, granted)
        if domain.internal is not None:
            inside = Terms()
            for key, theta in thetas.items():
                inside.extend(_granted_inside(form, key, theta, domain.index))
            form.at_most(PART, inside, domain.internal)


def _flow_blocks(form: Formulation, key: tuple[str, int]) -> list[int]:
    compiled = form.compiled
    kind, index = key
    if kind == "team":
        return list(compiled.teams[index].blocks)
    if kind == "pair":
        return [compiled.pairs[index].source, compiled.pairs[index].target]
    ends = {compiled.groups[index].source, compiled.groups[index].target}
    return [block.index for block in compiled.blocks if block.workload in ends]


def _limit_rates(form: Formulation, thetas: dict[tuple[str, int], Any]) -> None:
    """Q of every member <= lambda * theta of each of its flows; members of one block share the smallest theta."""
    compiled = form.compiled
    of_block: dict[int, list[Any]] = {}
    for key, theta in thetas.items():
        for block in dict.fromkeys(_flow_blocks(form, key)):
            of_block.setdefault(block, []).append(theta)
    for block_index, limits in of_block.items():
        block = compiled.blocks[block_index]
        offered = compiled.instance.workloads[block.workload].rate
        if offered <= 0:
            continue
        if block.count == 1:
            for theta in limits:
                row = rate_of_block(form, block_index).extend(Terms([(-offered, theta)]))
                form.at_most(PART, row, 0)
            continue
        least = limits[0]
        if len(limits) > 1:
            least = form.real(PART, 1.0)
            for theta in limits:
                form.at_most(PART, Terms([(1, least), (-1, theta)]), 0)
        for entry in form.of_block[block_index]:
            key = "entry", entry.block, entry.option, entry.node
            here = unary(form, key, Terms([(1, entry.variable)]), block.count)
            parts = scaled(form, key, here, least)
            rate = form.cache["rates"][entry.block, entry.option, entry.node]
            form.at_most(PART, Terms([(1, rate), *((-offered * a, part) for a, part in enumerate(parts))]), 0)


def _granted(form: Formulation, thetas: dict[tuple[str, int], Any], domain: int, direction: str) -> Terms:
    compiled = form.compiled
    load = Terms()
    for (kind, index), theta in thetas.items():
        if kind == "team":
            load.extend(_team(form, compiled.teams[index], theta, domain, inside=False))
        elif kind == "pair":
            pair = compiled.pairs[index]
            crossing = pair_crossing(form, pair, domain, direction)
            load.extend(_gated(form, (index, domain, direction), crossing, theta), pair.rate)
        else:
            load.extend(_group(form, index, compiled.groups[index], theta, domain, direction))
    return load


def _gated(form: Formulation, key: object, indicator: Terms, theta: Any) -> Terms:
    """Theta * indicator for use in a row that bounds it from above: g >= theta - 1 + indicator, g >= 0."""
    if not indicator:
        return Terms([(indicator.constant, theta)])
    cached = form.cache.get(("gated", key))
    if cached is None:
        gated = form.real(PART, 1.0)
        form.at_most(PART, Terms([(1, theta), (-1, gated)]).extend(indicator), 1)
        cached = form.cache["gated", key] = gated
    return Terms([(1, cached)])


def _team(form: Formulation, team: TeamTraffic, theta: Any, domain: int, *, inside: bool) -> Terms:
    count = team_unary(form, team, domain)
    parts = scaled(form, ("team", team.index, domain), count, theta)
    factor = (lambda a: a * (a - 1)) if inside else (lambda a: a * (team.size - a))
    return Terms((team.rate * factor(a), part) for a, part in enumerate(parts))


def _group(form: Formulation, index: int, group: GroupTraffic, theta: Any, domain: int, direction: str) -> Terms:
    inside, outside = (group.source, group.target) if direction == "up" else (group.target, group.source)
    here = class_unary(form, inside, domain)
    there = class_unary(form, outside, domain, outside=True)
    crossing = joint(form, ("group", index, domain, direction), here, there, theta)
    return Terms().extend(crossing, group.rate)


def _granted_inside(form: Formulation, key: tuple[str, int], theta: Any, domain: int) -> Terms:
    """Granted load of a flow whose lowest common domain is exactly the domain."""
    compiled = form.compiled
    kind, index = key
    children = compiled.instance.domains[domain].children
    load = Terms()
    if kind == "team":
        team = compiled.teams[index]
        load.extend(_team(form, team, theta, domain, inside=True))
        for child in children:
            load.extend(_team(form, team, theta, child, inside=True), -1)
    elif kind == "pair":
        load.extend(_pair_inside(form, index, compiled.pairs[index], theta, domain, children))
    else:
        group = compiled.groups[index]
        load.extend(_met(form, index, group, theta, domain), group.rate)
        for child in children:
            load.extend(_met(form, index, group, theta, child), -group.rate)
    return load


def _pair_inside(
    form: Formulation, index: int, pair: PairTraffic, theta: Any, domain: int, children: tuple[int, ...]
) -> Terms:
    meet = both(form, pair.source, domain, pair.target, domain).copy()
    for child in children:
        meet.extend(both(form, pair.source, child, pair.target, child), -1)
    return Terms().extend(_gated(form, (index, domain, "inside"), meet, theta), pair.rate)


def _met(form: Formulation, index: int, group: GroupTraffic, theta: Any, domain: int) -> Terms:
    """Theta times the ordered pairs of the entry with both ends in the domain."""
    here = class_unary(form, group.source, domain)
    if group.source == group.target:
        parts = scaled(form, ("group inside", index, domain), here, theta)
        return Terms((Fraction(a * (a - 1)), part) for a, part in enumerate(parts))
    if class_size(form, group.target) == 0:
        return Terms()
    return joint(form, ("group inside", index, domain), here, class_unary(form, group.target, domain), theta)
