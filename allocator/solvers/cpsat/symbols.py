"""The variables of the formulation and the sums every family is written in.

Owns names and sums; families add rows, goals add expressions. Symbols: n[b, o, h] members of block b in option o on
node h; U_dr use of resource r in domain d (floors plus excess shares); a_bd members of block b in domain d.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.instance.zones import Zone
from allocator.model.families import Family
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat.builder import Builder
from allocator.solvers.cpsat.derived import presence
from allocator.solvers.cpsat.linear import Linear, total

__all__ = ["Rate", "Symbols", "most_members"]


@dataclass(frozen=True, slots=True)
class Rate:
    """Tasks/s (``value``) of the members counted by one n[b, o, h]."""

    workload: int
    value: Linear


@dataclass
class Symbols:
    """Variables by what they mean. ``excess[h, r]``: shares above the floors on node h, summed.

    ``grain[r]``: amounts that one unit of a share variable stands for; missing: 1.
    """

    compiled: Compiled
    builder: Builder
    budget: Budget
    grain: Mapping[int, int] = field(default_factory=dict)
    n: dict[tuple[int, int, int], int] = field(default_factory=dict)
    on_node: list[list[tuple[int, int, int]]] = field(default_factory=list)  # node -> (block, option, variable)
    of_block: list[list[tuple[int, int, int]]] = field(default_factory=list)  # block -> (option, node, variable)
    excess: dict[tuple[int, int], Linear] = field(default_factory=dict)
    shares: dict[tuple[int, int, int, int], int] = field(default_factory=dict)  # of members of n[b, o, h], in grains
    rates: list[Rate] = field(default_factory=list)
    cache: dict[tuple[object, ...], Linear] = field(default_factory=dict)
    presences: dict[tuple[object, ...], int] = field(default_factory=dict)

    def holds(self, family: Family) -> bool:
        """Whether the model keeps the family."""
        return family not in self.compiled.model.ignore

    def nodes_of(self, domain: int) -> range:
        """Nodes of a domain."""
        return range(int(self.compiled.first_node[domain]), int(self.compiled.end_node[domain]))

    def use(self, domain: int, resource: int) -> Linear:
        """U_dr, amounts."""
        key = "use", domain, resource
        if key not in self.cache:
            self.cache[key] = total(self.node_use(node, resource) for node in self.nodes_of(domain))
        return self.cache[key]

    def node_use(self, node: int, resource: int) -> Linear:
        """U_hr, amounts."""
        key = "node use", node, resource
        if key not in self.cache:
            used = self.node_floors(node, resource)
            excess = self.excess.get((node, resource))
            self.cache[key] = used if excess is None else used.plus(excess)
        return self.cache[key]

    def node_floors(self, node: int, resource: int) -> Linear:
        """Floors of the members on a node, summed."""
        floors = self.compiled.floor[:, self.compiled.node_kind[node], resource]
        used = Linear()
        for _, option, variable in self.on_node[node]:
            used.add(variable, int(floors[option]))
        return used

    def count(self, block: int, first: int, end: int) -> Linear:
        """a_bd: members of a block on nodes first..end - 1."""
        key = "count", block, first, end
        if key not in self.cache:
            inside = Linear()
            for _, node, variable in self.of_block[block]:
                if first <= node < end:
                    inside.add(variable, 1)
            self.cache[key] = inside
        return self.cache[key]

    def placed(self, block: int) -> Linear:
        """Members of a block that stand somewhere."""
        return self.count(block, 0, self.compiled.num_nodes)

    def group_count(self, group: str, zone: Zone) -> Linear:
        """Members of a group in a zone."""
        key = "group", group, zone
        if key not in self.cache:
            workloads = self.compiled.instance.workloads
            blocks = [block.index for block in self.compiled.blocks if workloads[block.workload].group == group]
            inside = Linear()
            nodes = frozenset(zone.nodes)
            for block in blocks:
                for _, node, variable in self.of_block[block]:
                    if node in nodes:
                        inside.add(variable, 1)
            self.cache[key] = inside
        return self.cache[key]

    def moved(self, block: int) -> Linear:
        """Members of a block that leave the node they run on now; 0 for a block that does not run."""
        entity = self.compiled.blocks[block]
        if entity.current_node < 0:
            return Linear()
        here = self.count(block, entity.current_node, entity.current_node + 1)
        return Linear(entity.count).plus(here, -1)

    def in_use(self, node: int) -> int | None:
        """0-1 variable: the node holds a member; None when no member may stand there."""
        if not self.on_node[node]:
            return None
        key = "in use", node
        if key not in self.presences:
            members = Linear()
            for _, _, variable in self.on_node[node]:
                members.add(variable, 1)
            self.presences[key] = presence(self.builder, members, "the number of members on a node")
        return self.presences[key]

    def group_presence(self, group: str, zone: Zone) -> int | None:
        """0-1 variable: a member of the group is in the zone; None when none may be."""
        members = self.group_count(group, zone)
        if not members.terms:
            return None
        key = "present", group, zone
        if key not in self.presences:
            self.presences[key] = presence(self.builder, members, f"the size of group {group}")
        return self.presences[key]

    def share(self, key: tuple[int, int, int, int]) -> Linear:
        """Total share, an amount, of the members of n[b, o, h] of resource r, where it is a variable."""
        return Linear().add(self.shares[key], self.grain.get(key[3], 1))

    def base(self, resource: int) -> Fraction:
        """Base units of one unit of an amount."""
        entity = self.compiled.instance.resources[self.compiled.resources[resource]]
        return Fraction(10) ** entity.exponent


def most_members(compiled: Compiled, block: int, option: int, node: int) -> int:
    """Upper bound of n[b, o, h]: the block's size, what the limits at or above the node can hold; 0: may not stand."""
    if not compiled.eligible[option, node]:
        return 0
    entity = compiled.blocks[block]
    most = entity.count
    floors = compiled.floor[option, compiled.node_kind[node]]
    domain = int(compiled.node_domain[node])
    while domain >= 0:
        old = entity.current_node
        if compiled.overfull[domain] and not compiled.first_node[domain] <= old < compiled.end_node[domain]:
            return 0
        if most > 1:
            for limit, floor in zip(compiled.limit[domain].tolist(), floors.tolist(), strict=True):
                if floor > 0 <= limit:
                    most = min(most, limit // floor)
        domain = int(compiled.parent[domain])
    return most
