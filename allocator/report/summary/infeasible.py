"""Why there is no plan: reasons, the constraints that clash, the least change that would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from allocator.instance.entities import Instance
from allocator.plan.result import Result
from allocator.report.summary.section import Section, cut

__all__ = ["section"]


def section(result: Result, _instance: Instance) -> Section | None:
    """Reasons, conflict and relaxation; None where there is a plan or nothing is known."""
    why = result.infeasibility
    if why is None or result.plan is not None:
        return None
    sentences = list(_listed(why.reasons))
    if why.conflict:
        sentences.append("These cannot hold together (leave out any one and the others can):")
        sentences += _listed([_entry(item) for item in why.conflict])
    if why.relaxation:
        sentences.append("A least change that makes it feasible:")
        sentences += _listed([_entry(item) for item in why.relaxation])
    return Section("Why there is no plan", tuple(sentences)) if sentences else None


def _listed(texts: Sequence[str]) -> list[str]:
    shown, more = cut(texts)
    return [f"- {text}" for text in shown] + ([f"... and {more:,} more"] if more else [])


def _entry(item: Mapping[str, Any]) -> str:
    """The entry's own sentence if it has one, else its keys and values."""
    for key in ("message", "text"):
        if isinstance(item.get(key), str):
            return str(item[key])
    return ", ".join(f"{key} {value}" for key, value in item.items() if value is not None)
