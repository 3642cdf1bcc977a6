"""Reduction: members split into blocks of exchangeable ones, and the teams, flows and gangs over those blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Block, GangUnit, GroupTraffic, PairTraffic, TeamTraffic
from allocator.instance.entities import CurrentPlacement, Instance, Team, WorkloadClass
from allocator.model.entities import Model
from allocator.model.families import Family
from allocator.plan.entities import flow_endpoint

__all__ = ["Reduction", "reduce_members"]

Key = tuple[int, int, int, int, int]  # team, current node, current option, pair member, gang


@dataclass(frozen=True)
class Reduction:
    """Blocks and what stands on them."""

    blocks: tuple[Block, ...]
    teams: tuple[TeamTraffic, ...]
    pairs: tuple[PairTraffic, ...]
    groups: tuple[GroupTraffic, ...]
    gangs: tuple[GangUnit, ...]


def reduce_members(instance: Instance, model: Model, first_option: npt.NDArray[np.int64]) -> Reduction:
    """Partition the members of every class into blocks; see ``Block`` for what keeps members apart."""
    pair_members = _pair_members(instance)
    team_ranges, team_names = _team_ranges(instance)
    placed_now = _current_by_class(instance)
    blocks: list[Block] = []
    gangs: list[GangUnit] = []
    team_blocks: list[list[int]] = [[] for _ in team_names]
    for workload in instance.workloads:
        running = placed_now.get(workload.name, ())
        options_from = int(first_option[workload.index])
        teamed = team_ranges.get(workload.name, [])
        single = workload.count == 1 and not teamed and workload.placement.gang is None
        if single:  # by far the commonest where there are many classes
            node, option = -1, -1
            for placed in running:
                node, option = instance.node_index[placed.node], options_from + _mode_index(workload, placed.mode)
            blocks.append(Block(len(blocks), workload.index, 1, ((0, 1),), -1, node, option))
            continue
        current = _current_ranges(instance, workload, running, options_from)
        by_gang = workload.placement.gang is not None and bool(current) and Family.GANG not in model.ignore
        merged: dict[Key, list[tuple[int, int]]] = {}
        size = workload.placement.gang.size if by_gang and workload.placement.gang else 0
        for first, count, key in _segments(workload, teamed, current, pair_members.get(workload.name, set()), size):
            runs = merged.setdefault(key, [])
            if runs and sum(runs[-1]) == first:
                runs[-1] = (runs[-1][0], runs[-1][1] + count)
            else:
                runs.append((first, count))
        of_gang: dict[int, list[int]] = {}
        for (team, node, option, _, gang), runs in merged.items():
            index = len(blocks)
            total = sum(count for _, count in runs)
            blocks.append(Block(index, workload.index, total, tuple(runs), team, node, option))
            if team >= 0:
                team_blocks[team].append(index)
            of_gang.setdefault(gang, []).append(index)
        rule = workload.placement.gang
        if rule is not None and Family.GANG not in model.ignore:
            replicas = 1 if by_gang else workload.count // rule.size
            gangs.extend(
                GangUnit(workload.index, rule.size, replicas, rule.level, tuple(of_gang[gang]))
                for gang in sorted(of_gang)
                if of_gang[gang]
            )
    teams = tuple(
        TeamTraffic(index, name, tuple(team_blocks[index]), team.size, team.rate, team.message)
        for index, (name, team) in enumerate(team_names)
    )
    pairs = _pairs(instance, blocks)
    return Reduction(tuple(blocks), teams, pairs, _groups(instance), tuple(gangs))


def _team_ranges(
    instance: Instance,
) -> tuple[dict[str, list[tuple[int, int, int]]], list[tuple[str, Team]]]:
    ranges: dict[str, list[tuple[int, int, int]]] = {}
    names: list[tuple[str, Team]] = []
    for team in instance.teams:
        for number in range(team.count):
            index = len(names)
            names.append((flow_endpoint(team.name, number), team))
            for workload, members in team.members.items():
                start = team.offsets[workload] + number * members
                ranges.setdefault(workload, []).append((start, members, index))
    for found in ranges.values():
        found.sort()
    return ranges, names


def _pair_members(instance: Instance) -> dict[str, set[int]]:
    members: dict[str, set[int]] = {}
    for flow in instance.flows:
        if flow.pattern == "pairs":
            members.setdefault(flow.source, set()).update([i for i, _, _ in flow.pairs])
            members.setdefault(flow.target, set()).update([j for _, j, _ in flow.pairs])
    return members


def _current_by_class(instance: Instance) -> dict[str, list[CurrentPlacement]]:
    found: dict[str, list[CurrentPlacement]] = {}
    for placement in instance.current or ():
        found.setdefault(placement.workload, []).append(placement)
    return found


def _mode_index(workload: WorkloadClass, name: str) -> int:
    return next(index for index, mode in enumerate(workload.modes) if mode.name == name)


def _current_ranges(
    instance: Instance, workload: WorkloadClass, running: Iterable[CurrentPlacement], first_option: int
) -> list[tuple[int, int, tuple[int, int]]]:
    modes = {mode.name: index for index, mode in enumerate(workload.modes)}
    return sorted((c.first, c.count, (instance.node_index[c.node], first_option + modes[c.mode])) for c in running)


def _segments(
    workload: WorkloadClass,
    teams: list[tuple[int, int, int]],
    current: list[tuple[int, int, tuple[int, int]]],
    pair_members: set[int],
    gang_size: int,
) -> Iterator[tuple[int, int, Key]]:
    """Yield (first, count, key) runs in order of member number; within a run all members share the key."""
    cuts = {0, workload.count}
    cuts.update(bound for first, count, _ in teams for bound in (first, first + count))
    cuts.update(bound for first, count, _ in current for bound in (first, first + count))
    cuts.update(bound for member in pair_members for bound in (member, member + 1))
    if gang_size:
        cuts.update(range(0, workload.count, gang_size))
    bounds = sorted(cut for cut in cuts if 0 <= cut <= workload.count)
    team_at = current_at = 0
    for first, end in pairwise(bounds):
        while team_at < len(teams) and sum(teams[team_at][:2]) <= first:
            team_at += 1
        while current_at < len(current) and current[current_at][0] + current[current_at][1] <= first:
            current_at += 1
        team = teams[team_at][2] if team_at < len(teams) and teams[team_at][0] <= first else -1
        here = current[current_at] if current_at < len(current) and current[current_at][0] <= first else None
        node, option = here[2] if here else (-1, -1)
        member = first if first in pair_members else -1
        yield first, end - first, (team, node, option, member, first // gang_size if gang_size else -1)


def _pairs(instance: Instance, blocks: list[Block]) -> tuple[PairTraffic, ...]:
    block_of = {(block.workload, block.ranges[0][0]): block.index for block in blocks if block.count == 1}
    index = {workload.name: workload.index for workload in instance.workloads}
    rates: dict[tuple[int, int], Fraction] = {}
    messages: dict[tuple[int, int], Fraction] = {}
    for flow in instance.flows:
        senders, receivers = index[flow.source], index[flow.target]
        for i, j, rate in flow.pairs:
            ends = block_of[senders, i], block_of[receivers, j]
            if ends[0] != ends[1] and rate:
                rates[ends] = rates[ends] + rate if ends in rates else rate
                if flow.message:
                    messages[ends] = max(flow.message, messages.get(ends, flow.message))
    prefixes = [flow_endpoint(workload.name) for workload in instance.workloads]
    names = {number: f"{prefixes[workload]}/{member}" for (workload, member), number in block_of.items()}
    none = Fraction(0)
    return tuple(
        [
            PairTraffic(*ends, names[ends[0]], names[ends[1]], rate, messages.get(ends, none))
            for ends, rate in rates.items()
        ]
    )


def _groups(instance: Instance) -> tuple[GroupTraffic, ...]:
    """Entries between classes; those of the same two classes share one grant, so they are one flow."""
    rates: dict[tuple[int, int], Fraction] = {}
    messages: dict[tuple[int, int], Fraction] = {}
    for flow in instance.flows:
        if flow.pattern == "pairs":
            continue
        source, target = instance.workload_by_name[flow.source], instance.workload_by_name[flow.target]
        receivers = target.count - (1 if source is target else 0)
        if receivers <= 0 or source.count == 0 or flow.rate == 0:
            continue
        rate = flow.rate / receivers if flow.pattern == "spread" else flow.rate
        key = source.index, target.index
        rates[key] = rates.get(key, Fraction(0)) + rate
        messages[key] = max(flow.message, messages.get(key, flow.message))
    names = [flow_endpoint(workload.name) for workload in instance.workloads]
    return tuple(GroupTraffic(i, j, names[i], names[j], rate, messages[i, j]) for (i, j), rate in rates.items())
