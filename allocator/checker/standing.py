"""Where everybody stands: a plan read member by member, and the current placement in the same form.

Owns the reading of a plan's placements, in which nothing is trusted. Knows no constraint but that a member stands in
one place (``assignment``) with shares of resources that exist (``shares``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from allocator.instance.entities import Demand, Instance, WorkloadClass
from allocator.model.families import Family
from allocator.plan.entities import PlacedGroup, Plan
from allocator.plan.evaluation import Violation

__all__ = ["NOWHERE", "Batch", "Standing", "current_standing", "read_standing"]

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Batch:
    """``count`` members of one class in one mode on one node with equal shares (amounts). Indices, not names."""

    workload: int
    mode: int
    node: int
    shares: Mapping[str, int]
    count: int

    def demand(self, instance: Instance) -> Demand:
        """Demand of one of its members where it stands."""
        kind = instance.nodes[self.node].kind
        assert kind is not None
        return instance.workloads[self.workload].modes[self.mode].demand(kind)


@dataclass(frozen=True, slots=True)
class Standing:
    """Every member's batch and node: ``batch_of[workload][member]``, ``NOWHERE`` when unplaced; ``nodes_of`` alike."""

    batches: tuple[Batch, ...]
    batch_of: tuple[list[int], ...]
    nodes_of: tuple[list[int], ...]

    def node_of(self, workload: int, member: int) -> int:
        """Node index of a member, or ``NOWHERE``."""
        return self.nodes_of[workload][member]

    def num_placed(self, workload: int) -> int:
        """Placed members of a class."""
        members = self.batch_of[workload]
        return len(members) - members.count(NOWHERE)

    def placed(self) -> Iterator[tuple[int, int, Batch]]:
        """Yield (workload, member, batch) of every placed member."""
        for workload, members in enumerate(self.batch_of):
            for member, batch in enumerate(members):
                if batch != NOWHERE:
                    yield workload, member, self.batches[batch]


_Key = tuple[int, int, int, tuple[tuple[str, int], ...]]


class _Builder:
    """Collects members into batches."""

    def __init__(self, instance: Instance) -> None:
        self.batch_of: tuple[list[int], ...] = tuple([NOWHERE] * workload.count for workload in instance.workloads)
        self._keys: dict[_Key, int] = {}
        self._shares: list[Mapping[str, int]] = []
        self._counts: list[int] = []

    def batch(self, workload: int, mode: int, node: int, shares: Mapping[str, int]) -> int:
        """Number of the batch of such members, new or known."""
        key = (workload, mode, node, tuple(sorted(shares.items())))
        found = self._keys.setdefault(key, len(self._keys))
        if found == len(self._counts):
            self._shares.append(dict(shares))
            self._counts.append(0)
        return found

    def put(self, workload: int, member: int, batch: int) -> bool:
        """Put a member into a batch; False when it stands somewhere already."""
        members = self.batch_of[workload]
        if members[member] != NOWHERE:
            return False
        members[member] = batch
        self._counts[batch] += 1
        return True

    def finish(self) -> Standing:
        """Everything collected."""
        batches = tuple(
            Batch(workload, mode, node, self._shares[number], self._counts[number])
            for (workload, mode, node, _), number in self._keys.items()
        )
        nodes = [*(batch.node for batch in batches), NOWHERE]  # NOWHERE, -1, is the number of the last
        return Standing(batches, self.batch_of, tuple([nodes[batch] for batch in of] for of in self.batch_of))


