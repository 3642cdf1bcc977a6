"""Assignment in counts to a plan with member numbers, and back (warm starts)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import groupby, pairwise

from allocator.compiled.entities import Compiled, GangUnit
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup

__all__ = ["Counts", "assignment_of", "plan_of"]

Counts = Mapping[tuple[int, int, int], int]
Shares = Mapping[tuple[int, int, int, int], int]
Theta = Mapping[tuple[str, int], Fraction]
UNPLACED = -1


def plan_of(compiled: Compiled, counts: Counts, shares: Shares, theta: Theta) -> Plan:
    """Number the members of an assignment. Members of a block that stay where they run now keep their numbers' order.

    Totals of shares are split evenly over the members of a (block, option, node), the remainder one unit each.
    """
    placed: dict[int, list[tuple[int, int, int]]] = {}
    for (index, option, node), count in sorted(counts.items()):
        if count:
            placed.setdefault(index, []).append((option, node, count))
    dealt = _deal_gangs(compiled, placed)
    likes = _Likes(compiled, shares)
    like_of = [[UNPLACED] * workload.count for workload in compiled.instance.workloads]
    node_of = [[UNPLACED] * workload.count for workload in compiled.instance.workloads]
    for block in compiled.blocks:
        spots = placed.get(block.index)
        if spots is None:
            continue
        by_spot = {(option, node): likes.of_spot(block.index, option, node, count) for option, node, count in spots}
        order = dealt.get(block.index)
        if order:
            left = {spot: iter(alike) for spot, alike in by_spot.items()}
            alike = [next(left[spot]) for spot in order]
            nodes = [node for _, node in order]
        else:
            alike = [like for each in by_spot.values() for like in each]
            nodes = [node for _, node, count in spots for _ in range(count)]
        done = 0
        for first, count in block.ranges:
            taken = min(count, len(nodes) - done)
            like_of[block.workload][first : first + taken] = alike[done : done + taken]
            node_of[block.workload][first : first + taken] = nodes[done : done + taken]
            done += taken
    groups: list[PlacedGroup] = []
    unplaced: list[UnplacedGroup] = []
    paths = [node.path for node in compiled.instance.nodes]
    for workload, of, at in zip(compiled.instance.workloads, like_of, node_of, strict=True):
        first = 0
        for like, run in groupby(of):
            count = sum(1 for _ in run)
            if like == UNPLACED:
                unplaced.append(UnplacedGroup(workload.name, first, count, "not placed"))
            else:
                nodes = at[first : first + count]
                stands = nodes[:1] if nodes.count(nodes[0]) == count else nodes
                mode, amounts = likes.mode_and_shares(like)
                at_paths = tuple([paths[node] for node in stands])
                groups.append(PlacedGroup(workload.name, first, count, mode, at_paths, amounts))
            first += count
    return Plan(
        compiled.instance.name,
        compiled.instance.digest,
        tuple(groups),
        _grants(compiled, theta),
        tuple(unplaced),
        compiled.model.name,
    )


class _Likes:
    """Numbers for what members have in common in a plan: option (that is mode) and shares."""

    def __init__(self, compiled: Compiled, shares: Shares) -> None:
        self._compiled = compiled
        self._kinds = compiled.node_kind.tolist()
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        self._entries: list[tuple[str, Mapping[str, int]]] = []
        self._floors: dict[tuple[int, int], list[int]] = {}
        self._given: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        for (block, option, node, resource), total in shares.items():
            self._given.setdefault((block, option, node), []).append((resource, int(total)))

    def of_spot(self, block: int, option: int, node: int, count: int) -> list[int]:
        """Numbers of successive members of a block in one option on one node."""
        kind = self._kinds[node]
        floors = self._floors.get((option, kind))
        if floors is None:
            floors = self._floors[option, kind] = self._compiled.floor[option, kind].tolist()
        given = self._given.get((block, option, node))
        if given is None:
            return [self._number(option, tuple(floors))] * count
        totals = [floor * count for floor in floors]
        for resource, total in given:
            totals[resource] = total
        alike: list[int] = []
        for start, end in pairwise(sorted({0, count, *(total % count for total in totals)})):
            share = tuple([total // count + (start < total % count) for total in totals])
            alike += [self._number(option, share)] * (end - start)
        return alike

    def mode_and_shares(self, number: int) -> tuple[str, Mapping[str, int]]:
        """What the members of that number have: mode, and amount of every resource they have a share of."""
        return self._entries[number]

    def _number(self, option: int, share: tuple[int, ...]) -> int:
        key = (option, share)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._entries)
            compiled = self._compiled
            workload = compiled.instance.workloads[int(compiled.option_workload[option])]
            mode = workload.modes[int(compiled.option_mode[option])].name
            amounts = {name: amount for name, amount in zip(compiled.resources, share, strict=True) if amount}
            self._entries.append((mode, amounts))
        return found


def _deal_gangs(
    compiled: Compiled, placed: Mapping[int, list[tuple[int, int, int]]]
) -> dict[int, list[tuple[int, int]]]:
    """Order of spots for gang blocks so that every consecutive ``size`` members form one gang (equation 9)."""
    dealt: dict[int, list[tuple[int, int]]] = {}
    for unit in compiled.gangs:
        if unit.replicas == 1 and len(unit.blocks) > 1:
            continue  # one gang, split by current node: any order within a block will do
        block = unit.blocks[0]
        dealt[block] = list(_deal(compiled, unit, placed.get(block, [])))
    return dealt


def _deal(compiled: Compiled, unit: GangUnit, spots: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    for domain in compiled.outermost(unit.level):
        for option in compiled.options_of(unit.workload):
            seats = [
                (option, node)
                for o, node, count in spots
                if o == option and domain.first_node <= node < domain.end_node
                for _ in range(count)
            ]
            replicas = len(seats) // unit.size
            for replica in range(replicas):
                yield from seats[replica::replicas]


def _grants(compiled: Compiled, theta: Theta) -> tuple[FlowGrant, ...]:
    grants = []
    for (kind, index), granted in sorted(theta.items()):
        if kind == "team":
            source = target = compiled.teams[index].name
        else:
            flow = compiled.pairs[index] if kind == "pair" else compiled.groups[index]
            source, target = flow.source_name, flow.target_name
        if granted:
            grants.append(FlowGrant(source, target, granted))
    return tuple(grants)


def assignment_of(
    compiled: Compiled, plan: Plan
) -> tuple[dict[tuple[int, int, int], int], dict[tuple[int, int, int, int], int], dict[tuple[str, int], Fraction]]:
    """Counts, totals of shares and granted fractions of a plan; members the instance does not know are left out."""
    block_of = {workload.name: [UNPLACED] * workload.count for workload in compiled.instance.workloads}
    for block in compiled.blocks:
        of = block_of[compiled.instance.workloads[block.workload].name]
        for first, count in block.ranges:
            of[first : first + count] = [block.index] * count
    counts: dict[tuple[int, int, int], int] = {}
    shares: dict[tuple[int, int, int, int], int] = {}
    kinds = compiled.node_kind.tolist()
    for group in plan.placements:
        entity = compiled.instance.workload_by_name.get(group.workload)
        mode = next((i for i, m in enumerate(entity.modes) if m.name == group.mode), None) if entity else None
        if entity is None or mode is None:
            continue
        option = int(compiled.first_option[entity.index]) + mode
        amounts: dict[int, list[int]] = {}
        blocks = block_of[group.workload]
        for offset in range(max(0, -group.first), min(group.count, entity.count - group.first)):
            node = compiled.instance.node_index.get(group.node_of(offset))
            if node is None:
                continue
            kind, key = kinds[node], (blocks[group.first + offset], option, node)
            if kind not in amounts:
                floors = compiled.floor[option, kind].tolist()
                amounts[kind] = [
                    group.shares.get(name, floor) for name, floor in zip(compiled.resources, floors, strict=True)
                ]
            counts[key] = counts.get(key, 0) + 1
            for r, amount in enumerate(amounts[kind]):
                shares[(*key, r)] = shares.get((*key, r), 0) + amount
    names: dict[tuple[str, str], tuple[str, int]] = {}
    names.update({(team.name, team.name): ("team", team.index) for team in compiled.teams})
    names.update({(p.source_name, p.target_name): ("pair", i) for i, p in enumerate(compiled.pairs)})
    names.update({(g.source_name, g.target_name): ("group", i) for i, g in enumerate(compiled.groups)})
    theta = {names[f.source, f.target]: f.granted for f in plan.flows if (f.source, f.target) in names}
    return counts, shares, theta
