"""The Lagrangian bound of overload, balance and moves: never above an optimum, beyond totals where members stick."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.bounds.combinatorial import level_bound
from allocator.solvers.bounds.levels import bounds
from allocator.solvers.bounds.reassignment import reassignment_bound
from allocator.solvers.budget import Limits
from tests.formats.test_roadef2012 import ASSIGNMENT, MODEL, instance_of
from tests.oracle.brute_force import brute_force
from tests.oracle.placements import TooMany

REBALANCE = load_model("rebalance")


def random_document(rng: random.Random) -> dict[str, Any]:
    def amounts(low: int, high: int) -> dict[str, Any]:
        return {name: rng.choice([rng.randint(low, high), f"{rng.randint(2 * low, 2 * high)}e-1"]) for name in "pqz"}

    nodes = [{"level": "node", "name": f"n{i}", "capacity": amounts(9, 14), "safety": amounts(1, 4)} for i in range(3)]
    classes: list[dict[str, Any]] = []
    current = []
    for number in range(rng.randint(2, 4)):
        count = rng.randint(1, 2)
        stated = {"class": f"c{number}", "count": count, "requests": amounts(1, 4), "move_cost": rng.randint(0, 3)}
        if rng.random() < 0.5:
            stated["placement"] = {"conflict": {"level": "node", "at_most": 1}}
        classes.append(stated)
        current += [{"class": f"c{number}", "first": i, "node": f"n{rng.randrange(3)}"} for i in range(count)]
    return {
        "format": "allocator/v1",
        "resources": {
            name: {"role": "other", "transient": rng.random() < 0.5, "overload": rng.choice(["0.5", 1, 3])}
            for name in "pqz"
        },
        "topology": nodes,
        "workloads": classes,
        "balance": {
            "resources": rng.sample("pqz", 2),
            "target": rng.choice(["0.5", 1, 2]),
            "weight": rng.randint(1, 3),
        },
        "moves": {
            "weights": {"process": rng.choice(["0.25", 1]), "service": rng.randint(0, 2), "machine": 1},
            "machine": {"rows": [[0 if a == b else rng.randint(0, 2) for b in range(3)] for a in range(3)]},
        },
        "current": current if rng.random() < 0.8 else [],
    }


def test_the_bound_is_never_above_the_optimum_and_mostly_beyond_totals() -> None:
    met = better = 0
    ratio = Fraction(0)
    for seed in range(160):
        instance = instance_from_dict(random_document(random.Random(seed)))
        try:
            truth = brute_force(instance, REBALANCE)
        except TooMany:
            continue
        compiled = compile_instance(instance, REBALANCE)
        found = reassignment_bound(compiled, REBALANCE.levels[0], Limits(30).start())
        if not truth.feasible or not truth.values[0]:
            continue
        assert found is not None
        optimum = Fraction(truth.values[0])
        assert found <= optimum, f"seed {seed}"
        met += 1
        better += found > level_bound(compiled, REBALANCE.levels[0])
        ratio += max(found, Fraction(0)) / optimum
    assert met > 60
    assert better > met / 2
    assert ratio / met > Fraction(8, 10)


def test_the_tiny_reassignment_is_bounded_better_than_by_totals() -> None:
    compiled = compile_instance(instance_of(MODEL, ASSIGNMENT), REBALANCE)
    level = REBALANCE.levels[0]
    found = reassignment_bound(compiled, level, Limits(30).start())
    assert found is not None
    assert level_bound(compiled, level) < found <= 153
    assert bounds(compiled, Limits(30).start())[0] >= found


def test_nothing_is_said_of_other_levels_and_demands() -> None:
    instance = instance_of(MODEL, ASSIGNMENT)
    goals = [Goal(GoalId.OVERLOAD), Goal(GoalId.NODES)]
    models = [
        Model("m", "", (Level(tuple(goals)),)),
        Model("m", "", (Level((Goal(GoalId.PLACED),)), Level((goals[0],)))),
        Model("m", "", (Level((goals[0],)),), frozenset({Family.ASSIGNMENT})),
    ]
    for model in models:
        compiled = compile_instance(instance, model)
        assert reassignment_bound(compiled, model.levels[-1], Limits(30).start()) is None


def test_an_end_of_time_still_leaves_a_bound() -> None:
    compiled = compile_instance(instance_of(MODEL, ASSIGNMENT), REBALANCE)
    clock = iter([0.0, 0.5, *([9.0] * 1000)])
    found = reassignment_bound(compiled, REBALANCE.levels[0], Limits(1).start(lambda: next(clock)))
    assert found is not None
    assert found >= level_bound(compiled, REBALANCE.levels[0]) - 60
