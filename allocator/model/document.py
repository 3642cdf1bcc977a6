"""The document of a model: goals in order, what is ignored, linearisation. Owns its keys and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from allocator.documents.problems import Location, Problems, did_you_mean
from allocator.errors import InputError, Problem
from allocator.model.entities import Goal, Level, Linearization, Model, Slack
from allocator.model.families import Family, GoalId
from allocator.quantities import QuantityError, parse_decimal
from allocator.quantities.decimals import split_number

__all__ = ["model_from_tree"]

_KEYS = ("name", "about", "goals", "ignore", "linearization")
_METHODS = ("auto", "incremental", "logarithmic", "tangents")
_GOALS = tuple(goal.value for goal in GoalId)
_FAMILIES = tuple(family.value for family in Family)


def model_from_tree(tree: Any, found: list[Problem], source: str, name: str) -> Model:
    """Model in a tree of text; ``name`` is used when the document states none.

    Raises
    ------
    InputError
        With every problem found.
    """
    if not isinstance(tree, Mapping):
        raise InputError(source, [Problem("document", None, "must be a map with goals")])
    problems = Problems(tree)
    problems.found.extend(found)
    _known_keys(tree, (), _KEYS, problems)
    model = Model(
        name=_text(tree, "name", problems) or name,
        about=_text(tree, "about", problems) or "",
        levels=_levels(tree, problems),
        ignore=_ignored(tree, problems),
        linearization=_linearization(tree, problems),
    )
    if problems.found:
        raise InputError(source, problems.found)
    return model


def _known_keys(node: Mapping[str, Any], location: Location, known: tuple[str, ...], problems: Problems) -> None:
    for key in node:
        if key not in known:
            problems.add((*location, key), did_you_mean(key, known, "key"))


def _text(tree: Mapping[str, Any], key: str, problems: Problems) -> str | None:
    value = tree.get(key)
    if key in tree and (not isinstance(value, str) or not value):
        problems.add((key,), "must be text", value)
        return None
    return value


# ---------------------------------------------------------------- goals


def _levels(tree: Mapping[str, Any], problems: Problems) -> tuple[Level, ...]:
    stated = tree.get("goals")
    if not isinstance(stated, list) or not stated:
        problems.add(("goals",), "must be a list of at least one goal", stated)
        return ()
    seen: dict[GoalId, Location] = {}
    levels = []
    for index, entry in enumerate(stated):
        location: Location = ("goals", index)
        slack = Slack()
        goals: list[Goal]
        if isinstance(entry, str):
            goals = _goals({entry: "1"}, location, problems, bare=True)
        elif isinstance(entry, Mapping) and "goals" in entry:
            _known_keys(entry, location, ("goals", "slack"), problems)
            inner = entry["goals"]
            if isinstance(inner, str):
                inner = {inner: "1"}
            goals = _goals(inner, (*location, "goals"), problems)
            if "slack" in entry:
                slack = _slack(entry["slack"], (*location, "slack"), problems)
        else:
            goals = _goals(entry, location, problems)
        for goal in goals:
            if goal.id in seen:
                problems.add(location, f"names the goal {goal.id} again, after {problems.place(seen[goal.id])}")
            seen.setdefault(goal.id, location)
        if goals:
            levels.append(Level(tuple(goals), slack))
    if GoalId.P99 in seen and Model("", "", tuple(levels)).may_leave_out_for_p99:
        message = "members may be left out for it; placed must stand alone in an earlier level, with slack 0"
        problems.add(seen[GoalId.P99], message, GoalId.P99.value)
    return tuple(levels)


def _goals(stated: Any, location: Location, problems: Problems, *, bare: bool = False) -> list[Goal]:
    if not isinstance(stated, Mapping) or not stated:
        problems.add(location, "must be a goal, or a map of goals to weights", stated)
        return []
    goals = []
    for name, value in stated.items():
        at: Location = location if bare else (*location, name)
        if name not in _GOALS:
            problems.add(at, did_you_mean(name, _GOALS, "goal"), name if bare else None)
            continue
        goals.append(_goal(GoalId(name), value, at, problems))
    return goals


def _goal(goal: GoalId, stated: Any, location: Location, problems: Problems) -> Goal:
    if stated == "worst":
        if goal is not GoalId.P99:
            problems.add(location, "only p99 has a worst; state a weight", stated)
        return Goal(goal, worst=True)
    if not isinstance(stated, Mapping):
        return Goal(goal, _positive(stated, location, problems))
    known = ("weight", "resources", "level") if goal is GoalId.PEAK else ("weight",)
    _known_keys(stated, location, known, problems)
    weight = _positive(stated["weight"], (*location, "weight"), problems) if "weight" in stated else Fraction(1)
    resources = stated.get("resources", [])
    level = stated.get("level")
    if not isinstance(resources, list) or not all(isinstance(name, str) and name for name in resources):
        problems.add((*location, "resources"), "must be a list of resources", resources)
        resources = []
    if "level" in stated and not (isinstance(level, str) and level):
        problems.add((*location, "level"), "must be the name of a level", level)
        level = None
    return Goal(goal, weight, tuple(resources), level)


def _positive(stated: Any, location: Location, problems: Problems) -> Fraction:
    value = _number(stated, location, problems)
    if value is not None and value <= 0:
        problems.add(location, "must be more than 0", stated)
    return value or Fraction(1)


def _number(stated: Any, location: Location, problems: Problems) -> Fraction | None:
    if not isinstance(stated, str):
        problems.add(location, "must be a number", stated)
        return None
    try:
        return parse_decimal(stated)
    except QuantityError as error:
        problems.add(location, str(error), stated)
        return None


def _share(stated: Any, location: Location, problems: Problems) -> tuple[Fraction, bool] | None:
    """Value of a number at least 0, and whether it was a percentage (then as a fraction)."""
    if not isinstance(stated, str):
        problems.add(location, "must be a number or a percentage", stated)
        return None
    try:
        value, unit = split_number(stated)
    except QuantityError as error:
        problems.add(location, str(error), stated)
        return None
    if unit not in ("", "%"):
        problems.add(location, "must be a number or a percentage, such as 1 %", stated)
        return None
    if value < 0:
        problems.add(location, "must be at least 0", stated)
        return None
    return (value / 100, True) if unit else (value, False)


def _slack(stated: Any, location: Location, problems: Problems) -> Slack:
    share = _share(stated, location, problems)
    return Slack() if share is None else Slack(*share)


# ---------------------------------------------------------------- the rest


def _ignored(tree: Mapping[str, Any], problems: Problems) -> frozenset[Family]:
    stated = tree.get("ignore", [])
    if not isinstance(stated, list):
        problems.add(("ignore",), "must be a list of families", stated)
        return frozenset()
    ignored = set()
    for index, name in enumerate(stated):
        if name not in _FAMILIES:
            problems.add(("ignore", index), did_you_mean(str(name), _FAMILIES, "family"), name)
        elif name == Family.ASSIGNMENT.value:
            problems.add(("ignore", index), "cannot be ignored: without it there is no plan", name)
        else:
            ignored.add(Family(name))
    return frozenset(ignored)


def _linearization(tree: Mapping[str, Any], problems: Problems) -> Linearization:
    stated = tree.get("linearization", {})
    location: Location = ("linearization",)
    if not isinstance(stated, Mapping):
        problems.add(location, "must be a map of tolerance and method", stated)
        return Linearization()
    _known_keys(stated, location, ("tolerance", "method"), problems)
    tolerance = Linearization().tolerance
    if "tolerance" in stated:
        share = _share(stated["tolerance"], (*location, "tolerance"), problems)
        if share is not None:
            tolerance = share[0]
            if not 0 < tolerance < 1:
                problems.add((*location, "tolerance"), "must be more than 0 and less than 1", stated["tolerance"])
    method = stated.get("method", "auto")
    if method not in _METHODS:
        message = f"must be one of {', '.join(_METHODS)}"
        problems.add((*location, "method"), message, method)
        method = "auto"
    return Linearization(tolerance, method)
