"""The flows of an instance one by one, and what a plan grants them. Owns their names; knows no topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from allocator.instance.entities import Instance
from allocator.model.families import Family
from allocator.plan.entities import Plan, flow_endpoint
from allocator.plan.evaluation import Violation
from allocator.plan.numbers import shown

__all__ = ["Flows", "GroupFlow", "PairFlow", "TeamFlow", "flows_of", "grants_of"]

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TeamFlow:
    """All-to-all traffic of one team: ``rate`` bit/s for each ordered pair of ``members`` (workload, number)."""

    key: Key
    members: tuple[tuple[int, int], ...]
    rate: Fraction


@dataclass(frozen=True, slots=True)
class PairFlow:
    """Traffic from one member to another, bit/s."""

    key: Key
    source: tuple[int, int]
    target: tuple[int, int]
    rate: Fraction


@dataclass(frozen=True, slots=True)
class GroupFlow:
    """Traffic of a ``spread`` or ``broadcast`` entry: ``rate`` bit/s for each ordered pair of distinct members."""

    key: Key
    source: int
    target: int
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Flows:
    """All flows; parallel ones (equal ends) are one."""

    teams: tuple[TeamFlow, ...]
    pairs: tuple[PairFlow, ...]
    groups: tuple[GroupFlow, ...]

    def keys(self) -> set[Key]:
        """Names of both ends of every flow."""
        keys = {team.key for team in self.teams}
        keys.update(pair.key for pair in self.pairs)
        keys.update(group.key for group in self.groups)
        return keys


def flows_of(instance: Instance) -> Flows:
    """Every flow that the instance states."""
    teams = []
    for team in instance.teams:
        for number in range(team.count):
            name = flow_endpoint(team.name, number)
            members: list[tuple[int, int]] = []
            for workload, each in team.members.items():
                first = team.offsets.get(workload, 0) + number * each
                index = instance.workload_by_name[workload].index
                members.extend((index, member) for member in range(first, first + each))
            teams.append(TeamFlow((name, name), tuple(members), team.rate))
    pairs: dict[Key, PairFlow] = {}
    groups: dict[Key, GroupFlow] = {}
    for flow in instance.flows:
        source, target = instance.workload_by_name[flow.source], instance.workload_by_name[flow.target]
        if flow.pattern == "pairs":
            for i, j, rate in flow.pairs:
                if source.index == target.index and i == j:
                    continue
                key = (flow_endpoint(source.name, i), flow_endpoint(target.name, j))
                total = rate + (pairs[key].rate if key in pairs else 0)
                pairs[key] = PairFlow(key, (source.index, i), (target.index, j), total)
            continue
        rate = flow.rate
        if flow.pattern == "spread":
            others = target.count - (source.index == target.index)
            rate = rate / others if others > 0 else Fraction(0)
        key = (flow_endpoint(source.name), flow_endpoint(target.name))
        rate += groups[key].rate if key in groups else 0
        groups[key] = GroupFlow(key, source.index, target.index, rate)
    return Flows(tuple(teams), tuple(pairs.values()), tuple(groups.values()))


def grants_of(flows: Flows, plan: Plan) -> tuple[Mapping[Key, Fraction], list[Violation]]:
    """Granted fraction of each flow that the plan names; what is malformed becomes a violation and counts as 0."""
    known = flows.keys() if plan.flows else set()
    granted: dict[Key, Fraction] = {}
    violations = []
    for grant in plan.flows:
        key = (grant.source, grant.target)
        where = grant.source if grant.source == grant.target else f"{grant.source} > {grant.target}"
        message = None
        if key not in known:
            message = "no such flow"
        elif key in granted:
            message = "granted twice"
        elif not isinstance(grant.granted, Rational):
            message = f"granted = {grant.granted!r}: not an exact number"
        elif not 0 <= grant.granted <= 1:
            message = f"granted = {shown(Fraction(grant.granted))}: must be from 0 to 1"
        if message is None:
            granted[key] = Fraction(grant.granted)
        else:
            violations.append(Violation(Family.FABRIC, where, message))
    return granted, violations
