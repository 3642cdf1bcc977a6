"""Exact value of every goal (equations 15 to 26) and level at an assignment."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.instance.entities import MoveCosts
from allocator.model.entities import Goal
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.loads import flow_crossings
from allocator.solvers.evaluation.power import node_watts
from allocator.solvers.evaluation.rates import class_rates
from allocator.solvers.evaluation.use import domain_use, node_use

__all__ = ["CONGESTION_PIECES", "GOALS", "goal_value", "level_values"]

# (load over capacity where the piece begins, slope): Fortz and Thorup 2000, "Internet traffic engineering by
# optimizing OSPF weights"
CONGESTION_PIECES = (
    (Fraction(0), 1),
    (Fraction(1, 3), 3),
    (Fraction(2, 3), 10),
    (Fraction(9, 10), 70),
    (Fraction(1), 500),
    (Fraction(11, 10), 5000),
)


def goal_value(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:
    """Value of one goal."""
    return GOALS[goal.id](compiled, assignment, goal)


def level_values(compiled: Compiled, assignment: Assignment) -> tuple[Fraction, ...]:
    """Value of every level of the model."""
    return tuple(
        level.combine({goal.id: goal_value(compiled, assignment, goal) for goal in level.goals})
        for level in compiled.model.levels
    )


def _placed(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    workloads = compiled.instance.workloads
    return sum(
        (workloads[compiled.blocks[b].workload].value * count for (b, _, _), count in assignment.counts.items()),
        Fraction(0),
    )


def _throughput(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    rates = class_rates(compiled, assignment)
    return sum((w.weight * rate for w, rate in zip(compiled.instance.workloads, rates, strict=True)), Fraction(0))


def _fairness(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    rates = class_rates(compiled, assignment)
    return min(
        (
            rate / (w.rate * w.count)
            for w, rate in zip(compiled.instance.workloads, rates, strict=True)
            if w.rate * w.count > 0
        ),
        default=Fraction(1),
    )


def _traffic(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    matrix = compiled.instance.distances.matrix
    paths = [node.path for node in compiled.instance.nodes]
    total = Fraction(0)
    for flow in flow_crossings(compiled, assignment.counts):
        if matrix is not None:
            crossed = sum(
                (matrix.get((paths[h], paths[k]), Fraction(0)) * number for (h, k), number in flow.pairs.items()),
                Fraction(0),
            )
        else:
            crossed = Fraction(0)
            for side in (flow.up, flow.down):
                for domain, number in side.items():
                    uplink = compiled.instance.domains[domain].uplink
                    crossed += number * (uplink.weight if uplink else 0)
        total += flow.rate * crossed
    return total


def _cost(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    if compiled.cost is None:
        return Fraction(0)
    return sum(
        (compiled.cost[compiled.blocks[b].workload, node] * count for (b, _, node), count in assignment.counts.items()),
        Fraction(0),
    )


def _congestion(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    loads: dict[tuple[int, int], Fraction] = {}
    for flow in flow_crossings(compiled, assignment.counts):
        for direction, side in enumerate((flow.up, flow.down)):
            for domain, number in side.items():
                key = domain, direction
                loads[key] = loads.get(key, Fraction(0)) + flow.rate * number
    total = Fraction(0)
    for (domain, _), load in loads.items():
        uplink = compiled.instance.domains[domain].uplink
        if uplink is not None and uplink.bandwidth == 0:
            total += CONGESTION_PIECES[-1][1] * load
        elif uplink is not None and uplink.bandwidth is not None:
            ratio = load / uplink.bandwidth
            ends = [start for start, _ in CONGESTION_PIECES[1:]] + [ratio]
            price = sum(
                (slope * max(Fraction(0), min(ratio, end) - start)
                 for (start, slope), end in zip(CONGESTION_PIECES, ends, strict=True)),
                Fraction(0),
            )  # fmt: skip
            total += uplink.bandwidth * price
    return total


def _peak(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:
    resources = compiled.instance.resources
    names = goal.resources or tuple(name for name in resources if name != "power")
    domains = compiled.instance.domains if goal.at_level is None else compiled.instance.domains_of(goal.at_level)
    use = domain_use(compiled, node_use(compiled, assignment.counts, assignment.shares))
    return max(
        (
            Fraction(use[domain.index][compiled.resources.index(name)], domain.capacity[name])
            for domain in domains
            for name in names
            if domain.capacity.get(name, 0) > 0
        ),
        default=Fraction(0),
    )


def _overload(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    use = domain_use(compiled, node_use(compiled, assignment.counts, assignment.shares))
    total = Fraction(0)
    for domain in compiled.instance.domains:
        for name, safety in domain.safety.items():
            resource = compiled.instance.resources[name]
            above = max(0, use[domain.index][compiled.resources.index(name)] - safety)
            total += resource.overload * above * Fraction(10) ** resource.exponent
    return total


def _balance(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    use = domain_use(compiled, node_use(compiled, assignment.counts, assignment.shares))
    total = Fraction(0)
    for triple in compiled.instance.balance:
        for domain in compiled.instance.domains_of(triple.level):
            free = [
                (domain.capacity.get(name, 0) - use[domain.index][compiled.resources.index(name)])
                * Fraction(10) ** compiled.instance.resources[name].exponent
                for name in (triple.first, triple.second)
            ]
            total += triple.weight * max(Fraction(0), triple.target * free[0] - free[1])
    return total


def _moves(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    stated = compiled.instance.moves or MoveCosts()
    paths = [node.path for node in compiled.instance.nodes]
    stay: dict[int, int] = {}
    machine = Fraction(0)
    for (block, _, node), count in assignment.counts.items():
        origin = compiled.blocks[block].current_node
        if origin == node:
            stay[block] = stay.get(block, 0) + count
        elif origin >= 0:
            machine += count * stated.machine_cost.get((paths[origin], paths[node]), Fraction(0))
    process = Fraction(0)
    by_group: dict[str, int] = {}
    for block_entity in compiled.blocks:
        if block_entity.current_node >= 0:
            workload = compiled.instance.workloads[block_entity.workload]
            left = block_entity.count - stay.get(block_entity.index, 0)
            process += workload.move_cost * left
            by_group[workload.group] = by_group.get(workload.group, 0) + left
    service = max(by_group.values(), default=0)
    return stated.process * process + stated.service * service + stated.machine * machine


def _used_nodes(assignment: Assignment) -> set[int]:
    return {node for (_, _, node), count in assignment.counts.items() if count}


def _nodes(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return sum((compiled.instance.nodes[node].weight for node in _used_nodes(assignment)), Fraction(0))


def _power(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    use = node_use(compiled, assignment.counts, assignment.shares)
    return sum((node_watts(compiled, node, use[node]) for node in _used_nodes(assignment)), Fraction(0))


GOALS: dict[GoalId, Callable[[Compiled, Assignment, Goal], Fraction]] = {
    GoalId.PLACED: _placed,
    GoalId.THROUGHPUT: _throughput,
    GoalId.FAIRNESS: _fairness,
    GoalId.TRAFFIC: _traffic,
    GoalId.COST: _cost,
    GoalId.CONGESTION: _congestion,
    GoalId.PEAK: _peak,
    GoalId.OVERLOAD: _overload,
    GoalId.BALANCE: _balance,
    GoalId.MOVES: _moves,
    GoalId.NODES: _nodes,
    GoalId.POWER: _power,
}
