"""Random assignments of a compiled instance: eligible spots, whole gangs, shares and grants anywhere in their range.

They may break capacities and group rules: evaluation and checker must agree on those as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled, GangUnit
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from tests.oracle.random_instances import GOALS, random_case

__all__ = ["compiled_case", "every_goal", "random_assignment"]


def every_goal(rng: random.Random, ignore: frozenset[Family] = frozenset()) -> Model:
    """A model with every goal of the random instances, a level each, in a random order."""
    goals = list(GOALS)
    rng.shuffle(goals)
    narrowed = Goal(GoalId.PEAK, Fraction(2, 3), resources=("cpu",), at_level="node")
    levels = tuple(Level((narrowed if goal is GoalId.PEAK and rng.random() < 0.5 else Goal(goal),)) for goal in goals)
    return Model("every goal", "", levels, ignore)


def compiled_case(seed: int, model: Model | None = None) -> tuple[Compiled, frozenset[str]]:
    """A random instance, compiled under its own or another model, and the names of what it uses."""
    case = random_case(seed)
    return compile_instance(instance_from_dict(case.document), model or case.model), case.features


def random_assignment(compiled: Compiled, rng: random.Random) -> Assignment:
    """Counts at random eligible spots, with shares and grants; members without a spot are left out."""
    counts: dict[tuple[int, int, int], int] = {}
    in_gang = set()
    for unit in compiled.gangs:
        in_gang.update(unit.blocks)
        for block, option, node in _gangs(compiled, unit, rng):
            counts[block, option, node] = counts.get((block, option, node), 0) + 1
    for entity in compiled.blocks:
        spots = [
            (option, node)
            for option in compiled.options_of(entity.workload)
            for node in range(compiled.num_nodes)
            if compiled.eligible[option, node]
        ]
        if entity.index in in_gang or not spots:
            continue
        for _ in range(entity.count):
            if rng.random() < 0.9:
                key = entity.index, *rng.choice(spots)
                counts[key] = counts.get(key, 0) + 1
    return replace(Assignment(counts), shares=_shares(compiled, counts, rng), theta=_grants(compiled, rng))


def _gangs(compiled: Compiled, unit: GangUnit, rng: random.Random) -> Iterator[tuple[int, int, int]]:
    """Each member of some of the unit's gangs on a node of its own in one domain, in one mode."""
    members = [block for block in unit.blocks for _ in range(compiled.blocks[block].count)]
    for gang in range(unit.replicas):
        domain = rng.choice(compiled.instance.domains_of(unit.level) or (None,))
        option = rng.choice(list(compiled.options_of(unit.workload)))
        if domain is None:
            continue
        nodes = [n for n in range(domain.first_node, domain.end_node) if compiled.eligible[option, n]]
        if len(nodes) >= unit.size:
            chosen = rng.sample(nodes, unit.size)
            for block, node in zip(members[gang * unit.size : (gang + 1) * unit.size], chosen, strict=True):
                yield block, option, node


def _shares(
    compiled: Compiled, counts: dict[tuple[int, int, int], int], rng: random.Random
) -> dict[tuple[int, int, int, int], int]:
    shares = {}
    for (block, option, node), count in counts.items():
        for r in range(len(compiled.resources)):
            if compiled.uses_shares(compiled.blocks[block].workload, r) and rng.random() < 0.7:
                floor = int(compiled.floor[option, compiled.node_kind[node], r])
                ceiling = compiled.ceiling_of(option, node, r)
                shares[block, option, node, r] = rng.randint(floor * count, ceiling * count)
    return shares


def _grants(compiled: Compiled, rng: random.Random) -> dict[tuple[str, int], Fraction]:
    keys = [("team", team.index) for team in compiled.teams]
    keys += [("pair", index) for index in range(len(compiled.pairs))]
    keys += [("group", index) for index in range(len(compiled.groups))]
    return {key: Fraction(rng.randint(0, 4), 4) for key in keys if rng.random() < 0.9}
