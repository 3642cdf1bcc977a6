"""Exact value of every goal (equations 15 to 27) and level at an assignment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.instance.entities import MoveCosts
from allocator.model.entities import Goal
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.loads import Crossings, FlowEnds, crossings_of, flow_ends
from allocator.solvers.evaluation.power import node_watts
from allocator.solvers.evaluation.rates import class_rates
from allocator.solvers.evaluation.response import exact_sum, p99_value
from allocator.solvers.evaluation.spots import SpotTable, spot_table
from allocator.solvers.evaluation.use import domain_use, node_use

__all__ = ["CONGESTION_PIECES", "GOALS", "Evaluation", "goal_value", "level_values"]

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


@dataclass(frozen=True)
class Evaluation:
    """An assignment and what several goals need of it, computed once."""

    compiled: Compiled
    assignment: Assignment

    @cached_property
    def spots(self) -> SpotTable:
        """Occupied spots."""
        return spot_table(self.compiled, self.assignment.counts)

    @cached_property
    def ends(self) -> FlowEnds:
        """Ends of the flows."""
        return flow_ends(self.compiled, self.spots)

    @cached_property
    def crossings(self) -> Crossings:
        """Crossings of the flows."""
        return crossings_of(self.compiled, self.ends)

    @cached_property
    def rates(self) -> list[Fraction]:
        """Tasks/s by class."""
        return class_rates(self.compiled, self.assignment)

    @cached_property
    def node_use(self) -> list[list[int]]:
        """U[N][R]."""
        return node_use(self.compiled, self.assignment.counts, self.assignment.shares)

    @cached_property
    def use(self) -> list[list[int]]:
        """U[D][R]."""
        return domain_use(self.compiled, self.node_use)

    @cached_property
    def used_nodes(self) -> list[int]:
        """Nodes that hold a member, ascending."""
        return sorted({node for (_, _, node), count in self.assignment.counts.items() if count})

    def value(self, goal: Goal) -> Fraction:
        """Value of one goal."""
        return GOALS[goal.id](self, goal)


def goal_value(compiled: Compiled, assignment: Assignment, goal: Goal) -> Fraction:
    """Value of one goal."""
    return Evaluation(compiled, assignment).value(goal)


def level_values(compiled: Compiled, assignment: Assignment) -> tuple[Fraction, ...]:
    """Value of every level of the model."""
    evaluation = Evaluation(compiled, assignment)
    return tuple(
        level.combine({goal.id: evaluation.value(goal) for goal in level.goals}) for level in compiled.model.levels
    )


def _placed(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    spots = evaluation.spots
    number = np.bincount(spots.workload, weights=spots.count, minlength=1).tolist()
    workloads = evaluation.compiled.instance.workloads
    return sum((workloads[index].value * int(members) for index, members in enumerate(number) if members), Fraction(0))


def _throughput(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    workloads = evaluation.compiled.instance.workloads
    return sum((w.weight * rate for w, rate in zip(workloads, evaluation.rates, strict=True)), Fraction(0))


def _fairness(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    return min(
        (
            rate / (w.rate * w.count)
            for w, rate in zip(evaluation.compiled.instance.workloads, evaluation.rates, strict=True)
            if w.rate * w.count > 0
        ),
        default=Fraction(1),
    )


def _p99(evaluation: Evaluation, goal: Goal) -> Fraction:
    return p99_value(evaluation.compiled, evaluation.assignment, worst=goal.worst)


def _traffic(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    compiled = evaluation.compiled
    if compiled.instance.distances.matrix is not None:
        return _matrix_traffic(compiled, evaluation.ends, compiled.instance.distances.matrix)
    total = Fraction(0)
    for side in ("up", "down"):
        for domain, load in evaluation.crossings.loads(side).items():
            uplink = compiled.instance.domains[domain].uplink
            if uplink is not None:
                total += uplink.weight * load
    return total


def _matrix_traffic(compiled: Compiled, ends: FlowEnds, matrix: Mapping[tuple[str, str], Fraction]) -> Fraction:
    paths = [node.path for node in compiled.instance.nodes]
    by_flow: dict[int, list[tuple[int, int, int]]] = {}
    for flow, *entry in zip(
        ends.flow.tolist(), ends.node.tolist(), ends.senders.tolist(), ends.receivers.tolist(), strict=True
    ):
        by_flow.setdefault(flow, []).append((entry[0], entry[1], entry[2]))
    numbers: dict[tuple[Fraction, int, int], int] = {}
    for flow, entries in by_flow.items():
        rate, same = ends.rates[flow], bool(ends.same[flow])
        for h, sent, _ in entries:
            for k, _, received in entries:
                number = sent * (received - 1 if same and h == k else received)
                if number:
                    numbers[rate, h, k] = numbers.get((rate, h, k), 0) + number
    return sum(
        (rate * number * matrix.get((paths[h], paths[k]), 0) for (rate, h, k), number in numbers.items()), Fraction(0)
    )


def _cost(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    cost = evaluation.compiled.cost
    if cost is None:
        return Fraction(0)
    spots = evaluation.spots
    numbers: dict[Fraction, int] = {}
    for price, count in zip(cost[spots.workload, spots.node].tolist(), spots.count.tolist(), strict=True):
        numbers[price] = numbers.get(price, 0) + count
    return sum((price * count for price, count in numbers.items()), Fraction(0))


def _congestion(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    total = Fraction(0)
    loads = [item for side in ("up", "down") for item in evaluation.crossings.loads(side).items()]
    for domain, load in loads:
        uplink = evaluation.compiled.instance.domains[domain].uplink
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


def _peak(evaluation: Evaluation, goal: Goal) -> Fraction:
    compiled, use = evaluation.compiled, evaluation.use
    resources = compiled.instance.resources
    names = goal.resources or tuple(name for name in resources if name != "power")
    domains = compiled.instance.domains if goal.at_level is None else compiled.instance.domains_of(goal.at_level)
    return max(
        (
            Fraction(use[domain.index][compiled.resources.index(name)], domain.capacity[name])
            for domain in domains
            for name in names
            if domain.capacity.get(name, 0) > 0
        ),
        default=Fraction(0),
    )


def _overload(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    compiled, use = evaluation.compiled, evaluation.use
    total = Fraction(0)
    for domain in compiled.instance.domains:
        for name, safety in domain.safety.items():
            resource = compiled.instance.resources[name]
            above = max(0, use[domain.index][compiled.resources.index(name)] - safety)
            total += resource.overload * above * Fraction(10) ** resource.exponent
    return total


def _balance(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    compiled, use = evaluation.compiled, evaluation.use
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


def _moves(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    compiled, assignment = evaluation.compiled, evaluation.assignment
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
        left = block_entity.count - stay.get(block_entity.index, 0)
        if left and block_entity.current_node >= 0:
            workload = compiled.instance.workloads[block_entity.workload]
            process += workload.move_cost * left
            by_group[workload.group] = by_group.get(workload.group, 0) + left
    service = max(by_group.values(), default=0)
    return stated.process * process + stated.service * service + stated.machine * machine


def _nodes(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    nodes = evaluation.compiled.instance.nodes
    return sum((nodes[node].weight for node in evaluation.used_nodes), Fraction(0))


def _power(evaluation: Evaluation, goal: Goal) -> Fraction:  # noqa: ARG001 - one signature
    compiled, use = evaluation.compiled, evaluation.node_use
    return exact_sum(node_watts(compiled, node, use[node]) for node in evaluation.used_nodes)


GOALS: dict[GoalId, Callable[[Evaluation, Goal], Fraction]] = {
    GoalId.PLACED: _placed,
    GoalId.THROUGHPUT: _throughput,
    GoalId.FAIRNESS: _fairness,
    GoalId.P99: _p99,
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
