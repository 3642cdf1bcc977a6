"""The checker's word on a plan, as text and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from allocator.model.entities import Model
from allocator.plan.evaluation import Evaluation
from allocator.plan.numbers import plain_number
from allocator.report.format import count, goal_value
from allocator.report.loads import overload_warning
from allocator.report.summary.section import Column, Section, Sheet, cut, render

__all__ = ["findings_document", "render_findings"]

SHOWN = 20


def render_findings(
    name: str, evaluation: Evaluation, differences: Sequence[str], *, width: int = 80, color: bool = False
) -> str:
    """Verdict, violations, differences to what the plan claims, and the true goal values, as text."""
    sections = [Section("", (_verdict(name, evaluation, differences),))]
    if evaluation.violations:
        shown, more = cut(evaluation.violations, SHOWN)
        lines = [f"- {item.family.value}, {item.where or 'everywhere'}: {item.message}" for item in shown]
        sections.append(Section("Violations", (*lines, *_rest(more))))
    if differences:
        shown_differences, more = cut(differences, SHOWN)
        sections.append(Section("Not as claimed", (*(f"- {text}" for text in shown_differences), *_rest(more))))
    warnings = _warnings(evaluation)
    if warnings:
        shown_warnings, more = cut(warnings)
        sections.append(Section("Warnings", (*(f"- {text}" for text in shown_warnings), *_rest(more))))
    if evaluation.goals:
        rows = tuple((goal.value, goal_value(goal, value)) for goal, value in evaluation.goals.items())
        columns = (Column("goal"), Column("value", right=True))
        sections.append(Section("Goals, recomputed", sheet=Sheet(columns, rows)))
    return render(sections, width=width, color=color)


def findings_document(model: Model, evaluation: Evaluation, differences: Sequence[str]) -> Mapping[str, Any]:
    """The same as plain data; nothing is cut."""
    return {
        "holds": evaluation.feasible and not differences,
        "feasible": evaluation.feasible,
        "as_claimed": not differences,
        "model": model.name,
        "goals": [{"id": goal.value, "value": plain_number(value)} for goal, value in evaluation.goals.items()],
        "levels": [plain_number(value) for value in evaluation.levels],
        "violations": [
            {
                "family": item.family.value,
                "where": item.where,
                "message": item.message,
                "amount": plain_number(item.amount),
            }
            for item in evaluation.violations
        ],
        "differences": list(differences),
        "warnings": list(_warnings(evaluation)),
    }


def _warnings(evaluation: Evaluation) -> tuple[str, ...]:
    overload = overload_warning(evaluation)
    return evaluation.warnings if overload is None else (*evaluation.warnings, overload)


def _verdict(name: str, evaluation: Evaluation, differences: Sequence[str]) -> str:
    placed = sum(outcome.placed for outcome in evaluation.classes)
    total = sum(outcome.count for outcome in evaluation.classes)
    members = f"{placed:,} of {count(total, 'member')} {'is' if placed == 1 else 'are'} placed"
    if not evaluation.feasible:
        return f"{name}: the plan does not hold. {count(len(evaluation.violations), 'violation')}; {members}."
    if differences:
        return f"{name}: the plan is feasible but not as claimed. {count(len(differences), 'difference')}; {members}."
    return f"{name}: the plan holds. Every constraint is kept; {members}."


def _rest(more: int) -> tuple[str, ...]:
    return (f"... and {more:,} more",) if more else ()
