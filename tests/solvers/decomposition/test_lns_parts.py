"""A freed part stands for the whole: what it may do the whole may do, and what it gains the whole gains."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from allocator.checker import check
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import plan_of
from allocator.model.entities import Level, Slack
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.decomposition.lns.freed import Freed
from allocator.solvers.decomposition.lns.restrict import Part, restrict
from allocator.solvers.evaluation.goals import level_values
from tests.solvers.random_assignments import compiled_case, random_assignment

EXACT_GOALS = frozenset({GoalId.PLACED, GoalId.TRAFFIC, GoalId.COST, GoalId.OVERLOAD, GoalId.BALANCE, GoalId.NODES})


def random_freed(compiled: Compiled, counts: dict[tuple[int, int, int], int], rng: random.Random) -> Freed:
    """Some members of some nodes, whole gang units only."""
    nodes = tuple(sorted(rng.sample(range(compiled.num_nodes), rng.randint(1, compiled.num_nodes))))
    in_gang = {block for unit in compiled.gangs for block in unit.blocks}
    taken = {
        spot: rng.randint(1, count)
        for spot, count in counts.items()
        if spot[2] in nodes and spot[0] not in in_gang and rng.random() < 0.8
    }
    placed: Counter[int] = Counter()
    for (block, _, _), count in counts.items():
        placed[block] += count
    left = {
        block.index: block.count - placed[block.index]
        for block in compiled.blocks
        if block.index not in in_gang and block.count > placed[block.index]
    }
    return Freed(taken, left, nodes)


def dealt_again(part: Part, rng: random.Random) -> Assignment:
    """The members of a part anywhere they may go."""
    counts: dict[tuple[int, int, int], int] = {}
    compiled = part.compiled
    for block in compiled.blocks:
        spots = [
            (option, node)
            for option in compiled.options_of(block.workload)
            for node in range(compiled.num_nodes)
            if compiled.eligible[option, node]
        ]
        for _ in range(block.count):
            if spots and rng.random() < 0.9:
                key = block.index, *rng.choice(spots)
                counts[key] = counts.get(key, 0) + 1
    return Assignment(counts)


def cases(number: int):  # type: ignore[no-untyped-def]
    for seed in range(number):
        compiled, _ = compiled_case(seed)
        rng = random.Random(seed)
        counts = dict(random_assignment(compiled, rng).counts)
        if not counts:
            continue
        freed = random_freed(compiled, counts, rng)
        if freed.members():
            yield seed, compiled, Assignment(counts), restrict(compiled, Assignment(counts), freed), rng


def test_the_start_of_a_part_and_the_rest_are_the_whole() -> None:
    number = 0
    for seed, _, whole, part, _ in cases(400):
        assert part.merged(part.start) == whole.counts, f"seed {seed}"
        number += 1
    assert number > 200


def test_what_a_part_gains_the_whole_gains() -> None:
    compared: Counter[GoalId] = Counter()
    for seed, compiled, whole, part, rng in cases(1200):
        for level in compiled.model.levels:
            goals = {goal.id for goal in level.goals}
            if not goals <= EXACT_GOALS or (goals & {GoalId.BALANCE} and not _stated(compiled, whole)):
                continue
            model = replace(compiled.model, levels=(Level(level.goals, Slack()),))
            alone = replace(compiled, model=model)
            piece = restrict(alone, whole, _again(part, whole))
            other = dealt_again(piece, rng)
            before, after = level_values(piece.compiled, piece.start)[0], level_values(piece.compiled, other)[0]
            merged = Assignment(piece.merged(other))
            gained = level_values(alone, merged)[0] - level_values(alone, whole)[0]
            if goals & {GoalId.BALANCE} and not _stated(compiled, merged):
                continue
            assert after - before == gained, f"seed {seed}: {sorted(goals)}"
            compared.update(goals)
    assert all(compared[goal] > 15 for goal in EXACT_GOALS), compared


def _again(part: Part, whole: Assignment) -> Freed:
    """What was freed, from the part."""
    counts = {spot: count - part.rest.counts.get(spot, 0) for spot, count in whole.counts.items()}
    started = Counter[int]()
    for (block, _, _), count in part.start.counts.items():
        started[part.blocks[block]] += count
    unplaced = {b: part.compiled.blocks[i].count - started[b] for i, b in enumerate(part.blocks)}
    return Freed({s: c for s, c in counts.items() if c}, {b: c for b, c in unplaced.items() if c}, part.nodes)


def _stated(compiled: Compiled, assignment: Assignment) -> bool:
    """Whether what is left of capacities that the goal ``balance`` looks at can be stated: nothing is below nothing."""
    evaluation = check(compiled.instance, compiled.model, plan_of(compiled, assignment.counts, {}, {}))
    known = all(
        name in domain.capacity
        for triple in compiled.instance.balance
        for domain in compiled.instance.domains_of(triple.level)
        for name in (triple.first, triple.second)
    )
    return known and all(use.used <= use.capacity for use in evaluation.uses)


def test_where_the_whole_holds_the_part_holds_and_the_other_way_round() -> None:
    """By the exact judgement of the checker, families that a part only guides left out."""
    guided = {Family.SPREAD, Family.DEPENDENCY, Family.RESERVE, Family.GANG, Family.ASSIGNMENT}
    agreed: Counter[bool] = Counter()
    for seed, compiled, whole, part, rng in cases(900):
        plan = plan_of(compiled, whole.counts, {}, {})
        if compiled.instance.current is not None:
            continue  # the checker reads a current placement by itself, and a part names its classes anew
        if any(v.family not in guided for v in check(compiled.instance, compiled.model, plan).violations):
            continue
        other = dealt_again(part, rng)
        merged = plan_of(compiled, part.merged(other), {}, {})
        broken = {v.family for v in check(compiled.instance, compiled.model, merged).violations} - guided
        piece = plan_of(part.compiled, other.counts, {}, {})
        found = {v.family for v in check(part.compiled.instance, part.compiled.model, piece).violations} - guided
        assert bool(found) == bool(broken), f"seed {seed}: the part breaks {found}, the whole {broken}"
        agreed[bool(broken)] += 1
    assert agreed[True] > 20
    assert agreed[False] > 20