def read_standing(instance: Instance, plan: Plan) -> tuple[Standing, list[Violation]]:
    """Read a plan; whatever is malformed becomes a violation and is left out of the standing."""
    builder = _Builder(instance)
    violations: list[Violation] = []
    for group in plan.placements:
        workload, members = _range_of(instance, group.workload, group.first, group.count, violations)
        if workload is not None and members:
            _place(instance, builder, workload, members, group=group, violations=violations)
    listed: tuple[list[bool], ...] = tuple([False] * workload.count for workload in instance.workloads)
    for left in plan.unplaced:
        workload, members = _range_of(instance, left.workload, left.first, left.count, violations)
        if workload is None:
            continue
        for member in members:
            if builder.batch_of[workload.index][member] != NOWHERE:
                violations.append(_assignment(workload.name, f"member {member} is placed and unplaced at once"))
            elif listed[workload.index][member]:
                violations.append(_assignment(workload.name, f"member {member} is listed as unplaced twice"))
            listed[workload.index][member] = True
    for workload in instance.workloads:
        batch_of = builder.batch_of[workload.index]
        lost = [m for m in range(workload.count) if batch_of[m] == NOWHERE and not listed[workload.index][m]]
        if lost:
            message = f"{len(lost)} of {workload.count} members are neither placed nor unplaced, the first is {lost[0]}"
            violations.append(_assignment(workload.name, message))
    return builder.finish(), violations


def current_standing(instance: Instance) -> Standing:
    """Where members run now, each with its floors as shares; nobody without a current placement."""
    builder = _Builder(instance)
    for entry in instance.current or ():
        workload = instance.workload_by_name[entry.workload]
        mode = next(index for index, mode in enumerate(workload.modes) if mode.name == entry.mode)
        node = instance.node_index[entry.node]
        kind = instance.nodes[node].kind
        assert kind is not None
        batch = builder.batch(workload.index, mode, node, workload.modes[mode].demand(kind).requests)
        for member in range(entry.first, entry.first + entry.count):
            builder.put(workload.index, member, batch)
    return builder.finish()


def _assignment(where: str, message: str) -> Violation:
    return Violation(Family.ASSIGNMENT, where, message)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _range_of(
    instance: Instance, name: str, first: int, count: int, violations: list[Violation]
) -> tuple[WorkloadClass | None, range]:
    """Class and member numbers of an entry, cut to those that exist."""
    workload = instance.workload_by_name.get(name)
    if workload is None:
        violations.append(_assignment(str(name), "no class of this name"))
        return None, range(0)
    if not (_whole(first) and _whole(count)) or count < 1:
        violations.append(_assignment(name, f"members from {first!r}, {count!r} of them: no such range"))
        return workload, range(0)
    if first < 0 or first + count > workload.count:
        message = f"members {first} to {first + count - 1} are named, the class has 0 to {workload.count - 1}"
        violations.append(_assignment(name, message))
    return workload, range(max(0, first), min(workload.count, first + count))


def _place(
    instance: Instance,
    builder: _Builder,
    workload: WorkloadClass,
    members: range,
    *,
    group: PlacedGroup,
    violations: list[Violation],
) -> None:
    """Put the members of one entry where it says."""
    mode = next((index for index, mode in enumerate(workload.modes) if mode.name == group.mode), None)
    if mode is None:
        violations.append(_assignment(workload.name, f"no mode {group.mode!r}"))
        return
    if len(group.nodes) not in (1, group.count):
        message = f"{len(group.nodes)} nodes for {group.count} members: must be 1 or {group.count}"
        violations.append(_assignment(workload.name, message))
        return
    shares = _known_shares(instance, workload.name, group.shares, violations)
    batches: dict[str, int] = {}
    for path in dict.fromkeys(group.nodes):
        node = instance.node_index.get(path)
        if node is None:
            violations.append(_assignment(workload.name, f"no node {path!r}"))
        else:
            batches[path] = builder.batch(workload.index, mode, node, shares)
    twice = []
    for member in members:
        batch = batches.get(group.node_of(member - group.first))
        if batch is not None and not builder.put(workload.index, member, batch):
            twice.append(member)
    if twice:
        violations.append(_assignment(workload.name, f"{len(twice)} members are placed twice, the first is {twice[0]}"))


def _known_shares(
    instance: Instance, where: str, shares: Mapping[str, int], violations: list[Violation]
) -> dict[str, int]:
    """Shares of known resources in whole amounts; zero is the same as not stated."""
    known: dict[str, int] = {}
    for resource, amount in shares.items():
        if resource not in instance.resources:
            violations.append(Violation(Family.SHARES, where, f"share of an unknown resource {resource!r}"))
        elif not _whole(amount):
            violations.append(Violation(Family.SHARES, where, f"share of {resource} = {amount!r}: not an integer"))
        elif amount != 0:
            known[resource] = amount
    return known
