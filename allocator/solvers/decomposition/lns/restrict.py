"""A freed part as a compiled instance of its own: a few nodes, the freed members, and what the rest leaves of limits.

Owns what the rest means for the part. Exact, up to constants, for assignment, eligibility, shares, capacity, pool,
conflict, power, move limit, traffic, cost, overload, balance, nodes and placed. Where it is not (spread, dependency,
reserve, loads that bent or limited links already carry, peak, the largest service that moves), it is a guide only:
whoever uses an answer judges it on the whole instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Block, Compiled, GangUnit, GroupTraffic, PairTraffic, TeamTraffic
from allocator.instance.entities import Conflict, Domain, Instance, MoveCosts, Power, WorkloadClass
from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.decomposition.lns.freed import Freed, Rest
from allocator.solvers.decomposition.lns.partners import PartnerCosts

__all__ = ["Part", "restrict"]

Int64 = npt.NDArray[np.int64]
MOST_ENTRIES = 64  # entries between classes in a part; beyond them entries are left to the judge


@dataclass(frozen=True)
class Part:
    """``compiled``: the part; ``start``: where its members stood. ``blocks``, ``options``, ``nodes``: the originals."""

    compiled: Compiled
    start: Assignment
    rest: Rest
    blocks: tuple[int, ...]
    options: tuple[int, ...]
    nodes: tuple[int, ...]

    def merged(self, answer: Assignment) -> dict[tuple[int, int, int], int]:
        """Counts of the whole: the rest, and the part as answered."""
        counts = dict(self.rest.counts)
        for (block, option, node), count in answer.counts.items():
            key = self.blocks[block], self.options[option], self.nodes[node]
            counts[key] = counts.get(key, 0) + count
        return counts


def restrict(compiled: Compiled, assignment: Assignment, freed: Freed) -> Part:
    """The part of an assignment that is set free."""
    return _Restriction(compiled, assignment, freed).part()


class _Restriction:
    def __init__(self, compiled: Compiled, assignment: Assignment, freed: Freed) -> None:
        self.compiled, self.freed = compiled, freed
        self.rest = Rest(compiled, assignment, freed)
        self.members = freed.members()
        self.blocks = tuple(self.members)
        here = {compiled.blocks[b].current_node for b in self.blocks} - {-1}
        self.nodes = np.array(sorted({*freed.nodes, *here}), dtype=np.int64)
        self.node_at = {int(node): index for index, node in enumerate(self.nodes)}
        firsts = np.searchsorted(self.nodes, compiled.first_node)
        inside = np.searchsorted(self.nodes, compiled.end_node) > firsts
        inside[0] = True
        self.domains: Int64 = np.nonzero(inside)[0]
        self.domain_at = np.full(compiled.num_domains + 1, -1, dtype=np.int64)
        self.domain_at[self.domains] = np.arange(len(self.domains))
        self.use = self.rest.by_domain(self.rest.use)
        self.held = self.rest.by_domain(self.rest.held)
        self.used = self.rest.used_nodes()
        self.watts = self._watts()

    def part(self) -> Part:
        """Put everything together."""
        compiled, domains, nodes = self.compiled, self.domains, self.nodes
        classes = self._classes()
        options = [option for _, workload, _ in classes for option in compiled.options_of(workload)]
        sizes = [len(compiled.options_of(workload)) for _, workload, _ in classes]
        first_option = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        class_of = {block: index for index, (_, _, members) in enumerate(classes) for block in members}
        option_at = {
            (index, option): int(first_option[index]) + offset
            for index, (_, workload, _) in enumerate(classes)
            for offset, option in enumerate(compiled.options_of(workload))
        }
        blocks = tuple(self._block(i, b, class_of, option_at) for i, b in enumerate(self.blocks))
        teams, pairs, groups = self._traffic(classes)
        teamed = {block: team.index for team in teams for block in team.blocks}
        blocks = tuple(replace(block, team=teamed.get(block.index, -1)) for block in blocks)
        model, cost = self._model_and_cost(classes)
        allowed = np.isin(nodes, np.array(self.freed.nodes, dtype=np.int64))
        capacity = self._less(compiled.capacity[domains], self.use[domains])
        pools = self._pools()
        part = Compiled(
            instance=self._instance(classes, capacity, pools),
            model=model,
            resources=compiled.resources,
            kinds=compiled.kinds,
            parent=np.where(compiled.parent[domains] < 0, -1, self.domain_at[compiled.parent[domains]]),
            first_node=np.searchsorted(nodes, compiled.first_node[domains]),
            end_node=np.searchsorted(nodes, compiled.end_node[domains]),
            end_domain=np.searchsorted(domains, compiled.end_domain[domains]),
            node_domain=self.domain_at[compiled.node_domain[nodes]],
            node_kind=compiled.node_kind[nodes],
            capacity=capacity,
            safety=self._less(compiled.safety[domains], self.use[domains]),
            pool=np.where(compiled.pool[domains] >= 0, pools, -1),
            limit=self._less(compiled.limit[domains], self.use[domains] + self.held[domains]),
            pool_limit=np.where(compiled.pool_limit[domains] >= 0, pools, -1),
            overfull=compiled.overfull[domains],
            first_option=first_option,
            option_workload=np.repeat(np.arange(len(classes), dtype=np.int64), sizes),
            option_mode=compiled.option_mode[options],
            floor=compiled.floor[options],
            ceiling=compiled.ceiling[options],
            eligible=compiled.eligible[options][:, nodes] & allowed,
            cost=cost,
            compute_resource=self._compute(capacity),
            power_limit=self.watts,
            blocks=blocks,
            teams=teams,
            pairs=pairs,
            groups=groups,
            gangs=self._gangs(class_of),
        )
        position = {block: index for index, block in enumerate(self.blocks)}
        counts = {
            (position[b], option_at[class_of[b], o], self.node_at[n]): count
            for (b, o, n), count in self.freed.counts.items()
        }
        return Part(part, Assignment(counts), self.rest, self.blocks, tuple(options), tuple(nodes.tolist()))

    def _less(self, stated: Int64, amount: Int64) -> Int64:
        """What is left of stated amounts; -1 stays."""
        left: Int64 = np.where(stated >= 0, np.maximum(stated - amount, 0), -1)
        return left

    def _pools(self) -> Int64:
        """int64[D', R]: what the rest leaves of every pool."""
        compiled, rest = self.compiled, self.rest
        left = np.where(compiled.pool_limit >= 0, compiled.pool_limit, 0)[self.domains]
        if not (compiled.pool_limit >= 0).any():
            return left
        own = np.maximum(compiled.capacity[compiled.node_domain], 0)
        drawn = rest.by_domain(np.maximum(rest.use + rest.held - own, 0))[self.domains]
        return np.maximum(left - drawn, 0)

    def _watts(self) -> tuple[Fraction | None, ...]:
        """What the rest leaves of every power cap."""
        limits = [self.compiled.power_limit[domain] for domain in self.domains.tolist()]
        if all(limit is None for limit in limits):
            return tuple(limits)
        drawn = self.rest.watts()
        return tuple(
            None if limit is None else max(limit - drawn[domain], Fraction(0))
            for limit, domain in zip(limits, self.domains.tolist(), strict=True)
        )

    def _compute(self, capacity: Int64) -> Int64:
        """The resource that drives power, where any of it is left."""
        found = self.compiled.compute_resource[self.nodes]
        own = capacity[self.domain_at[self.compiled.node_domain[self.nodes]]]
        left = np.where(found >= 0, own[np.arange(len(found)), np.maximum(found, 0)], 0)
        return np.where(left > 0, found, -1)

    def _classes(self) -> list[tuple[str, int, tuple[int, ...]]]:
        """(name, original class, blocks): a class of its own for every block whose partners are its own."""
        compiled = self.compiled
        paired = {block for pair in compiled.pairs for block in (pair.source, pair.target)}
        merged: dict[tuple[int, int], list[int]] = {}
        for block in self.blocks:
            entity = compiled.blocks[block]
            alone = block if entity.team >= 0 or block in paired else -1
            merged.setdefault((entity.workload, alone), []).append(block)
        workloads = compiled.instance.workloads
        return [
            (workloads[workload].name if alone < 0 else f"{workloads[workload].name} {alone}", workload, tuple(found))
            for (workload, alone), found in merged.items()
        ]

    def _block(
        self, index: int, block: int, class_of: Mapping[int, int], option_at: Mapping[tuple[int, int], int]
    ) -> Block:
        entity, own = self.compiled.blocks[block], class_of[block]
        here, option = entity.current_node, entity.current_option
        return Block(
            index,
            own,
            self.members[block],
            ((0, self.members[block]),),
            -1,
            self.node_at[here] if here >= 0 else -1,
            option_at[own, option] if option >= 0 else -1,
        )

    def _traffic(
        self, classes: list[tuple[str, int, tuple[int, ...]]]
    ) -> tuple[tuple[TeamTraffic, ...], tuple[PairTraffic, ...], tuple[GroupTraffic, ...]]:
        """Flows among the freed."""
        compiled = self.compiled
        position = {block: index for index, block in enumerate(self.blocks)}
        teams: list[TeamTraffic] = []
        for team in dict.fromkeys(compiled.blocks[block].team for block in self.blocks):
            if team >= 0:
                entity = compiled.teams[team]
                own = tuple(position[block] for block in entity.blocks if block in position)
                size = sum(self.members[self.blocks[block]] for block in own)
                if size > 1:
                    teams.append(TeamTraffic(len(teams), entity.name, own, size, entity.rate, entity.message))
        pairs = tuple(
            replace(pair, source=position[pair.source], target=position[pair.target])
            for pair in compiled.pairs
            if pair.source in position and pair.target in position
        )
        of_class: dict[int, list[int]] = {}
        alone = set()
        for index, (_, workload, blocks) in enumerate(classes):
            of_class.setdefault(workload, []).append(index)
            if sum(self.members[block] for block in blocks) == 1:
                alone.add(index)
        groups = [
            replace(group, source=source, target=target)
            for group in compiled.groups
            for source in of_class.get(group.source, ())
            for target in of_class.get(group.target, ())
            if source != target or source not in alone
        ]
        return tuple(teams), pairs, tuple(groups if len(groups) <= MOST_ENTRIES else ())

    def _gangs(self, class_of: Mapping[int, int]) -> tuple[GangUnit, ...]:
        """Whole units: whoever frees a gang frees all of its unit."""
        position = {block: index for index, block in enumerate(self.blocks)}
        return tuple(
            replace(unit, workload=class_of[unit.blocks[0]], blocks=tuple(position[b] for b in unit.blocks))
            for unit in self.compiled.gangs
            if unit.blocks[0] in position
        )

    def _model_and_cost(
        self, classes: list[tuple[str, int, tuple[int, ...]]]
    ) -> tuple[Model, npt.NDArray[np.object_] | None]:
        """The model without slacks; traffic with those that stay becomes a cost where the levels have room for it."""
        compiled = self.compiled
        levels = [Level(level.goals, Slack()) for level in compiled.model.levels]
        cost = None
        if compiled.cost is not None and GoalId.COST in compiled.model.goal_ids:
            cost = compiled.cost[[workload for _, workload, _ in classes]][:, self.nodes]
        talking = compiled.teams or compiled.pairs or compiled.groups
        weights = _traffic_weight(levels) if talking else None
        if weights is not None:
            index, per_cost = weights
            added = self._partner_costs(classes, per_cost)
            if any(any(row) for row in added):
                cost = np.array(added, dtype=object) if cost is None else cost + np.array(added, dtype=object)
                if GoalId.COST not in {goal.id for goal in levels[index].goals}:
                    levels[index] = Level((*levels[index].goals, Goal(GoalId.COST)))
        return replace(compiled.model, levels=tuple(levels)), cost

    def _partner_costs(self, classes: list[tuple[str, int, tuple[int, ...]]], weight: Fraction) -> list[list[Fraction]]:
        partners = PartnerCosts(self.compiled, self.rest.counts)
        nodes = self.nodes.tolist()
        rows = []
        for _, workload, blocks in classes:
            rates = partners.by_block(blocks[0]) if len(blocks) == 1 else {}
            row = partners.costs(rates, nodes)
            if self.compiled.groups:
                row = [a + b for a, b in zip(row, partners.costs(partners.by_class(workload), nodes), strict=True)]
            rows.append([value * weight for value in row])
        return rows

    def _instance(self, classes: list[tuple[str, int, tuple[int, ...]]], capacity: Int64, pools: Int64) -> Instance:
        """The topology of the part, its classes and its rules."""
        compiled = self.compiled
        instance = compiled.instance
        labels, conflicts = self._conflicts(classes)
        domains = tuple(
            self._domain(index, labels, capacity[index], pools[index]) for index in range(len(self.domains))
        )
        workloads: tuple[WorkloadClass, ...] = tuple(
            replace(
                instance.workloads[workload],
                index=index,
                name=name,
                count=sum(self.members[block] for block in blocks),
            )
            for index, (name, workload, blocks) in enumerate(classes)
        )
        return replace(
            instance,
            domains=domains,
            workloads=workloads,
            teams=(),
            flows=(),
            conflicts=conflicts,
            moves=self._moves(),
        )

    def _moves(self) -> MoveCosts | None:
        moves = self.compiled.instance.moves
        if moves is None:
            return None
        members, amount = moves.limit_members, moves.limit_bytes
        return replace(
            moves,
            limit_members=None if members is None else max(0, members - self.rest.moved),
            limit_bytes=None if amount is None else max(0, amount - self.rest.moved_bytes),
        )

    def _conflicts(
        self, classes: list[tuple[str, int, tuple[int, ...]]]
    ) -> tuple[dict[int, dict[str, str]], tuple[Conflict, ...]]:
        """Labels by node, and a rule for every zone that the nodes touch: what the rest leaves of it."""
        compiled = self.compiled
        labels: dict[int, dict[str, str]] = {}
        rules: list[Conflict] = []
        groups = {compiled.instance.workloads[workload].group for _, workload, _ in classes}
        stated = [rule for rule in compiled.instance.conflicts if rule.group in groups]
        if not stated or Family.CONFLICT in compiled.model.ignore:
            return labels, ()
        members = self.rest.group_members()
        none = np.zeros(compiled.num_nodes, dtype=np.int64)
        for number, rule in enumerate(stated):
            held = members.get(rule.group, none)
            for index, zone in enumerate(compiled.instance.zones_of(rule.level)):
                touched = [node for node in self.freed.nodes if node in zone.nodes]
                if not touched:
                    continue
                label = f"zone {number} {index}"
                for node in touched:
                    labels.setdefault(node, {})[label] = "here"
                left = max(0, rule.at_most - int(held[np.array(zone.nodes)].sum()))
                rules.append(Conflict(rule.group, f"label:{label}", left))
        return labels, tuple(rules)

    def _domain(self, index: int, labels: Mapping[int, Mapping[str, str]], capacity: Int64, pools: Int64) -> Domain:
        """The domain with what the rest leaves of it; a node in use already costs nothing more to be used."""
        compiled = self.compiled
        domain = int(self.domains[index])
        entity = compiled.instance.domains[domain]
        column = {name: r for r, name in enumerate(compiled.resources)}
        left = {name: int(capacity[column[name]]) for name in entity.capacity}
        watts = self.watts[index]
        if watts is not None:
            left["power"] = int(watts // Fraction(10) ** compiled.instance.resources["power"].exponent)
        node = int(compiled.first_node[domain]) if entity.is_node else -1
        in_use = node in self.used
        power = entity.power
        if power is not None:
            power = self._power(power, node, in_use, left)
        own = labels.get(node, {}) if entity.is_node else {}
        return replace(
            entity,
            index=index,
            parent=None if entity.parent is None else int(self.domain_at[entity.parent]),
            children=tuple(int(self.domain_at[child]) for child in entity.children if self.domain_at[child] >= 0),
            first_node=int(np.searchsorted(self.nodes, entity.first_node)),
            end_node=int(np.searchsorted(self.nodes, entity.end_node)),
            end_domain=int(np.searchsorted(self.domains, entity.end_domain)),
            capacity=MappingProxyType(left),
            safety={name: max(0, v - int(self.use[domain, column[name]])) for name, v in entity.safety.items()},
            pool={name: int(pools[column[name]]) for name in entity.pool},
            labels={**entity.labels, **own},
            power=power,
            weight=Fraction(0) if in_use else entity.weight,
        )

    def _power(self, power: Power, node: int, in_use: bool, left: Mapping[str, int]) -> Power | None:
        """Idle draw only where the node is not in use, and the same slope over what is left of its compute."""
        compiled = self.compiled
        idle = Fraction(0) if in_use else power.idle
        r = int(compiled.compute_resource[node])
        if r < 0:
            return Power(idle, idle)
        whole = int(compiled.capacity[compiled.node_domain[node], r])
        return Power(idle, idle + (power.busy - power.idle) * Fraction(left[compiled.resources[r]], whole))


def _traffic_weight(levels: list[Level]) -> tuple[int, Fraction] | None:
    """Level of the goal ``traffic`` and its weight per unit of cost; None where a cost cannot stand for it."""
    place = [i for i, level in enumerate(levels) for goal in level.goals if goal.id is GoalId.TRAFFIC]
    if not place:
        return None
    goals = {goal.id: (i, goal.weight) for i, level in enumerate(levels) for goal in level.goals}
    index, weight = goals[GoalId.TRAFFIC]
    if GoalId.COST not in goals:
        return index, weight
    other, per_cost = goals[GoalId.COST]
    return (index, weight / per_cost) if other == index and per_cost > 0 else None
