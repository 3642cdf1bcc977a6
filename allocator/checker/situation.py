"""A plan on an instance under a model, with the sums that several rules need, each computed once, when asked for.

Owns no rule. Rules and goals read it; they know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from allocator.checker.flows import Flows, Key
from allocator.checker.latency import delays_of
from allocator.checker.rates import class_rates
from allocator.checker.response import Response, is_served, responses_of
from allocator.checker.standing import Standing, current_standing
from allocator.checker.traffic import Chains, Traffic, traffic_of
from allocator.checker.usage import PerDomain, Usage, chains, left_behind, usage_of
from allocator.instance.entities import Instance, MoveCosts
from allocator.model.entities import Model
from allocator.model.families import Family
from allocator.plan.numbers import base_units, measured

__all__ = ["Move", "Situation"]


@dataclass(frozen=True, slots=True)
class Move:
    """A member that no longer runs on the node it runs on now; ``target`` is ``NOWHERE`` when it is evicted."""

    workload: int
    member: int
    source: int
    target: int
    floors: Mapping[str, int]


@dataclass(frozen=True)
class Situation:
    """What is judged. ``grants``: granted fraction per flow."""

    instance: Instance
    model: Model
    standing: Standing
    flows: Flows
    grants: Mapping[Key, Fraction]

    def holds(self, family: Family) -> bool:
        """Whether the model keeps the family."""
        return family not in self.model.ignore

    def base(self, resource: str, amount: int | Fraction) -> Fraction:
        """Amount of a resource in base units."""
        return base_units(amount, self.instance.resources[resource].exponent)

    def told(self, resource: str, value: Fraction) -> str:
        """Base units of a resource with their unit, for a sentence."""
        return measured(value, self.instance.resources[resource].unit)

    def told_amount(self, resource: str, amount: int) -> str:
        """Amount of a resource with its unit, for a sentence."""
        return self.told(resource, self.base(resource, amount))

    @cached_property
    def chains(self) -> Chains:
        """Domains above each node, itself first."""
        return chains(self.instance)

    @cached_property
    def usage(self) -> Usage:
        """Use under the plan."""
        return usage_of(self.instance, self.standing)

    @cached_property
    def before(self) -> Standing:
        """Where members run now."""
        return current_standing(self.instance)

    @cached_property
    def usage_before(self) -> Usage:
        """Use now, everybody at its floors."""
        return usage_of(self.instance, self.before)

    @cached_property
    def left_behind(self) -> PerDomain:
        """Old floors that count beside the plan's use; none when the family ``transient`` is ignored."""
        if not self.holds(Family.TRANSIENT):
            return tuple({} for _ in self.instance.domains)
        return left_behind(self.instance, self.before, self.standing)

    @cached_property
    def traffic(self) -> Traffic:
        """Loads of the uplinks."""
        return traffic_of(self.instance, self.standing, self.flows, self.grants, self.chains)

    @cached_property
    def class_rates(self) -> list[Fraction]:
        """Tasks/s of all placed members of each class."""
        traffic = self.traffic if self.holds(Family.FABRIC) else None
        return class_rates(self.instance, self.standing, traffic, limited=self.holds(Family.RATES))

    @cached_property
    def responses(self) -> tuple[tuple[Response, ...], ...]:
        """Response times of the members of classes with a target or critical ones; latencies count in any model.

        As ``responses_of`` yields them: alike but for the share, the slowest first.
        """
        if not any(is_served(workload) for workload in self.instance.workloads):
            return ()
        link_load = self.instance.link_load if self.holds(Family.LINK_LOAD) else None
        delays = delays_of(self.instance, self.standing, self.flows, self.chains, link_load)
        return tuple(responses_of(self.instance, self.standing, delays))

    @cached_property
    def moved(self) -> tuple[Move, ...]:
        """Members that leave the node they run on now."""
        moves = []
        for workload, member, old in self.before.placed():
            target = self.standing.node_of(workload, member)
            if target != old.node:
                moves.append(Move(workload, member, old.node, target, old.shares))
        return tuple(moves)

    @cached_property
    def move_costs(self) -> MoveCosts:
        """Weights and limits of moves; the defaults when the instance states none."""
        return self.instance.moves or MoveCosts()

    def holders(self, level: str) -> tuple[tuple[int, ...], ...]:
        """For each node, the indices of the domains of a level that hold it: one, none, or several nested ones."""
        if level not in self._holders:
            holders: list[list[int]] = [[] for _ in self.instance.nodes]
            for domain in self.instance.domains_of(level):
                for node in range(domain.first_node, domain.end_node):
                    holders[node].append(domain.index)
            self._holders[level] = tuple(map(tuple, holders))
        return self._holders[level]

    def zones(self, level: str) -> tuple[tuple[int, ...], ...]:
        """For each node, the indices of the zones of a level that hold it: one, none, or several nested ones."""
        if level not in self._zones:
            zones: list[list[int]] = [[] for _ in self.instance.nodes]
            for index, zone in enumerate(self.instance.zones_of(level)):
                for node in zone.nodes:
                    zones[node].append(index)
            self._zones[level] = tuple(map(tuple, zones))
        return self._zones[level]

    @cached_property
    def _zones(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """What ``zones`` has found so far."""
        return {}

    @cached_property
    def _holders(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """What ``holders`` has found so far."""
        return {}

    @cached_property
    def group_nodes(self) -> Mapping[str, Mapping[int, int]]:
        """Placed members of each group on each node."""
        groups: dict[str, dict[int, int]] = {workload.group: {} for workload in self.instance.workloads}
        for batch in self.standing.batches:
            nodes = groups[self.instance.workloads[batch.workload].group]
            nodes[batch.node] = nodes.get(batch.node, 0) + batch.count
        return groups
