"""A plan for a generated instance by first principles: large members first, each where most stays free.

Knows floors, capacities at every domain, architectures, gangs, and stores on different sleds; judged by the checker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allocator.instance.entities import Demand, Instance, WorkloadClass
from allocator.plan.entities import PlacedGroup, Plan


class Room:
    """Free amounts by domain."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.free = [dict(domain.capacity) for domain in instance.domains]
        self.above = [[domain.index for domain in instance.ancestors(node)] for node in instance.nodes]

    def fits(self, node: int, demand: Mapping[str, int]) -> bool:
        chain = [self.free[domain] for domain in self.above[node]]
        return all(
            any(resource in free for free in chain)
            and all(free[resource] >= amount for free in chain if resource in free)
            for resource, amount in demand.items()
        )

    def left(self, node: int, demand: Mapping[str, int]) -> float:
        """Least part of any capacity that stays free at or above the node."""
        return min(
            (self.free[domain][resource] - amount) / self.instance.domains[domain].capacity[resource]
            for resource, amount in demand.items()
            for domain in self.above[node]
            if resource in self.free[domain]
        )

    def take(self, node: int, demand: Mapping[str, int]) -> None:
        for domain in self.above[node]:
            for resource, amount in demand.items():
                if resource in self.free[domain]:
                    self.free[domain][resource] -= amount


def pack(instance: Instance) -> Plan:
    """Plan with every member at its floor; fails an assertion where one finds no place."""
    room = Room(instance)
    ruled = {rule.group for rule in (*instance.conflicts, *instance.spreads)}

    def order(workload: WorkloadClass) -> tuple[bool, float]:
        size = max(
            (amount / max(node.capacity.get(resource, 1) for node in instance.nodes))
            for resource, amount in workload.modes[0].default.requests.items()
        )
        return workload.group not in ruled, -size

    groups = []
    for workload in sorted(instance.workloads, key=order):
        used: list[int] = []
        for member in range(workload.count):
            node = _best(room, workload, used, apart=workload.group in ruled)
            room.take(node, _demand(instance, workload, node).requests)
            used.append(node)
            groups.append(
                PlacedGroup(
                    workload.name,
                    member,
                    1,
                    workload.modes[0].name,
                    (instance.nodes[node].path,),
                    dict(_demand(instance, workload, node).requests),
                )
            )
    return Plan(instance.name, instance.digest, tuple(groups), (), (), "place")


def _demand(instance: Instance, workload: WorkloadClass, node: int) -> Demand:
    kind = instance.nodes[node].kind
    assert kind is not None
    return workload.modes[0].demand(kind)


def _best(room: Room, workload: WorkloadClass, used: Sequence[int], *, apart: bool) -> int:
    instance = room.instance
    accepted = workload.placement.require.get("arch")
    gang = workload.placement.gang
    sleds = {room.above[node][1] for node in used} if apart else set()
    recent = set(used[-(len(used) % gang.size) :]) if gang and len(used) % gang.size else set()
    best, best_left = -1, -1.0
    for node, domain in enumerate(instance.nodes):
        if accepted and domain.labels.get("arch") not in accepted:
            continue
        if node in recent or (apart and room.above[node][1] in sleds):
            continue
        demand = _demand(instance, workload, node).requests
        if room.fits(node, demand) and (left := room.left(node, demand)) > best_left:
            best, best_left = node, left
    assert best >= 0, f"no place for a member of {workload.name} after {len(used)}"
    return best
