"""What random cases about bent functions have: goodput curves, latencies, response times as targets and as a goal.

Owns their numbers and the models that ask for them. ``random_instances`` calls it for cases with ``bent``.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import GoalId
from tests.oracle.draft import Draft

__all__ = ["BENT", "bend", "bent_model", "bent_needs", "bent_theme"]

BENT = ("knee", "table", "slo", "p99", "worst", "latency")
"""Names of the features."""

TALK = ("team", "team", "pair", "spread_flow", "broadcast", "ring")
COLLAPSE: list[list[list[Any]]] = [
    [[0, 0], [1, 1], ["1.5", "0.3"]],
    [[0, 0], ["0.5", "0.5"], [1, "0.8"], [2, "0.4"]],
    [[0, 0], ["0.5", "0.4"], [1, "0.7"], [3, "0.9"]],
    [[0, 0], ["0.8", "0.8"], ["0.9", "0.2"], [4, "0.6"]],
]
"""Measured curves; all but the third fall after a peak, the last one rises again."""


def bent_theme(rng: random.Random) -> frozenset[str]:
    """What a case is about: ``fabric`` and ``response``, at least one."""
    return rng.choice([frozenset({"fabric"}), frozenset({"response"}), frozenset({"fabric", "response"})])


def bent_model(rng: random.Random, model: Model, theme: frozenset[str]) -> tuple[Model, set[GoalId]]:
    """The model with goals that feel what bends; ``placed`` goes before ``p99``, alone."""
    levels = list(model.levels)
    if "fabric" in theme and not {GoalId.THROUGHPUT, GoalId.FAIRNESS} & set(model.goal_ids):
        level = Level((Goal(rng.choice([GoalId.THROUGHPUT, GoalId.THROUGHPUT, GoalId.FAIRNESS])),))
        levels.insert(rng.choice([0, 0, 1]), level)
    if "response" in theme and rng.random() < 0.7:
        goal = Goal(GoalId.P99, worst=rng.random() < 0.35)
        slack = rng.choice([Slack(), Slack(), Slack(Fraction(10, 100), True)])
        place = rng.choice([0, 0, len(levels)])
        if not goal.worst and rng.random() < 0.2 and GoalId.PLACED not in model.goal_ids:
            last = levels.pop()
            levels.append(Level((*last.goals, goal), last.slack))
        else:
            levels.insert(place, Level((goal,), slack))
        rest = [tuple(each for each in level.goals if each.id is not GoalId.PLACED) for level in levels]
        if rest != [level.goals for level in levels]:
            levels = [Level(goals, level.slack) for goals, level in zip(rest, levels, strict=True) if goals]
            levels.insert(0, Level((Goal(GoalId.PLACED),)))
    found = Model("bent", "", tuple(levels[:3] if GoalId.P99 in _ids(levels[:3]) else levels), model.ignore)
    return found, set(found.goal_ids)


def _ids(levels: list[Level]) -> set[GoalId]:
    return {goal.id for level in levels for goal in level.goals}


def bent_needs(rng: random.Random, theme: frozenset[str]) -> list[str]:
    """Plain features without which nothing would bend."""
    wanted = []
    if "fabric" in theme:
        wanted += ["work", "bandwidth", rng.choice(TALK)]
    if "response" in theme and rng.random() < 0.7:
        wanted.append(rng.choice(TALK))
    return wanted


def bend(draft: Draft, theme: frozenset[str], model: Model) -> list[str]:
    """Add what bends to a document; names of what was added."""
    used = []
    if "fabric" in theme:
        used += _curves(draft)
    if "response" in theme:
        used += _response(draft, model)
    return used


def _curves(draft: Draft) -> list[str]:
    rng, used = draft.rng, []
    for domain in [*draft.inner, *draft.nodes]:
        uplink = domain.get("uplink", {})
        if not {"bandwidth", "oversubscription"} & set(uplink) or rng.random() < 0.25:
            continue
        name = rng.choice(["knee", "table", "table"])
        if name == "knee":
            uplink["goodput"] = {"curve": name, "p": rng.choice([1, 2, 4, "1.5", "0.5"])}
        else:
            uplink["goodput"] = {"curve": name, "points": rng.choice(COLLAPSE)}
        used.append(name)
    return sorted(set(used))


def _response(draft: Draft, model: Model) -> list[str]:
    rng, used = draft.rng, []
    for number, workload in enumerate(draft.classes):
        if number and rng.random() < 0.4:
            continue
        workload.pop("limits", None)
        work = {"cpu": rng.choice(["100 ms", "200 ms", "300 ms"]), "parallel": rng.choice([1, 2, "0.9"])}
        if rng.random() < 0.85:
            work["rate"] = f"{rng.choice([1, 2, '0.5'])}/s"
        workload["work"] = work
        workload["weight"] = rng.choice([1, 2, 5])
        workload["slo"] = {"critical": rng.random() < 0.8}
        if rng.random() < 0.6:
            workload["slo"]["p99"] = rng.choice(["600 ms", "1 s", "2 s", "5 s", "200 s"])
            used.append("slo")
        # where nothing arrives one unit of compute is enough: with a floor of 0 the numbers would be beyond floats
        if "rate" in work and rng.random() < 0.3:
            workload["requests"] = {**workload["requests"], "cpu": 0}
    goals = {goal.id: goal for level in model.levels for goal in level.goals}
    if GoalId.P99 in goals:
        used.append("worst" if goals[GoalId.P99].worst else "p99")
    if rng.random() < 0.75:
        for domain in [*draft.inner, *draft.nodes]:
            if rng.random() < 0.6:
                domain.setdefault("uplink", {})["latency"] = rng.choice(["10 ms", "100 ms", "250 ms", "700 ms"])
        used.append("latency")
    return used
