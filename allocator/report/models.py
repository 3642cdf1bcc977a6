"""Optimisation models as text: the list of those that come with the package, and one in full."""

from __future__ import annotations

from collections.abc import Sequence

from allocator.model.entities import Model, Slack
from allocator.report.format import level_name, number, percent
from allocator.report.summary.section import Column, Section, Sheet, render

__all__ = ["describe_model", "list_text"]


def list_text(models: Sequence[Model], *, width: int = 80, color: bool = False) -> str:
    """A row a model: its name and what it is for."""
    columns = (Column("model"), Column("what it asks for"))
    rows = tuple((model.name, model.about) for model in models)
    return render([Section("Models", sheet=Sheet(columns, rows))], width=width, color=color)


def describe_model(model: Model, *, width: int = 80, color: bool = False) -> str:
    """What a model asks for: its levels in order, their slack, what it ignores."""
    columns = (Column("level"), Column("goal"), Column("slack", right=True))
    rows = tuple(
        (str(index + 1), f"{level.sense} {level_name(level)}", _slack(level.slack))
        for index, level in enumerate(model.levels)
    )
    ignored = (f"Ignores: {', '.join(sorted(model.ignore))}.",) if model.ignore else ()
    sections = [
        Section("", (f"{model.name}: {model.about}",)),
        Section("Goals, in their order", sheet=Sheet(columns, rows), notes=ignored),
    ]
    return render(sections, width=width, color=color)


def _slack(slack: Slack) -> str:
    return percent(slack.value, 2) if slack.relative else number(slack.value)
