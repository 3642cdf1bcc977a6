"""What is to be run: every combination of a suite, each with a name that its content decides. Runs nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.benchmark.cases import Case
from allocator.benchmark.machine import own_version
from allocator.benchmark.suite import RunLimits, Suite
from allocator.errors import ArgumentError
from allocator.model import load_model
from allocator.model.entities import Goal, Model
from allocator.plan.numbers import decimal_text

__all__ = ["Run", "expand", "model_document"]

ID_LENGTH = 32


@dataclass(frozen=True)
class Run:
    """One run. ``model_tree``: the model as a document.

    ``id`` is a hash of what decides its course: content of instance and model, method, seed, limits, version.
    """

    id: str
    case: Case
    model: Model
    model_tree: dict[str, Any]
    method: str
    seed: int
    limits: RunLimits

    def job(self) -> dict[str, Any]:
        """Everything a worker has to be told, as plain data."""
        return {
            "document": self.case.document,
            "model": self.model_tree,
            "method": self.method,
            "seed": self.seed,
            "limits": self.limits.to_tree(),
            "grace": self.limits.grace,
        }


def expand(
    suite: Suite, cases: Sequence[Case], methods: Sequence[str], seeds: Sequence[int], limits: RunLimits
) -> Iterator[Run]:
    """Runs of a suite, a seed after the other, so that a suite that is stopped early has seen every case.

    Raises
    ------
    ArgumentError, InputError
        A model that a case names is not there, or wrong.
    """
    models: dict[str, tuple[Model, dict[str, Any]]] = {}
    for name in sorted({name for case in cases for name in case.models}):
        path = Path(name)
        model = load_model(suite.folder / path if path.suffix else name)
        models[name] = model, model_document(model)
    for seed in seeds:
        for case in cases:
            for name in case.models:
                model, tree = models[name]
                for method in methods:
                    content = [case.instance.digest, tree, method, seed, limits.to_tree(), own_version()]
                    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
                    run = hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]
                    yield Run(run, case, model, tree, method, seed, limits)


def model_document(model: Model) -> dict[str, Any]:
    """Document of a model: what a model file would say.

    Raises
    ------
    ArgumentError
        A number of the model is no decimal.
    """
    goals: list[dict[str, Any]] = []
    for level in model.levels:
        weights = {goal.id.value: _weight(goal) for goal in level.goals}
        slack = level.slack
        percent = f"{_decimal(slack.value * 100)} %" if slack.relative else _decimal(slack.value)
        goals.append({"goals": weights, "slack": percent} if slack.value else weights)
    return {
        "name": model.name,
        "about": model.about or model.name,
        "goals": goals,
        "ignore": sorted(family.value for family in model.ignore),
        "linearization": {
            "tolerance": _decimal(model.linearization.tolerance),
            "method": model.linearization.method,
        },
    }


def _weight(goal: Goal) -> Any:
    if goal.worst:
        return "worst"
    if not goal.resources and goal.at_level is None:
        return _decimal(goal.weight)
    tree: dict[str, Any] = {"weight": _decimal(goal.weight)}
    if goal.resources:
        tree["resources"] = list(goal.resources)
    if goal.at_level is not None:
        tree["level"] = goal.at_level
    return tree


def _decimal(value: Fraction) -> str:
    text = decimal_text(value)
    if text is None:
        raise ArgumentError(f"{value} in the model is no decimal number and cannot be written down")
    return text
