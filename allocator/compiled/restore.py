"""Assignment in counts to a plan with member numbers, and back (warm starts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from allocator.compiled.entities import Block, Compiled, GangUnit
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup

__all__ = ["Counts", "assignment_of", "plan_of"]

Counts = Mapping[tuple[int, int, int], int]
Shares = Mapping[tuple[int, int, int, int], int]
Theta = Mapping[tuple[str, int], Fraction]
Spot = tuple[int, int, tuple[int, ...]]  # option, node, share of every resource


def plan_of(compiled: Compiled, counts: Counts, shares: Shares, theta: Theta) -> Plan:
    """Number the members of an assignment. Members of a block that stay where they run now keep their numbers' order.

    Totals of shares are split evenly over the members of a (block, option, node), the remainder one unit each.
    """
    placed: dict[int, list[tuple[int, int, int]]] = {}
    for (index, option, node), count in sorted(counts.items()):
        if count:
            placed.setdefault(index, []).append((option, node, count))
    dealt = _deal_gangs(compiled, placed)
    groups: list[PlacedGroup] = []
    unplaced: list[UnplacedGroup] = []
    spots: dict[int, list[tuple[int, Spot]]] = {}
    for block in compiled.blocks:
        numbers = _numbers(block)
        order = dealt.get(block.index) or _in_order(placed.get(block.index, []))
        share_of = _splitter(compiled, block, shares, counts)
        for number, (option, node) in zip(numbers, order, strict=False):
            spots.setdefault(block.workload, []).append((number, (option, node, share_of(option, node))))
    for workload in compiled.instance.workloads:
        found = sorted(spots.get(workload.index, []))
        groups.extend(_runs(compiled, workload.index, found))
        unplaced.extend(_gaps(workload.name, workload.count, [number for number, _ in found]))
    return Plan(
        compiled.instance.name,
        compiled.instance.digest,
        tuple(groups),
        _grants(compiled, theta),
        tuple(unplaced),
        compiled.model.name,
    )


def _numbers(block: Block) -> Iterator[int]:
    for first, count in block.ranges:
        yield from range(first, first + count)


def _in_order(spots: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    return [(option, node) for option, node, count in spots for _ in range(count)]


def _splitter(
    compiled: Compiled, block: Block, shares: Shares, counts: Counts
) -> Callable[[int, int], tuple[int, ...]]:
    """Return a function that hands out the shares of successive members of a (option, node) of the block."""
    num_resources = len(compiled.resources)
    given: dict[tuple[int, int], int] = {}
    totals: dict[tuple[int, int], list[int]] = {}

    def share_of(option: int, node: int) -> tuple[int, ...]:
        key = option, node
        count = counts[block.index, option, node]
        if key not in totals:
            floors = compiled.floor[option, compiled.node_kind[node]]
            totals[key] = [
                int(shares.get((block.index, option, node, r), int(floors[r]) * count)) for r in range(num_resources)
            ]
        position = given.get(key, 0)
        given[key] = position + 1
        return tuple(total // count + (1 if position < total % count else 0) for total in totals[key])

    return share_of


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


def _runs(compiled: Compiled, workload: int, found: list[tuple[int, Spot]]) -> Iterator[PlacedGroup]:
    """Pack consecutive members: same node, mode and shares; or same mode and shares on a list of nodes."""
    entity = compiled.instance.workloads[workload]
    paths = [node.path for node in compiled.instance.nodes]
    start = 0
    while start < len(found):
        first, (option, _, share) = found[start]
        end = start + 1
        while (
            end < len(found)
            and found[end][0] == first + end - start
            and found[end][1][0] == option
            and found[end][1][2] == share
        ):
            end += 1
        nodes = tuple(paths[spot[1]] for _, spot in found[start:end])
        mode = entity.modes[int(compiled.option_mode[option])].name
        amounts = {name: share[r] for r, name in enumerate(compiled.resources) if share[r]}
        yield PlacedGroup(entity.name, first, end - start, mode, nodes[:1] if len(set(nodes)) == 1 else nodes, amounts)
        start = end


def _gaps(name: str, count: int, numbers: list[int]) -> Iterator[UnplacedGroup]:
    expected = 0
    for number in [*numbers, count]:
        if number > expected:
            yield UnplacedGroup(name, expected, number - expected, "not placed")
        expected = number + 1


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
    block_of: dict[tuple[str, int], int] = {}
    for block in compiled.blocks:
        name = compiled.instance.workloads[block.workload].name
        for number in _numbers(block):
            block_of[name, number] = block.index
    counts: dict[tuple[int, int, int], int] = {}
    shares: dict[tuple[int, int, int, int], int] = {}
    column = {name: r for r, name in enumerate(compiled.resources)}
    for group in plan.placements:
        entity = compiled.instance.workload_by_name.get(group.workload)
        mode = next((i for i, m in enumerate(entity.modes) if m.name == group.mode), None) if entity else None
        if entity is None or mode is None:
            continue
        option = int(compiled.first_option[entity.index]) + mode
        for offset in range(group.count):
            member = block_of.get((group.workload, group.first + offset))
            node = compiled.instance.node_index.get(group.node_of(offset))
            if member is None or node is None:
                continue
            counts[member, option, node] = counts.get((member, option, node), 0) + 1
            floors = compiled.floor[option, compiled.node_kind[node]]
            for name, r in column.items():
                key = member, option, node, r
                shares[key] = shares.get(key, 0) + group.shares.get(name, int(floors[r]))
    names: dict[tuple[str, str], tuple[str, int]] = {}
    names.update({(team.name, team.name): ("team", team.index) for team in compiled.teams})
    names.update({(p.source_name, p.target_name): ("pair", i) for i, p in enumerate(compiled.pairs)})
    names.update({(g.source_name, g.target_name): ("group", i) for i, g in enumerate(compiled.groups)})
    theta = {names[f.source, f.target]: f.granted for f in plan.flows if (f.source, f.target) in names}
    return counts, shares, theta
