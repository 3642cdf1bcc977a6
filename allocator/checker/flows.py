"""The flows of an instance, and what a plan grants them. Owns their names; knows no topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Rational

from allocator.instance.entities import Instance
from allocator.model.families import Family
from allocator.plan.entities import Plan, flow_endpoint
from allocator.plan.evaluation import Violation
from allocator.plan.numbers import shown

__all__ = ["Flows", "GroupFlow", "Pair", "TeamFlow", "flows_of", "grants_of"]

Key = tuple[str, str]
Pair = tuple[int, int, int, int]
"""From a member to a member: workload, number, workload, number."""


@dataclass(frozen=True, slots=True)
class TeamFlow:
    """All-to-all traffic of one team: ``rate`` bit/s for each ordered pair of its members.

    ``parts``: (workload, number of the first member, how many) of each class in the team. ``message``: bits of one.
    """

    key: Key
    parts: tuple[tuple[int, int, int], ...]
    size: int
    rate: Fraction
    message: Fraction = Fraction(0)

    def nodes(self, nodes_of: tuple[list[int], ...]) -> list[int]:
        """Node of each member; ``nodes_of``: by workload and member."""
        nodes: list[int] = []
        for workload, first, count in self.parts:
            nodes += nodes_of[workload][first : first + count]
        return nodes


@dataclass(frozen=True, slots=True)
class GroupFlow:
    """Traffic of a ``spread`` or ``broadcast`` entry: ``rate`` bit/s for each ordered pair of distinct members.

    ``message``: bits of one; of several entries between the same classes the largest that is ever sent.
    """

    key: Key
    source: int
    target: int
    rate: Fraction
    message: Fraction = Fraction(0)


@dataclass(frozen=True)
class Flows:
    """All flows; parallel ones (equal ends) are one. ``pairs``: bit/s by ends; ``names``: of the ends, by workload.

    ``messages``: bits of the largest message of a pair, where one is stated.
    """

    teams: tuple[TeamFlow, ...]
    pairs: Mapping[Pair, Fraction]
    groups: tuple[GroupFlow, ...]
    names: tuple[str, ...]
    messages: Mapping[Pair, Fraction] = field(default_factory=dict)

    @property
    def carries_messages(self) -> bool:
        """Whether any flow with a rate states the size of its messages."""
        return (
            bool(self.messages)
            or any(team.message and team.rate for team in self.teams)
            or any(group.message and group.rate for group in self.groups)
        )

    def pair_key(self, pair: Pair) -> Key:
        """Name of both ends of a pair."""
        source, i, target, j = pair
        return f"{self.names[source]}/{i}", f"{self.names[target]}/{j}"

    @cached_property
    def keys(self) -> frozenset[Key]:
        """Names of both ends of every flow."""
        keys: Iterable[Key] = map(self.pair_key, self.pairs)
        return frozenset(keys).union((team.key for team in self.teams), (group.key for group in self.groups))


def flows_of(instance: Instance) -> Flows:
    """Every flow that the instance states."""
    teams = []
    for team in instance.teams:
        parts = [
            (instance.workload_by_name[workload].index, team.offsets.get(workload, 0), each)
            for workload, each in team.members.items()
        ]
        for number in range(team.count):
            name = flow_endpoint(team.name, number)
            own = tuple([(workload, first + number * each, each) for workload, first, each in parts])
            teams.append(TeamFlow((name, name), own, team.size, team.rate, team.message))
    pairs: dict[Pair, Fraction] = {}
    messages: dict[Pair, Fraction] = {}
    groups: dict[Key, GroupFlow] = {}
    for flow in instance.flows:
        source, target = instance.workload_by_name[flow.source], instance.workload_by_name[flow.target]
        if flow.pattern == "pairs":
            a, b = source.index, target.index
            for i, j, rate in flow.pairs:
                if a == b and i == j:
                    continue
                pair = (a, i, b, j)
                pairs[pair] = pairs[pair] + rate if pair in pairs else rate
                if flow.message and rate:
                    messages[pair] = max(flow.message, messages.get(pair, flow.message))
            continue
        rate = flow.rate
        if flow.pattern == "spread":
            others = target.count - (source.index == target.index)
            rate = rate / others if others > 0 else Fraction(0)
        key = (flow_endpoint(source.name), flow_endpoint(target.name))
        message = flow.message if rate else Fraction(0)
        if key in groups:
            rate, message = rate + groups[key].rate, max(message, groups[key].message)
        groups[key] = GroupFlow(key, source.index, target.index, rate, message)
    names = tuple(flow_endpoint(workload.name) for workload in instance.workloads)
    return Flows(tuple(teams), pairs, tuple(groups.values()), names, messages)


def grants_of(flows: Flows, plan: Plan) -> tuple[Mapping[Key, Fraction], list[Violation]]:
    """Granted fraction of each flow that the plan names; what is malformed becomes a violation and counts as 0."""
    granted: dict[Key, Fraction] = {}
    violations = []
    for grant in plan.flows:
        key = (grant.source, grant.target)
        message = None
        if key not in flows.keys:
            message = "no such flow"
        elif key in granted:
            message = "granted twice"
        elif not (grant.granted.__class__ is Fraction or isinstance(grant.granted, Rational)):
            message = f"granted = {grant.granted!r}: not an exact number"
        elif not 0 <= grant.granted.numerator <= grant.granted.denominator:
            message = f"granted = {shown(Fraction(grant.granted))}: must be from 0 to 1"
        if message is None:
            granted[key] = Fraction(grant.granted)
        else:
            where = grant.source if grant.source == grant.target else f"{grant.source} > {grant.target}"
            violations.append(Violation(Family.FABRIC, where, message))
    return granted, violations
