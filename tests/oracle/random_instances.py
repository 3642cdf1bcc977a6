"""Seeded tiny random instances which together use every constraint family and every goal, with limits that bind.

``random_case(seed)`` draws goals first, then what they need, then other features from the table ``FEATURES``. Documents
are plain dicts as in an instance file. With ``bent`` a case is also about what is not linear (``bent_features``).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import GoalId
from tests.oracle.bent_features import bend, bent_model, bent_needs, bent_theme
from tests.oracle.draft import skeleton
from tests.oracle.features import FEATURES, NEEDED

__all__ = ["FEATURES", "GOALS", "Case", "random_case"]

GOALS = (
    GoalId.PLACED,
    GoalId.THROUGHPUT,
    GoalId.FAIRNESS,
    GoalId.TRAFFIC,
    GoalId.COST,
    GoalId.CONGESTION,
    GoalId.PEAK,
    GoalId.OVERLOAD,
    GoalId.BALANCE,
    GoalId.MOVES,
    GoalId.NODES,
    GoalId.POWER,
)


@dataclass
class Case:
    """A random document with its model. ``features``: names of what it uses."""

    seed: int
    document: dict[str, Any]
    model: Model
    features: frozenset[str]


def random_case(seed: int, *, bent: bool = False) -> Case:
    """A tiny document and a model, the same for the same seed.

    ``bent``: with goodput curves, response times or both; the cases without it do not depend on it.
    """
    rng = random.Random(f"bent {seed}" if bent else seed)
    model, goals = _model(rng)
    theme = bent_theme(rng) if bent else frozenset()
    if bent:
        model, goals = bent_model(rng, model, theme)
    draft = skeleton(rng, rates=bent or bool({GoalId.THROUGHPUT, GoalId.FAIRNESS} & goals))
    wanted = [name for name, (chance, _) in FEATURES.items() if rng.random() < chance]
    for goal, names in NEEDED.items():
        if goal in goals:
            wanted += [rng.choice(names)] if goal is not GoalId.CONGESTION else [rng.choice(names), "bandwidth"]
    if {"move_limit", "transient", "overfull"} & set(wanted):
        wanted.append("current")
    wanted += bent_needs(rng, theme)
    used = [name for name in FEATURES if name in wanted]  # in the order of the table
    used = [name for name in used if FEATURES[name][1](draft) is not False]
    used += bend(draft, theme, model)
    if not bent and not model.has_rate_goals and rng.random() < 0.2:
        _in_gib(draft.document)
        used.append("gib")
    return Case(seed, draft.document, model, frozenset(used))


def _in_gib(value: Any) -> None:
    """Turn bytes into GiB wherever a document states an amount of memory: large numbers, the same answers."""
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for entry in entries:
        _in_gib(entry)
    if isinstance(value, dict):
        for key in ("memory", "bytes"):
            if isinstance(value.get(key), int):
                value[key] = f"{value[key]}Gi"


def _model(rng: random.Random) -> tuple[Model, set[GoalId]]:
    number = rng.choice([1, 1, 2, 2, 3])
    goals = rng.sample(GOALS, number + rng.choice([0, 0, 1]))
    if rng.random() < 0.35:
        goals = [GoalId.PLACED, *(goal for goal in goals if goal is not GoalId.PLACED)]
    levels = []
    rest = list(goals)
    while rest:
        size = 2 if len(rest) > 1 and rng.random() < 0.2 else 1
        mine, rest = rest[:size], rest[size:]
        weights = [Fraction(rng.choice([1, 2, 3, 5]), rng.choice([1, 1, 2])) for _ in mine]
        if size == 1:
            weights = [Fraction(1)]
        absolute = Slack(Fraction(rng.choice([1, 2, 5])))
        relative = Slack(Fraction(rng.choice([5, 20, 50]), 100), True)
        slack = rng.choice([Slack(), Slack(), Slack(), Slack(), absolute, relative])
        levels.append(Level(tuple(_goal(rng, goal, weight) for goal, weight in zip(mine, weights, strict=True)), slack))
    return Model("random", "", tuple(levels)), set(goals)


def _goal(rng: random.Random, goal: GoalId, weight: Fraction) -> Goal:
    if goal is GoalId.PEAK and rng.random() < 0.5:
        return Goal(goal, weight, resources=("cpu",), at_level=rng.choice([None, "node"]))
    return Goal(goal, weight)
