"""A tiny instance laid out as plain tables, read straight from models/README.md.

Owns the oracle's own reading of members, options, flows and the tree. Must not know the checker, the compiled arrays
or any solver of the package: it shares with them nothing but the entities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from allocator.instance.entities import Demand, Domain, Instance, WorkloadClass
from allocator.model.entities import Model
from allocator.model.families import Family

__all__ = ["Member", "Option", "Tiny", "scaled"]

UNPLACED = 0


def scaled(numbers: Iterable[Fraction]) -> tuple[list[int], int]:
    """Integers and their common denominator."""
    exact = [Fraction(number) for number in numbers]
    denominator = math.lcm(*(number.denominator for number in exact)) if exact else 1
    return [int(number * denominator) for number in exact], denominator


@dataclass(frozen=True)
class Option:
    """A mode on a node; ``node`` and ``mode`` are -1 for the option of staying unplaced."""

    workload: int
    mode: int
    node: int
    demand: Demand
    floor: tuple[int, ...]  # by resource


@dataclass(frozen=True)
class Member:
    """One member. ``bundle``: the team or gang it is placed with, whole or not at all."""

    workload: WorkloadClass
    number: int
    team: int | None
    gang: int | None
    old: tuple[int, int] | None  # (mode, node) it runs in now
    exchangeable: bool


@dataclass
class Tiny:
    """Tables of an instance under a model. Amounts are integers, everything else exact fractions."""

    instance: Instance
    model: Model
    resources: list[str] = field(init=False)
    unit: list[Fraction] = field(init=False)  # base units of one integer unit
    nodes: list[Domain] = field(init=False)
    inside: np.ndarray = field(init=False)  # bool[domain, node]
    options: list[Option] = field(init=False)
    options_of: list[list[int]] = field(init=False)  # by workload, the eligible ones
    members: list[Member] = field(init=False)
    flows: dict[tuple[str, int, int], dict[tuple[int, int], Fraction]] = field(init=False)
    messages: dict[tuple[str, int, int], Fraction] = field(init=False)  # bits, of flows that state one

    def __post_init__(self) -> None:
        instance = self.instance
        self.resources = list(instance.resources)
        self.unit = [Fraction(10) ** instance.resources[name].exponent for name in self.resources]
        self.nodes = [domain for domain in instance.domains if not domain.children]
        self.inside = np.zeros((len(instance.domains), len(self.nodes)), dtype=bool)
        for position, node in enumerate(self.nodes):
            for domain in self.above(node):
                self.inside[domain.index, position] = True
        self._build_options()
        self._build_members()
        self._build_flows()

    def holds(self, family: Family) -> bool:
        """Whether the model keeps the family."""
        return family not in self.model.ignore

    def above(self, domain: Domain) -> list[Domain]:
        """The domain and its ancestors, from the bottom up."""
        chain = [domain]
        while chain[-1].parent is not None:
            chain.append(self.instance.domains[chain[-1].parent])
        return chain

    def pool_above(self, node: Domain, resource: str) -> Domain | None:
        """The domain whose pool of the resource the node may draw on."""
        if not self.holds(Family.POOL):
            return None
        return next((domain for domain in self.above(node) if resource in domain.pool), None)

    def nearest_capacity(self, node: Domain, resource: str) -> int | None:
        """Capacity of the nearest domain at or above the node that states one."""
        return next((domain.capacity[resource] for domain in self.above(node) if resource in domain.capacity), None)

    def zones(self, level: str) -> np.ndarray:
        """bool[zone, node]: the domains of a level, or the values of a label (equation 9)."""
        if not level.startswith("label:") or self.level(level):
            return self.inside[self.level(level)]
        values = [self.label(node, level.removeprefix("label:")) for node in self.nodes]
        return np.array(
            [[value == each for value in values] for each in sorted({*values} - {None})], dtype=bool
        ).reshape(-1, len(values))

    def label(self, node: Domain, name: str) -> str | None:
        """Value of a label of a node."""
        implicit = {"kind": node.kind, "path": node.path, "name": node.path.rsplit("/", 1)[-1]}
        return node.labels.get(name, implicit.get(name))

    def level(self, name: str) -> list[int]:
        """Indices of the domains of a level; "node" means every leaf."""
        if name == "node":
            return [node.index for node in self.nodes]
        return [domain.index for domain in self.instance.domains if domain.level == name]

    def ceiling(self, option: Option, resource: int) -> int:
        """Largest share of a member of that option (equation 3), never below the floor."""
        name, node = self.resources[resource], self.nodes[option.node]
        top = option.demand.limits.get(name)
        pool = self.pool_above(node, name)
        if top is None and pool is not None:
            top = node.capacity.get(name, 0) + pool.pool[name]
        if top is None:
            top = self.nearest_capacity(node, name)
        return max(option.floor[resource], 0 if top is None else top)

    def group(self, name: str) -> list[int]:
        """Members of a group."""
        return [index for index, member in enumerate(self.members) if member.workload.group == name]

    def shareable(self, workload: WorkloadClass, resource: str) -> bool:
        """Whether more than the floor can pay: for rates, or for a target on the response time (equation 3)."""
        demands = [demand for mode in workload.modes for demand in (mode.default, *mode.by_kind.values())]
        if self.model.has_rate_goals:
            return any(resource in demand.work.compute or resource in demand.work.memory for demand in demands)
        if workload.slo.p99 is None or not self.holds(Family.SLO):
            return False
        return any(demand.work.compute.get(resource, 0) > 0 for demand in demands)

    def floor_of(self, demand: Demand) -> tuple[int, ...]:
        """Floors of a demand by resource."""
        return tuple(demand.requests.get(name, 0) for name in self.resources)

    def eligible(self, workload: WorkloadClass, node: Domain) -> bool:
        """Equation (2)."""
        if not self.holds(Family.ELIGIBILITY):
            return True
        rule = workload.placement
        labels = {"kind": node.kind, "name": node.path.rsplit("/", 1)[-1], "path": node.path, **node.labels}
        above = {domain.path for domain in self.above(node)}
        return (
            all(labels.get(label) in accepted for label, accepted in rule.require.items())
            and node.taints <= rule.tolerations
            and rule.capabilities <= node.capabilities
            and (not rule.within or any(path in above for path in rule.within))
        )

    def _available(self, node: Domain, demand: Demand) -> bool:
        """Every resource that is asked for is limited somewhere at or above the node (equation 4)."""
        if not self.holds(Family.CAPACITY):
            return True
        return all(
            amount == 0 or self.nearest_capacity(node, name) is not None or self.pool_above(node, name) is not None
            for name, amount in demand.requests.items()
        )

    def _build_options(self) -> None:
        self.options = [Option(-1, -1, -1, Demand(), (0,) * len(self.resources))]
        self.options_of = []
        self._number: dict[tuple[int, int, int], int] = {}
        for workload in self.instance.workloads:
            mine = []
            for number, mode in enumerate(workload.modes):
                for position, node in enumerate(self.nodes):
                    demand = mode.demand(str(node.kind))
                    self._number[workload.index, number, position] = len(self.options)
                    if self.eligible(workload, node) and self._available(node, demand):
                        mine.append(len(self.options))
                    self.options.append(Option(workload.index, number, position, demand, self.floor_of(demand)))
            self.options_of.append(mine)

    def option_now(self, member: Member) -> int:
        """Option in which a member runs now, eligible or not."""
        return UNPLACED if member.old is None else self._number[(member.workload.index, *member.old)]

    def _build_members(self) -> None:
        instance = self.instance
        team_of: dict[tuple[str, int], int] = {}
        self.team_names: list[tuple[int, int]] = []  # (entry, number)
        for entry, team in enumerate(instance.teams):
            for number in range(team.count):
                for name, size in team.members.items():
                    for offset in range(size):
                        team_of[name, team.offsets[name] + number * size + offset] = len(self.team_names)
                self.team_names.append((entry, number))
        paired = set()
        for flow in instance.flows:
            for source, target, _ in flow.pairs:
                paired |= {(flow.source, source), (flow.target, target)}
        position = {node.path: index for index, node in enumerate(self.nodes)}
        old: dict[tuple[str, int], tuple[int, int]] = {}
        for run in instance.current or ():
            modes = [mode.name for mode in instance.workload_by_name[run.workload].modes]
            for number in range(run.first, run.first + run.count):
                old[run.workload, number] = (modes.index(run.mode), position[run.node])
        self.members = []
        gangs = 0
        for workload in instance.workloads:
            gang = workload.placement.gang if self.holds(Family.GANG) else None
            for number in range(workload.count):
                key = (workload.name, number)
                self.members.append(
                    Member(
                        workload=workload,
                        number=number,
                        team=team_of.get(key),
                        gang=None if gang is None else gangs + number // gang.size,
                        old=old.get(key),
                        exchangeable=gang is None and key not in team_of and key not in paired and key not in old,
                    )
                )
            if gang is not None:
                gangs += -(-workload.count // gang.size)
        self.index_of = {(member.workload.name, member.number): index for index, member in enumerate(self.members)}

    def _build_flows(self) -> None:
        """Flows by key: ("team", t, t), ("pair", i, j), ("group", class, class); bit/s by ordered pair of members.

        Entries between the same members, or of whole classes between the same classes, are one flow.
        """
        self.flows = {}
        self.messages = {}
        for team, (entry, _) in enumerate(self.team_names):
            mates = [index for index, member in enumerate(self.members) if member.team == team]
            rate = self.instance.teams[entry].rate
            self.flows["team", team, team] = {(i, j): rate for i in mates for j in mates if i != j}
            self._carry(("team", team, team), rate, self.instance.teams[entry].message)
        for flow in self.instance.flows:
            sources = [i for i, member in enumerate(self.members) if member.workload.name == flow.source]
            targets = [j for j, member in enumerate(self.members) if member.workload.name == flow.target]
            if flow.pattern == "pairs":
                for source, target, rate in flow.pairs:
                    i, j = self.index_of[flow.source, source], self.index_of[flow.target, target]
                    pair = self.flows.setdefault(("pair", i, j), {(i, j): Fraction(0)})
                    pair[i, j] += rate
                    self._carry(("pair", i, j), rate, flow.message)
            else:
                receivers = len(targets) - (flow.source == flow.target)
                rate = flow.rate / max(receivers, 1) if flow.pattern == "spread" else flow.rate
                ends = [self.instance.workload_by_name[name].index for name in (flow.source, flow.target)]
                group = self.flows.setdefault(("group", ends[0], ends[1]), {})
                self._carry(("group", ends[0], ends[1]), rate, flow.message)
                for i in sources:
                    for j in targets:
                        if i != j:
                            group[i, j] = group.get((i, j), Fraction(0)) + rate

    def _carry(self, key: tuple[str, int, int], rate: Fraction, message: Fraction) -> None:
        """Note the largest message that a flow ever sends."""
        if rate > 0 and message > self.messages.get(key, 0):
            self.messages[key] = message

    def pair_rates(self) -> dict[tuple[int, int], Fraction]:
        """Whole rate by ordered pair of members."""
        rates: dict[tuple[int, int], Fraction] = {}
        for pairs in self.flows.values():
            for key, rate in pairs.items():
                rates[key] = rates.get(key, Fraction(0)) + rate
        return rates

    def crossed(self, source: int, target: int) -> tuple[list[int], list[int], int]:
        """Domains whose uplink a flow between two nodes crosses upwards, downwards; and the lowest common domain."""
        up = [domain.index for domain in self.above(self.nodes[source]) if not self.inside[domain.index, target]]
        down = [domain.index for domain in self.above(self.nodes[target]) if not self.inside[domain.index, source]]
        common = next(domain.index for domain in self.above(self.nodes[source]) if self.inside[domain.index, target])
        return up, down, common

    def distance(self, source: int, target: int) -> Fraction:
        """Distance of two nodes (equation 18)."""
        matrix = self.instance.distances.matrix
        if matrix is not None:
            return matrix[self.nodes[source].path, self.nodes[target].path]
        up, down, _ = self.crossed(source, target)
        uplinks = [self.instance.domains[index].uplink for index in up + down]
        return sum((uplink.weight for uplink in uplinks if uplink is not None), Fraction(0))
