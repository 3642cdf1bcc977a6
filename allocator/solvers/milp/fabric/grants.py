"""Granted fractions theta: rates of members within them, granted loads within what links carry (equations 6, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import GroupTraffic, PairTraffic, TeamTraffic
from allocator.instance.entities import Domain
from allocator.model.families import Family
from allocator.solvers.milp.fabric.curves import add_curve
from allocator.solvers.milp.fabric.loads import class_size, class_unary, pair_crossing, team_unary
from allocator.solvers.milp.fabric.products import both, joint, scaled, unary
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.rates import counts_rates, rate_of_block
from allocator.solvers.milp.terms import Terms, Variable

__all__ = ["add_grants"]

PART = "grants"
Key = tuple[str, int]


def add_grants(form: Formulation) -> None:
    """One theta per team, pair or entry whose members complete work; nothing to do when no rate depends on it."""
    if not counts_rates(form.compiled) or form.ignores(Family.FABRIC) or form.ignores(Family.RATES):
        return
    grants = _Grants(form, {key: form.real(PART, 1.0) for key in _working_flows(form)})
    if not grants.thetas:
        return
    grants.limit_rates()
    for domain in form.compiled.instance.domains:
        if domain.uplink is not None and domain.uplink.bandwidth is not None:
            for direction in ("up", "down"):
                grants.limit_link(domain, direction)
        if domain.internal is not None:
            form.at_most(PART, grants.inside(domain.index), domain.internal)


def _working_flows(form: Formulation) -> list[Key]:
    """Flows with a member whose class offers work: no other needs a grant."""
    compiled = form.compiled
    working = {workload.index for workload in compiled.instance.workloads if workload.rate > 0}

    def works(*blocks: int) -> bool:
        return any(compiled.blocks[block].workload in working for block in blocks)

    keys: list[Key] = [("team", team.index) for team in compiled.teams if works(*team.blocks)]
    keys += [("pair", index) for index, pair in enumerate(compiled.pairs) if works(pair.source, pair.target)]
    keys += [("group", i) for i, group in enumerate(compiled.groups) if working & {group.source, group.target}]
    return keys


@dataclass(frozen=True)
class _Grants:
    """The granted fractions of a formulation, and the rows that hold them."""

    form: Formulation
    thetas: dict[Key, Variable]

    def limit_rates(self) -> None:
        """Rate of every member <= offered rate * theta of each of its flows; members of a block share the least."""
        form = self.form
        limits: dict[int, list[Variable]] = {}
        for key, theta in self.thetas.items():
            for block in dict.fromkeys(self._blocks(key)):
                limits.setdefault(block, []).append(theta)
        for block, thetas in limits.items():
            offered = form.compiled.instance.workloads[form.compiled.blocks[block].workload].rate
            if offered <= 0:
                continue
            if form.compiled.blocks[block].count == 1:
                for theta in thetas:
                    form.at_most(PART, rate_of_block(form, block).extend(Terms([(-offered, theta)])), 0)
            else:
                self._limit_entries(block, offered, self._least(thetas))

    def _blocks(self, key: Key) -> list[int]:
        compiled = self.form.compiled
        kind, index = key
        if kind == "team":
            return list(compiled.teams[index].blocks)
        if kind == "pair":
            return [compiled.pairs[index].source, compiled.pairs[index].target]
        ends = {compiled.groups[index].source, compiled.groups[index].target}
        return [block.index for block in compiled.blocks if block.workload in ends]

    def _least(self, thetas: list[Variable]) -> Variable:
        if len(thetas) == 1:
            return thetas[0]
        least = self.form.real(PART, 1.0)
        for theta in thetas:
            self.form.at_most(PART, Terms([(1, least), (-1, theta)]), 0)
        return least

    def _limit_entries(self, block: int, offered: Fraction, theta: Variable) -> None:
        """Several members: theta times their number on each node, the number in unary."""
        form = self.form
        for entry in form.of_block[block]:
            key = "entry", entry.block, entry.option, entry.node
            here = unary(form, key, Terms([(1, entry.variable)]), form.compiled.blocks[block].count)
            parts = scaled(form, key, here, theta)
            rate = form.cache["rates"][entry.block, entry.option, entry.node]
            form.at_most(PART, Terms([(1, rate), *((-offered * a, part) for a, part in enumerate(parts))]), 0)

    def limit_link(self, domain: Domain, direction: str) -> None:
        """Granted load of all flows within what the link carries."""
        granted = Terms()
        for (kind, index), theta in self.thetas.items():
            if kind == "team":
                granted.extend(self._team(self.form.compiled.teams[index], theta, domain.index, inside=False))
            elif kind == "pair":
                pair = self.form.compiled.pairs[index]
                crossing = pair_crossing(self.form, pair, domain.index, direction)
                granted.extend(self._gated((index, domain.index, direction), crossing, theta), pair.rate)
            else:
                granted.extend(self._group(index, theta, domain.index, direction))
        uplink = domain.uplink
        if uplink is None or uplink.bandwidth is None:
            return
        if uplink.goodput.curve == "fair":
            self.form.at_most(PART, granted, uplink.bandwidth)
        else:
            add_curve(self.form, domain, direction, granted)

    def _gated(self, key: object, indicator: Terms, theta: Variable) -> Terms:
        """Theta * indicator for use in a row that bounds it from above: g >= theta - 1 + indicator, g >= 0."""
        if not indicator:
            return Terms([(indicator.constant, theta)])
        cached: Variable | None = self.form.cache.get(("gated", key))
        if cached is None:
            cached = self.form.cache["gated", key] = self.form.real(PART, 1.0)
            self.form.at_most(PART, Terms([(1, theta), (-1, cached)]).extend(indicator), 1)
        return Terms([(1, cached)])

    def _team(self, team: TeamTraffic, theta: Variable, domain: int, *, inside: bool) -> Terms:
        """Granted load of a team over an uplink, each way; or of its ordered pairs within the domain."""
        parts = scaled(self.form, ("team", team.index, domain), team_unary(self.form, team, domain), theta)
        pairs = [a * (a - 1) if inside else a * (team.size - a) for a in range(len(parts))]
        return Terms((team.rate * number, part) for number, part in zip(pairs, parts, strict=True))

    def _group(self, index: int, theta: Variable, domain: int, direction: str) -> Terms:
        group = self.form.compiled.groups[index]
        inside, outside = (group.source, group.target) if direction == "up" else (group.target, group.source)
        here = class_unary(self.form, inside, domain)
        there = class_unary(self.form, outside, domain, outside=True)
        return Terms().extend(joint(self.form, ("group", index, domain, direction), here, there, theta), group.rate)

    def inside(self, domain: int) -> Terms:
        """Granted load of all flows whose lowest common domain is exactly the domain."""
        compiled = self.form.compiled
        children = compiled.instance.domains[domain].children
        load = Terms()
        for (kind, index), theta in self.thetas.items():
            if kind == "pair":
                load.extend(self._pair_inside(index, theta, domain))
                continue
            for place, sign in ((domain, 1), *((child, -1) for child in children)):
                if kind == "team":
                    load.extend(self._team(compiled.teams[index], theta, place, inside=True), sign)
                else:
                    load.extend(self._met(index, theta, place), sign * compiled.groups[index].rate)
        return load

    def _pair_inside(self, index: int, theta: Variable, domain: int) -> Terms:
        form = self.form
        pair: PairTraffic = form.compiled.pairs[index]
        meet = both(form, pair.source, domain, pair.target, domain).copy()
        for child in form.compiled.instance.domains[domain].children:
            meet.extend(both(form, pair.source, child, pair.target, child), -1)
        return Terms().extend(self._gated((index, domain, "inside"), meet, theta), pair.rate)

    def _met(self, index: int, theta: Variable, domain: int) -> Terms:
        """Theta times the ordered pairs of the entry with both ends in the domain."""
        form = self.form
        group: GroupTraffic = form.compiled.groups[index]
        here = class_unary(form, group.source, domain)
        if group.source == group.target:
            parts = scaled(form, ("group inside", index, domain), here, theta)
            return Terms((a * (a - 1), part) for a, part in enumerate(parts))
        if class_size(form, group.target) == 0:
            return Terms()
        return joint(form, ("group inside", index, domain), here, class_unary(form, group.target, domain), theta)
